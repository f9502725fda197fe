"""Words that match better: a step back, a made-up passage (HyDE), the questions that a passage answers."""

from __future__ import annotations

import hashlib
import re
import reprlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from .chunk import Chunk, ChunkTree, check_whole
from .embed import normalise
from .llm import ChatModel, ModelUnavailable, asked, checked, spoken
from .text import Document, Span, is_blank

Prompt = Literal["few-shot", "zero-shot"]
Language = Literal["en", "zh"]
ITSELF = "the question itself"
_LINE, _PASSAGE = 300, 2000  # characters; what is longer is not what was asked for
_MOST = 6000  # characters of an answer that are looked at: cleaning takes time that grows with its square


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What to retrieve with, who wrote it, and, where the question itself had to be used, why."""

    text: str
    source: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Rewriter:
    """A model under `instructions`, which are its system prompt; call it with a question, or give it to a Retriever."""

    model: ChatModel
    instructions: str
    limit: int
    clean: Callable[[str], str]
    asks: bool = False  # whether only a question will do

    def __call__(self, question: str) -> str:
        """Rewrite the question; where the model fails, warn (RuntimeWarning) and give the question back."""
        done = self.explain(question)
        if done.reason:
            warnings.warn(f"the question is used as it is: {done.reason}", RuntimeWarning, stacklevel=2)
        return done.text

    def explain(self, question: str) -> Rewrite:
        """Rewrite the question and tell where the text comes from; ValueError when it is blank."""
        _check_text("question", question)
        try:
            said, source = asked(self.model, question, self.instructions)
        except ModelUnavailable as error:
            return Rewrite(question, ITSELF, str(error))
        text = self.clean(said)
        fault = self._fault(text)
        return Rewrite(question, ITSELF, f"{source} {fault}") if fault else Rewrite(text, source)

    def _fault(self, text: str) -> str:
        if is_blank(text) or not normalise(text):
            return "gave an empty answer"
        if len(text) > self.limit:
            return f"rambles: {len(text)} characters where at most {self.limit} make sense"
        # Weak models answer the question, with facts of their own.
        return f"wrote no question: {text!r}" if self.asks and not _is_question(text) else ""


def step_back(model: ChatModel, prompt: Prompt = "few-shot", language: Language = "en") -> Rewriter:
    """Turn a question into a more general one, which lies nearer to texts about its subject.

    Source: Zheng et al. 2023, arXiv:2310.06117.
    """
    return Rewriter(checked(model), _instructions("step back", prompt, language), _LINE, _first_line, asks=True)


def hyde(model: ChatModel, prompt: Prompt = "few-shot", language: Language = "en") -> Rewriter:
    """Turn a question into a passage that might answer it, made up but worded like the texts to be found.

    Source: Gao et al. 2022, arXiv:2212.10496.
    """
    return Rewriter(checked(model), _instructions("hyde", prompt, language), _PASSAGE, _passage)


def hypothetical_questions(
    model: ChatModel, n: int = 3, prompt: Prompt = "few-shot", language: Language = "en"
) -> Callable[[str], list[str]]:
    """Turn a passage into at most n questions that it answers, to be embedded beside or instead of it.

    Where the model fails there is a RuntimeWarning and no question: nothing stands in for them.
    """
    check_whole("n", n, 1)
    return Questioner(checked(model), _instructions("questions", prompt, language).replace("{n}", str(n)), n)


@dataclass(frozen=True, slots=True)
class Questioner:
    """A model under `instructions`, which are its system prompt; call it with a passage."""

    model: ChatModel
    instructions: str
    n: int

    def __call__(self, passage: str) -> list[str]:
        """Ask for the questions, each once; ValueError when the passage is blank."""
        _check_text("passage", passage)
        try:
            answer, source = asked(self.model, passage, self.instructions)
        except ModelUnavailable as error:
            warnings.warn(f"no questions for {passage[:40]!r}: {error}", RuntimeWarning, stacklevel=2)
            return []
        lines = (line for line in _lines(_ASKED, answer) if len(line) <= _LINE and _is_question(line))
        questions = list(dict.fromkeys(lines))[: self.n]
        if not questions:
            reason = f"{source} wrote none: {answer[:80]!r}"
            warnings.warn(f"no questions for {passage[:40]!r}: {reason}", RuntimeWarning, stacklevel=2)
        return questions


def question_tree(tree: ChunkTree, ask: Callable[[str], list[str]]) -> ChunkTree:
    """Put the questions that each indexed chunk answers into a tree of their own, for an index of their own.

    A question's document is named by `key_of` the chunk that it points to, and has that chunk's version and access
    label: give the index to a Retriever as `questions`, or its hits to `pointed_to`. `ask` is a Questioner or any
    function from a passage to a list of questions, or to None; TypeError when it gives something else. A chunk about
    which it asks none, or whose sections are for different readers, has no document here.
    """
    documents, chunks = [], []
    for chunk in tree.indexed:
        source = tree.document(chunk)
        access = {section.access for section in source.sections if section.span.overlaps(chunk.span)}
        if len(access) == 1 and (questions := _asked(ask, chunk.text)):
            title, key = f"Questions about {chunk.id}", key_of(chunk)
            documents.append(Document(key, title, "\n".join(questions), source.version, *access))
            chunks += _question_chunks(documents[-1], questions)
    return ChunkTree(documents, chunks)


def key_of(chunk: Chunk) -> str:
    """The chunk's id and a hash of its text, so that questions about a text that has changed point to nothing."""
    return f"{chunk.id}#{hashlib.sha256(chunk.text.encode()).hexdigest()[:8]}"


