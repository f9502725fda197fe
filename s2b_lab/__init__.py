"""Small-to-Big Lab: match small units, deliver big context."""

import importlib

# A name is looked up on first use, so that `import s2b_lab` costs nothing and the
# standard-library core works where nothing else is installed.
_EXPORTS = {
    "core.text": ("Span", "Section", "Document", "merge_spans", "page_of"),
    "core.blocks": ("paragraphs",),
    "core.headings": ("document", "sections"),
    "core.sentences": ("sentences",),
    "core.sizes": ("count",),
    "core.split": ("recursive", "by_paragraph", "by_sentence"),
    "core.tree": ("Chunk", "ChunkTree"),
    "core.build": ("parents_and_children", "sentence_tree", "multi_granular", "flat_tree"),
    "core.hits": ("Hit", "Context"),
    "core.access": ("readable", "readable_chunks", "public_text", "covered_text"),
    "core.expand": ("as_found", "parent_document", "sentence_window", "auto_merge"),
    "core.budget": ("within_budget",),
    "core.rank": ("cosine", "top_k", "reciprocal_rank_fusion"),
    "chunkers.semantic": ("semantic", "semantic_distances"),
    "chunkers.lumber": ("LumberCuts", "lumber"),
    "chunkers.logits": ("CausalModel", "ScoredBlock", "logits", "logits_blocks"),
    "chunkers.lgmgc": ("lgmgc",),
    "chunkers.labels": ("by_label",),
    "chunkers.signal": ("EndSignal", "end_signal"),
    "corpus": ("Question", "load", "names", "language", "cut_sizes", "python_docs", "questions"),
    "question_sets": ("QuestionSet", "question_set"),
    "files": ("read_file", "read_files", "read_folder"),
    "embed": ("Embedder", "HashEmbedder", "embedder", "text_tokens"),
    "index": ("Index",),
    "store.write": ("Report",),
    "retrieve": ("Retriever", "Searchable", "Trace", "pointed_to"),
    "llm": ("ChatModel", "ModelUnavailable", "first_of"),
    "models.servers": ("openai_model",),
    "models.local": ("local_model",),
    "models.causal": ("EndModel", "causal_model"),
    "models.recording": ("NotRecorded", "Recording", "recorded", "recordings"),
    "rewrite": ("Rewrite", "Rewriter", "step_back", "hyde"),
    "hypothetical": ("hypothetical_questions", "question_tree"),
    "answers": ("Answer", "Citation", "answer", "prompt_for"),
    "metrics": ("Overlap", "gold_ranks", "recall_at_k", "dcg_at_k", "span_overlap", "answer_f1"),
    "scores": ("Score", "Evaluation"),
    "evaluation": ("evaluate", "compare", "evidence_found", "first_rank"),
    "bootstrap": ("Interval", "paired_bootstrap"),
    "project": ("atlas", "umap_map", "place", "neighbours_kept"),
    "figures.controls": ("Slider", "Choice", "Switch", "Text"),
    "figures.passages": ("Passages", "Mark"),
    "figures.views": ("Figure", "Table", "Meter", "Note", "Rows", "Stage", "Stages"),
    "figures.explore": ("explore",),
}  # fmt: skip
_HOME = {name: module for module, names in _EXPORTS.items() for name in names}
_FLAT = (
    *(
        "answers",
        "bootstrap",
        "corpus",
        "embed",
        "evaluation",
        "files",
        "hypothetical",
        "index",
        "llm",
        "metrics",
        "project",
        "question_sets",
        "retrieve",
        "rewrite",
        "scores",
    ),
)
_MODULES = {name: name for name in _FLAT} | {name: f"figures.{name}" for name in ("plot", "maps")}
__all__ = sorted(_HOME)
__version__ = "0.2.0"


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{_MODULES[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
