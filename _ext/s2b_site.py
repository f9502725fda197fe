"""The site's Sphinx side: kernels are told that a book is being built, and its figures find their files in _static."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

ROOT = Path(__file__).resolve().parents[1]
WIDGETS = ROOT / "s2b_lab" / "widgets"
PLOTLY = ROOT / "node_modules" / "plotly.js-basic-dist-min"
# Runs first in every kernel of the build: a bare Plotly figure is drawn by the same host as all others.
STARTUP = "from s2b_lab.widgets.page import show_figures\n\nshow_figures()\ndel show_figures\n"


def prepare(app: Sphinx) -> None:
    """Set what kernels inherit, and put the files of the figures where pages look for them."""
    out = Path(app.outdir) / "_static"
    ipython = Path(app.doctreedir).parent / "ipython"
    _tell_kernels(out / "recordings", ipython, Path(app.doctreedir).parent / "embeddings")
    startup = ipython / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    (startup / "00-figures.py").write_text(STARTUP, encoding="utf-8")
    # Kernels of a build warn that their sockets on this machine are not encrypted: once a chapter, and of no use.
    (startup.parent / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n", encoding="utf-8")
    _copy_files(out / "s2b")
    app.add_js_file("s2b/host.js", type="module")
    app.add_css_file("s2b/explorer.css")


def _tell_kernels(recordings: Path, ipython: Path, embeddings: Path) -> None:
    os.environ["S2B_BUILD"] = "1"
    os.environ["S2B_RECORDINGS"] = str(recordings.resolve())
    # Chapters share texts, and a rebuild most of them: each is embedded once.
    os.environ.setdefault("S2B_EMBEDDING_CACHE", str(embeddings.resolve()))
    os.environ["IPYTHONDIR"] = str(ipython.resolve())
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # Words on the standard error stream of a cell are warnings of the build: nothing of ours may be among them.
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TQDM_DISABLE", "1")


def _copy_files(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("explorer.js", "explorer.css", "host.js"):
        shutil.copy(WIDGETS / name, folder / name)
    _check_plotly()
    shutil.copy(PLOTLY / "plotly-basic.min.js", folder / "plotly.min.js")


def _check_plotly() -> None:
    from plotly.offline import get_plotlyjs_version

    if not PLOTLY.is_dir():
        raise ExtensionError("plotly.js is not there: run `npm ci` (or `make site`) first")
    found, wanted = json.loads((PLOTLY / "package.json").read_text())["version"], get_plotlyjs_version()
    if found != wanted:
        raise ExtensionError(f"plotly.js of package.json is {found}, that of the plotly package is {wanted}")


def stale(app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Run every chapter again when the package changed, since Sphinx only looks at the chapters themselves."""
    files = sorted(path for path in (ROOT / "s2b_lab").rglob("*") if path.suffix in (".py", ".md", ".json", ".txt"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    known, env.s2b_digest = getattr(env, "s2b_digest", None), digest
    return [] if known == digest else sorted(env.found_docs)


def lighten(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document) -> None:
    """Drop scripts that a page has twice, and those of Thebe, which is off and would fetch from another host."""
    seen: set[str] = set()
    kept = []
    for script in context.get("script_files", []):
        body = getattr(script, "attributes", {}).get("body") or ""
        if "thebe" in f"{body}{getattr(script, 'filename', '') or ''}".lower() or (body and body in seen):
            continue
        seen.add(body)
        kept.append(script)
    context["script_files"] = kept


def finish(app: Sphinx, problem: Exception | None) -> None:
    """Leave out what no page needs."""
    if problem is None and app.builder.format == "html":
        _prune(Path(app.outdir))
        # Half a megabyte that turns icons into drawings: the fonts of the style sheet show the same icons.
        (Path(app.outdir) / "_static/scripts/fontawesome.js").write_text(
            "// The icons are in the style sheet's fonts.\n"
        )


def _prune(out: Path) -> None:
    # Recordings of an earlier build, which no page refers to any more.
    pages = [page.read_text(encoding="utf-8") for page in out.rglob("*.html")]
    used = {name for page in pages for name in re.findall(r'data-recording="([^"]+)"', page)}
    for recording in (out / "_static/recordings").glob("*.json"):
        if recording.name not in used:
            recording.unlink()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("builder-inited", prepare)
    app.connect("env-get-outdated", stale)
    app.connect("html-page-context", lighten, priority=900)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
