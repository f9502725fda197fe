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
PACKAGE = ROOT / "s2b_lab"
FIGURES = PACKAGE / "figures"
RESULTS = ROOT / "benchmarks" / "results"
MODULES = ROOT / "node_modules"
# Runs first in every kernel of the build: a bare figure is drawn by the same host as all others.
STARTUP = "from s2b_lab.figures.notebook import show_figures\n\nshow_figures()\ndel show_figures\n"


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
    app.add_js_file("s2b/figures.js", defer="defer")
    app.add_css_file("s2b/widget.css")


def _tell_kernels(recordings: Path, ipython: Path, embeddings: Path) -> None:
    os.environ["S2B_BUILD"] = "1"
    os.environ["S2B_RECORDINGS"] = str(recordings.resolve())
    # Chapters share texts, and a rebuild most of them: each is embedded once.
    os.environ.setdefault("S2B_EMBEDDING_CACHE", str(embeddings.resolve()))
    # A page says the same whatever is set on the machine that builds it: no server and no model hub is asked.
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        del os.environ[name]
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait leave the cores to others
    os.environ["IPYTHONDIR"] = str(ipython.resolve())
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # Words on the standard error stream of a cell are warnings of the build: nothing of ours may be among them.
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TQDM_DISABLE", "1")


def _copy_files(folder: Path) -> None:
    from s2b_lab.figures.traces import BUNDLES

    # Nothing of an earlier build stays beside them.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(FIGURES / "widget.css", folder)
    (folder / "figures.js").write_text(classic_script(), encoding="utf-8")
    for bundle in BUNDLES:
        package = MODULES / f"plotly.js-{bundle}-dist-min"
        _check_plotly(package)
        shutil.copy(package / f"plotly-{bundle}.min.js", folder)


def classic_script() -> str:
    """All modules of a figure and its host in one script, and one request.

    It is no module, since a page that is opened from a folder (file://…) may run none.
    """
    from s2b_lab.figures.esm import joined

    # The host comes last, and calls the module that it imports by this name.
    modules = joined().replace("export default", "const explorer =")
    host = re.sub(r"^import .*\n", "", (FIGURES / "host.js").read_text(encoding="utf-8"), flags=re.MULTILINE)
    host = host.replace("import.meta.url", "document.currentScript.src")
    body = re.sub(r"^export ", "", f"{modules}\n{host}", flags=re.MULTILINE)
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def _check_plotly(package: Path) -> None:
    from plotly.offline import get_plotlyjs_version

    if not package.is_dir():
        raise ExtensionError(f"{package.name} is not there: run `npm ci` (or `make site`) first")
    found, wanted = json.loads((package / "package.json").read_text())["version"], get_plotlyjs_version()
    if found != wanted:
        raise ExtensionError(f"{package.name} of package.json is {found}, that of the plotly package is {wanted}")


def stale(app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Run chapters again for what Sphinx does not look at: all when the package changed, some for new measurements."""
    now = {"package": _digest(PACKAGE, (".py", ".md", ".json", ".txt")), "results": _digest(RESULTS, (".json",))}
    known, env.s2b_digests = getattr(env, "s2b_digests", {}), now
    if known.get("package") != now["package"]:
        return sorted(env.found_docs)
    return _readers_of_results(env) if known["results"] != now["results"] else []


def _digest(folder: Path, suffixes: tuple[str, ...]) -> str:
    files = sorted(path for path in folder.rglob("*") if path.suffix in suffixes)
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def _readers_of_results(env: BuildEnvironment) -> list[str]:
    named = RESULTS.relative_to(ROOT).as_posix()
    return [doc for doc in sorted(env.found_docs) if named in Path(env.doc2path(doc)).read_text(encoding="utf-8")]


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
    """Leave out what no page needs, and add what a page needs that is opened from a folder."""
    if problem is None and app.builder.format == "html":
        _prune(Path(app.outdir))
        _add_scripts(Path(app.outdir) / "_static/recordings")
        # Half a megabyte that turns icons into drawings: the fonts of the style sheet show the same icons.
        (Path(app.outdir) / "_static/scripts/fontawesome.js").write_text(
            "// The icons are in the style sheet's fonts.\n"
        )


def _prune(out: Path) -> None:
    # Recordings of an earlier build, which no page refers to any more.
    pages = [page.read_text(encoding="utf-8") for page in out.rglob("*.html")]
    used = {name for page in pages for name in re.findall(r'data-recording="([^"]+)"', page)}
    for recording in (out / "_static/recordings").glob("*.json*"):
        if recording.name.removesuffix(".js") not in used:
            recording.unlink()


def _add_scripts(recordings: Path) -> None:
    # A page that is opened from a folder can fetch nothing, but it runs scripts: each recording is one, too.
    for recording in recordings.glob("*.json"):
        data = recording.read_text(encoding="utf-8")
        script = f"(globalThis.s2bRecordings ??= {{}})[{json.dumps(recording.name)}] = {data};\n"
        recording.with_suffix(".json.js").write_text(script, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("builder-inited", prepare)
    app.connect("env-get-outdated", stale)
    app.connect("html-page-context", lighten, priority=900)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