def chunk_id_of(key: str) -> str:
    """The id of the chunk that has this key."""
    return key.rpartition("#")[0]


def _asked(ask: Callable[[str], list[str] | None], passage: str) -> list[str]:
    given = ask(passage)
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"ask must give a list of questions, not {reprlib.repr(given)}")
    questions = list(given)
    if other := [question for question in questions if not isinstance(question, str)]:
        raise TypeError(f"ask must give questions that are texts, not {reprlib.repr(other[0])}")
    return [text for text in dict.fromkeys(" ".join(question.split()) for question in questions) if not is_blank(text)]


def _question_chunks(written: Document, questions: list[str]) -> Iterator[Chunk]:
    start = 0
    for number, question in enumerate(questions, 1):
        span = Span(start, start + len(question))
        yield Chunk(f"{written.id}/q{number}", written.id, span, question, "sentence", None, written.sections[0].id)
        start = span.end + 1


# --- what models wrap around an answer ---

_STEP = (
    r"(?:rewritten|rephrased|step[- ]?back|(?:more )?general|broader|new) (?:question|query)"
    r"|(?:改写后的?|退一步的?|更?(?:概括|一般|宽泛)的?)(?:问题|提问)"
)
_MADE_UP = r"(?:hypothetical )?(?:passage|document|answer)|(?:假设的?)?(?:段落|文档|回答|答案)"
_ASKED = r"(?:hypothetical )?questions|(?:假设)?问题(?:列表)?"
_MARKS = r"[\s*_#]*"
_LABEL = (
    rf"{_MARKS}(?:{_STEP}|{_MADE_UP}|{_ASKED}|(?:question|query)(?: \d{{1,2}})?|q\d{{0,2}}|output|问题 ?\d{{1,2}}|输出)"
    rf"{_MARKS}[:：]{_MARKS}"
)
_CHAT = (
    r"(?:sure|certainly|of course|okay|ok|好的|当然|没问题)(?:[!.,！。，]+|\Z)"
    r"|here(?: is| are|['’]s)\b[^:：\n]{0,80}[:：]"
    r"|the (?:answer|passage|rewritten question)(?: to this| to the question)?(?: is)?[:：]"
    r"|(?:以下|下面|这)是[^:：\n]{0,40}[:：]"
)
_WRAPPED = re.compile(rf"{_CHAT}|{_LABEL}", re.IGNORECASE)
_BULLET = re.compile(
    r"(?:[-*•>]|#{1,6}|\d{1,2}[.)]|[(（]\d{1,2}[)）])\s+|\d{1,2}[.)](?=[^\s\d])|\d{1,2}[、．]|[（(]\d{1,2}[)）]"
)
# Models leave the mark out at times; relative clauses and full stops tell a statement.
_QUESTION = re.compile(
    r"[?？][\s”’」』\"')）]*\Z"
    r"|\A(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|can|may|must|should|will|has|have)\b"
    r"|(?:什么|哪|谁|怎|如何|多少|多久|是否|为何|[吗呢]\Z)[^。]*\Z",
    re.IGNORECASE,
)
_QUOTES = (*zip("\"“'‘「『«`", "\"”'’」』»`", strict=True), ("**", "**"), ("__", "__"))


