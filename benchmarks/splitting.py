"""Sentence splitting in megabytes (UTF-8) a second, on English and Chinese text."""

from collections.abc import Callable, Sequence

from s2b_lab import load, python_docs, sentences

from .clock import interleaved
from .report import Result, Row, Target, rows

OURS = "s2b_lab.sentences"
_PACKAGES = (
    "s2b-lab",
    "llama-index-core",
    "haystack-ai",
    "langchain-text-splitters",
    "chonkie",
    "chonkie-core",
    "nltk",
)

Splitter = Callable[[str], Sequence]


def run(rounds: int = 7) -> Result:
    """Measure all splitters on the Python documentation and on our Chinese texts."""
    english = [doc.text for doc in python_docs()]
    chinese = [load(name).text for name in ("travel-zh", "travel-zh-2025", "rag-zh")]
    found = [
        *measure("English: the help topics of Python", english, english_splitters(), rounds),
        *measure("Chinese: our policies, and a text on RAG", chinese, chinese_splitters(), rounds, passes=10),
    ]
    return Result(
        "splitting",
        "Sentence splitting",
        "MB/s",
        "higher",
        f"best of {rounds} interleaved rounds; data of NLTK from llama-index-core; Haystack has no Chinese splitter",
        tuple(found),
        tuple(_targets(found)),
        _PACKAGES,
    )


def measure(
    group: str, texts: Sequence[str], splitters: dict[str, Splitter], rounds: int, passes: int = 1
) -> list[Row]:
    """Time each splitter on the same texts, one call a text, and count what it finds."""
    counts = {name: sum(len(split(text)) for text in texts) for name, split in splitters.items()}
    size = passes * sum(len(text.encode()) for text in texts) / 1e6
    jobs = {name: lambda split=split: _all(split, texts, passes) for name, split in splitters.items()}
    speeds = {name: [size / seconds for seconds in spent] for name, spent in interleaved(jobs, rounds).items()}
    remarks = {name: f"{count} pieces" for name, count in counts.items()}
    return rows(f"{group}, {size / passes:.2f} MB", speeds, max, OURS, remarks)


def _all(split: Splitter, texts: Sequence[str], passes: int) -> None:
    for _ in range(passes):
        for text in texts:
            split(text)


def english_splitters() -> dict[str, Splitter]:
    """Collect each library's way to single English sentences."""
    from chonkie import SentenceChunker
    from chonkie.chunker.base import split_text_by_delimiters
    from haystack.components.preprocessors.sentence_tokenizer import SentenceSplitter
    from langchain_text_splitters import NLTKTextSplitter
    from llama_index.core.node_parser.text.utils import split_by_sentence_tokenizer

    nltk = NLTKTextSplitter(separator="", use_span_tokenize=True, chunk_size=1, chunk_overlap=0)
    return {
        OURS: sentences,
        "LlamaIndex split_by_sentence_tokenizer": split_by_sentence_tokenizer(),
        "Haystack SentenceSplitter": SentenceSplitter().split_sentences,
        "LangChain NLTKTextSplitter": nltk.split_text,
        "Chonkie SentenceChunker, 1 sentence a chunk": SentenceChunker(chunk_size=1).chunk,
        "Chonkie split_text_by_delimiters (no spans)": lambda text: split_text_by_delimiters(
            text, [". ", "! ", "? ", "\n"], "prev", 12
        ),
    }


def chinese_splitters() -> dict[str, Splitter]:
    """Collect each library's way to single Chinese sentences, where there is one."""
    from chonkie import SentenceChunker
    from chonkie.chunker.base import split_text_by_delimiters
    from langchain_text_splitters import RecursiveCharacterTextSplitter
    from llama_index.core.node_parser.text.sentence import CHUNKING_REGEX
    from llama_index.core.node_parser.text.utils import split_by_regex

    marks = ["。", "！", "？", "\n"]
    recursive = RecursiveCharacterTextSplitter(
        separators=["(?<=[。！？\n])"], is_separator_regex=True, chunk_size=1, chunk_overlap=0
    )
    return {
        OURS: sentences,
        "LlamaIndex split_by_regex(CHUNKING_REGEX)": split_by_regex(CHUNKING_REGEX),
        "LangChain RecursiveCharacterTextSplitter": recursive.split_text,
        "Chonkie SentenceChunker, 1 sentence a chunk": SentenceChunker(
            chunk_size=1, delim=marks, min_characters_per_sentence=1
        ).chunk,
        "Chonkie split_text_by_delimiters (no spans)": lambda text: split_text_by_delimiters(text, marks, "prev", 1),
    }


def _targets(found: list[Row]) -> list[Target]:
    english = [row for row in found if row.group.startswith("English")]
    ratio = {row.name.split()[0]: row.ratio for row in english if row.ratio}
    return [
        Target("MB/s in English", ">= 10", english[0].value),
        Target("times the speed of LlamaIndex", ">= 1", ratio["LlamaIndex"]),
        Target("times the speed of Haystack", ">= 1", ratio["Haystack"]),
    ]
