"""Small-to-Big Lab: match small units, deliver big context."""

import importlib
import sys
import types

# A name is looked up on first use, so that `import s2b_lab` costs nothing and the
# standard-library core (text, chunk, expand, rank) works where nothing else is installed.
_EXPORTS = {
    "text": ("Span", "Section", "Document", "document", "sections", "paragraphs", "sentences"),
    "chunk": (
        "Chunk", "ChunkTree", "recursive", "by_paragraph", "by_sentence",
        "parents_and_children", "sentence_tree", "multi_granular", "count",
    ),
    "expand": (
        "Hit", "Context", "parent_document", "sentence_window", "auto_merge", "merge_spans", "within_budget",
        "readable",
    ),
    "rank": ("cosine", "top_k", "reciprocal_rank_fusion"),
    "corpus": ("load", "names", "read_file", "python_docs", "questions"),
    "embed": ("Embedder", "HashEmbedder", "embedder"),
    "index": ("Index", "Report"),
    "retrieve": ("Retriever", "Trace", "pointed_to"),
    "llm": (
        "ChatModel", "ModelUnavailable", "NotRecorded", "Recording", "first_of", "local_model", "openai_model",
        "recorded", "recordings",
    ),
    "rewrite": ("Rewrite", "Rewriter", "step_back", "hyde", "hypothetical_questions", "question_tree"),
    "answer": ("Answer", "Citation", "answer", "prompt_for"),
    "evaluate": ("Evaluation", "Question", "Score", "evaluate", "evidence_found", "paired_bootstrap"),
    "project": ("umap_map", "place", "neighbours_kept"),
    "explore": ("explore",),
    "interact": (
        "Slider", "Choice", "Switch", "Text", "Passages", "Mark", "Figure", "Table", "Meter", "Note", "Stage", "Stages",
    ),
}  # fmt: skip
_HOME = {name: module for module, names in _EXPORTS.items() for name in names}
_MODULES = {
    *("text", "chunk", "expand", "rank", "corpus", "embed", "index", "llm", "rewrite", "retrieve"),
    *("project", "plot", "show", "levers", "distances", "journey", "effects"),
}
__all__ = sorted(_HOME)
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})


class _Package(types.ModuleType):
    """`s2b_lab.explore` and `s2b_lab.evaluate` stay functions when the modules of these names are imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