def _first_line(answer: str) -> str:
    return next(_lines(_STEP, answer), "")


def _passage(answer: str) -> str:
    lines = map(str.strip, _result(_MADE_UP, answer).splitlines())
    return _bare("\n".join(filter(None, lines)))


def _lines(label: str, answer: str) -> Iterator[str]:
    lines = (_bare(line, _BULLET) for line in _result(label, answer).splitlines())
    return filter(None, lines)


def _result(label: str, answer: str) -> str:
    # A model that was shown examples may repeat the whole form; what was asked for follows its own label.
    lines = (line.strip() for line in spoken(answer)[:_MOST].splitlines())
    text = "\n".join(line for line in lines if line and not line.startswith("```"))
    found = re.search(rf"^{_MARKS}(?:{label}){_MARKS}[:：]", text, re.IGNORECASE | re.MULTILINE)
    return text[found.start() :] if found else text


def _bare(text: str, *more: re.Pattern[str]) -> str:
    # Wrappings stand inside one another in any order, so they are taken off until none is left.
    before = None
    while text != before:
        before, text = text, text.strip()
        for wrapping in (_WRAPPED, *more):
            found = wrapping.match(text)
            text = text[found.end() :].strip() if found else text
        text = _unquoted(text)
    return text


def _is_question(text: str) -> bool:
    return _QUESTION.search(text) is not None


def _unquoted(text: str) -> str:
    for opening, closing in _QUOTES:
        inner = text[len(opening) : -len(closing)]
        # "One" and "two": these marks do not belong together.
        if text == opening + inner + closing and not (opening in inner or closing in inner):
            return inner
    return text


# --- the prompts ---

