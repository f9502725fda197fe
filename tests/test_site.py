"""The site's Sphinx side: what is built again, and that a build asks nobody."""

import json
import os
import re
from types import SimpleNamespace

import pytest
from chat_server import ChatServer
from extensions import FOLDER, extension
from sphinx.errors import ExtensionError


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The extension, over a small project with three pages of which one reads a measurement."""
    module = extension("s2b_site")
    for folder in ("s2b_lab", "benchmarks/results", "book"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "s2b_lab/text.py").write_text("x = 1")
    (tmp_path / "benchmarks/results/ablation.json").write_text("{}")
    for name, cell in {"a": "import s2b_lab", "b": 'read("../benchmarks/results/ablation.json")', "c": ""}.items():
        (tmp_path / f"book/{name}.ipynb").write_text(json.dumps({"cells": [{"source": [cell]}]}))
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "PACKAGE", tmp_path / "s2b_lab")
    monkeypatch.setattr(module, "RESULTS", tmp_path / "benchmarks/results")
    return module


def env_of(folder):
    found = {"book/a", "book/b", "book/c"}
    return SimpleNamespace(found_docs=found, doc2path=lambda doc: str(folder / f"{doc}.ipynb"))


def test_new_measurements_run_the_pages_that_read_them_and_a_new_package_all(site, tmp_path):
    env = env_of(tmp_path)
    stale = lambda: site.stale(None, env, set(), set(), set())  # noqa: E731
    assert stale() == ["book/a", "book/b", "book/c"], "a first build"
    assert stale() == []
    (tmp_path / "benchmarks/results/ablation.json").write_text('{"new": 1}')
    assert stale() == ["book/b"]
    assert stale() == []
    (tmp_path / "s2b_lab/text.py").write_text("x = 2")
    assert stale() == ["book/a", "book/b", "book/c"]


def test_a_build_asks_no_server_whatever_is_set(site, tmp_path, run_python):
    program = f"""
import os, sys
from pathlib import Path
sys.path.insert(0, {str(FOLDER)!r})
import s2b_site as site
site._tell_kernels(*(Path({str(tmp_path)!r}) / name for name in "abc"))
import s2b_lab as s2b
try:
    s2b.openai_model()("Did Einstein ever own a dog?")
except s2b.ModelUnavailable as error:
    print("unavailable", os.environ["HF_HUB_OFFLINE"])
"""
    with ChatServer() as server:
        settings = {"OPENAI_MODEL": "m", "OPENAI_BASE_URL": server.address, "OPENAI_API_KEY": "k"}
        assert run_python(program, **settings).stdout.split() == ["unavailable", "1"]
        assert server.requests == []
    assert "OPENAI_MODEL" not in os.environ


def test_what_a_page_runs_is_one_script_and_no_module(site):
    script = site.classic_script()
    assert not re.search(r"^\s*(import|export)\b|import\.meta", script, flags=re.MULTILINE)
    assert all(f"class {name} " in script for name in ("Picture", "Explorer")) and ".s2b-host" in script


def test_recordings_of_pages_are_scripts_too_and_others_go_with_theirs(site, tmp_path):
    folder = tmp_path / "_static/recordings"
    folder.mkdir(parents=True)
    for name in ("used.json", "gone.json", "gone.json.js"):
        (folder / name).write_text('{"n": "</script>"}', encoding="utf-8")
    (tmp_path / "page.html").write_text('<div data-recording="used.json"></div>', encoding="utf-8")
    for _ in range(2):
        site._prune(tmp_path)
        site._add_scripts(folder)
        assert sorted(path.name for path in folder.iterdir()) == ["used.json", "used.json.js"]
    script = (folder / "used.json.js").read_text(encoding="utf-8")
    assert script == '(globalThis.s2bRecordings ??= {})["used.json"] = {"n": "</script>"};\n'


@pytest.mark.parametrize(("version", "says"), [(None, "npm ci"), ("1.0.0", "is 1.0.0, that of the plotly package")])
def test_a_plotly_that_is_missing_or_of_another_version_is_told(site, tmp_path, version, says):
    package = tmp_path / "plotly.js-cartesian-dist-min"
    if version:
        package.mkdir()
        (package / "package.json").write_text(json.dumps({"version": version}), encoding="utf-8")
    with pytest.raises(ExtensionError, match=f"plotly.js-cartesian-dist-min .*{says}"):
        site._check_plotly(package)