_FORMS = {"en": ("Examples:", ": "), "zh": ("示例：", "：")}
_LABELS = {
    ("step back", "en"): ("Question", "General question"),
    ("step back", "zh"): ("问题", "退一步的问题"),
    ("hyde", "en"): ("Question", "Passage"),
    ("hyde", "zh"): ("问题", "段落"),
    ("questions", "en"): ("Passage", "Questions"),
    ("questions", "zh"): ("段落", "问题"),
}
_RULES = {
    ("step back", "en"): (
        "You help a search engine. Rewrite the question as one more general question about the subject that its answer "
        "belongs to. Keep the main name or topic, and leave out dates, numbers and narrow details. Do not answer the "
        "question. Write the general question alone, on one line."
    ),
    ("step back", "zh"): (
        "你在为搜索引擎改写问题。请把问题改写成一个更概括的问题，询问答案所属的主题。保留主要的人名或主题，"
        "去掉日期、数字和琐碎的细节。不要回答问题。只写出概括后的问题，写成一行。"
    ),
    ("hyde", "en"): (
        "You help a search engine. Write a passage of two or three sentences that could stand in a reference text and "
        "answers the question. Word it as such a text would, without mentioning the question. Where you do not know a "
        "detail, make up a plausible one: the passage is only compared with real texts. Write the passage alone."
    ),
    ("hyde", "zh"): (
        "你在为搜索引擎服务。请写一段两三句话的文字，像是出自一份正式资料，并且能回答这个问题。用资料的口吻来写，"
        "不要提到问题本身。不清楚的细节可以合理虚构：这段文字只用来和真实资料比较。只写出这段文字。"
    ),
    ("questions", "en"): (
        "You help a search engine. Write {n} different questions that the passage answers, as people who have not read "
        "it would ask them. Name the subject in every question; do not speak of the passage. Write the questions "
        "alone, in the language of the passage, one on each line."
    ),
    ("questions", "zh"): (
        "你在为搜索引擎服务。请写出这段文字能够回答的 {n} 个不同的问题，就像没有读过它的人会问的那样。"
        "每个问题都要写明主题，不要提到“这段文字”。只写出问题，使用这段文字的语言，每行一个。"
    ),
}
_EXAMPLES = {
    # The first example is that of the paper on step-back prompting; the others are our own.
    ("step back", "en"): (
        (
            "Which team did Thierry Audel play for from 2007 to 2008?",
            "Which teams did Thierry Audel play for in his career?",
        ),
        ("Can I bring back a kettle after 20 days if the box is open?", "What are the rules for returning goods?"),
        ("In which month of 1928 did Fleming notice the mould in his dish?", "How did Fleming discover penicillin?"),
    ),
    ("step back", "zh"): (
        ("蒂埃里·奥代尔 2007 年至 2008 年效力于哪支球队？", "蒂埃里·奥代尔在职业生涯中效力过哪些球队？"),
        ("电水壶拆封 20 天后还能退吗？", "商品退货有哪些规定？"),
        ("弗莱明是 1928 年几月在培养皿里发现霉菌的？", "弗莱明是怎样发现青霉素的？"),
    ),
    ("hyde", "en"): (
        (
            "How long may I keep a library book?",
            "Books are lent for four weeks. A loan can be extended twice by two weeks, unless another reader has "
            "reserved the book.",
        ),
        (
            "Why does bread dough rise?",
            "Yeast turns the sugars in the dough into alcohol and carbon dioxide. The gas is held by the gluten, so "
            "that the dough expands.",
        ),
    ),
    ("hyde", "zh"): (
        ("图书馆的书可以借多久？", "图书借期为四周。没有其他读者预约的，可以续借两次，每次两周。"),
        ("面团为什么会发起来？", "酵母把面团中的糖转化为酒精和二氧化碳。气体被面筋包住，面团因此膨胀。"),
    ),
    ("questions", "en"): (
        (
            "Books are lent for four weeks. A loan can be extended twice, unless another reader has reserved the book.",
            "How long can a book be borrowed from the library?\nHow often can a library loan be extended?",
        ),
        (
            "Yeast turns the sugars in the dough into alcohol and carbon dioxide, and the gas makes it expand.",
            "Why does bread dough rise?\nWhat does yeast turn sugar into?",
        ),
    ),
    ("questions", "zh"): (
        ("图书借期为四周。没有其他读者预约的，可以续借两次。", "图书馆的书可以借多久？\n图书最多可以续借几次？"),
        ("酵母把面团中的糖转化为酒精和二氧化碳，气体使面团膨胀。", "面团为什么会发起来？\n酵母把糖变成什么？"),
    ),
}


def _instructions(lever: str, prompt: str, language: str) -> str:
    _check_choice("prompt", prompt, ("few-shot", "zero-shot"))
    _check_choice("language", language, ("en", "zh"))
    rules = _RULES[lever, language]
    if prompt == "zero-shot":
        return rules
    (head, colon), (given, wanted) = _FORMS[language], _LABELS[lever, language]
    shown = [f"{given}{colon}{a}\n{wanted}{_after(colon, b)}" for a, b in _EXAMPLES[lever, language]]
    return "\n\n".join([rules, head, *shown])


def _after(colon: str, text: str) -> str:
    return f"{colon.rstrip()}\n{text}" if "\n" in text else colon + text  # several lines stand below their label


# --- bad input ---


def _check_text(name: str, text: str) -> None:
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"the {name} is blank: {text!r}")


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
