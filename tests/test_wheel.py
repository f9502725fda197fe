"""Both wheels, built from the tree and looked into; the small one runs where nothing else is installed."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from test_layout import FRAMES

import s2b_lab
from s2b_lab.figures.page import _DRAWN

PACKAGE = Path(s2b_lab.__file__).parent
BUILDER = PACKAGE.parent / "_ext/wheels.py"
# Chunking, ranking, expansion, and a figure that is recorded and put on a page.
PROGRAM = """
import json, sys
import s2b_lab as s2b
from s2b_lab.core.rank import top_k
from s2b_lab.figures import maps, page, plot, record
from s2b_lab.figures.cut_points import CutPoints

alphabet = "abcdefghijklmnopqrstuvwxyz系统坏了超过三十天提交"
embed = lambda words: [words.lower().count(letter) for letter in alphabet]
policy = "# 差旅 🧭\\n\\n## 1 发票\\n\\n保留每张发票。\\n\\n## 2 截止\\n\\n"
policy += "三十天内提交。系统坏了，先登记工单。处理期间停止计时。\\n"
document = s2b.document("travel-zh", policy)


def retrieve(width, question):
    tree = s2b.sentence_tree(document)
    leaves = tree.indexed
    scores = [s2b.cosine(embed(question), embed(leaf.text)) for leaf in leaves]
    hits = [s2b.Hit(leaves[i], score, n) for n, (i, score) in
            enumerate(top_k(embed(question), [embed(leaf.text) for leaf in leaves], 2), 1)]
    contexts = s2b.sentence_window(hits, tree, window_size=width)
    parents = s2b.parent_document(hits, tree)
    marks = [s2b.Mark(c.span, "context") for c in contexts] + [s2b.Mark(h.chunk.span, "hit", h.score) for h in hits]
    pieces = s2b.recursive(policy, 12, 2, "token")
    return [
        s2b.Passages(policy, marks, title=document.title, lang="zh"),
        s2b.Passages(policy, marks, show="marked"),
        s2b.Table(["rank", "text", "score"], [[h.rank, h.chunk.text, h.score] for h in hits]),
        s2b.Meter("Delivered", sum(s2b.count(p.text, "char") for p in parents), len(policy), "characters"),
        s2b.Note(f"{len(pieces)} pieces of at most twelve tokens each."),
        s2b.Stages([s2b.Stage("search", question, s2b.Table(["text"], [[h.chunk.text] for h in hits]), 0.5)]),
        plot.similarity_bars(scores, [0], [leaf.text for leaf in leaves], alt="Each sentence."),
        plot.grouped_bars(["a"], {"n": [len(hits)]}, "hits", level=(2, "wanted")),
        maps.scatter_map([maps.Layer("q", [(1 / 3, 2.0)], [question], plot.QUESTION)], [((0, 0), (1, 1))]),
        CutPoints(policy, [leaf.span for leaf in leaves], [0.01] * len(leaves), {"": s2b.paragraphs(policy)}),
    ]


questions = s2b.Text("Question", ["系统坏了", "发票"])
controls = {"width": s2b.Slider("Width", [0, 1], unit="sentences"), "question": questions}
spec = record.spec_of(controls, "retrieve", 20.0)
recording = record.record(retrieve, controls, record.positions(controls))
outside = {name.split(".")[0] for name in sys.modules} - set(sys.stdlib_module_names) - {"s2b_lab", "__main__"}
shown = {"spec": spec, "recording": recording, "page": page.page(spec, recording)}
sys.stdout.write(json.dumps({"file": s2b.__file__, "outside": sorted(outside), "shown": shown}))
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """The two wheels: of the whole package, and of what runs in a page."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run([sys.executable, BUILDER, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    whole, core = sorted(folder.glob("*.whl"), key=lambda path: "core" in path.name)
    assert (whole.name, core.name) == (f"s2b_lab-{_version()}.whl", f"s2b_lab_core-{_version()}.whl")
    return whole, core


def _version():
    return f"{s2b_lab.__version__}-py3-none-any"


def files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


@pytest.fixture(scope="module")
def bare(wheels, tmp_path_factory):
    """A Python of an environment that holds the small wheel and nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin/python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", wheels[1]], check=True)
    return python


def test_the_whole_wheel_has_every_file_of_the_package(wheels):
    there = {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert files(wheels[0]) == {str(path.relative_to(PACKAGE.parent)) for path in there}
    kinds = {Path(name).suffix for name in files(wheels[0])}
    assert {".py", ".js", ".css", ".md", ".json"} <= kinds


def test_the_small_wheel_has_the_core_and_what_makes_frames_alone(wheels):
    core = {f"s2b_lab/core/{path.name}" for path in (PACKAGE / "core").glob("*.py")}
    frames = {f"s2b_lab/{name.replace('.', '/')}.py" for name in FRAMES}
    assert files(wheels[1]) == core | frames | {"s2b_lab/__init__.py", "s2b_lab/figures/__init__.py"}
    with zipfile.ZipFile(wheels[1]) as archive:
        metadata = archive.read(next(name for name in archive.namelist() if name.endswith("METADATA"))).decode()
        for name in core | frames:
            assert archive.read(name) == (PACKAGE.parent / name).read_bytes()
    assert "Requires-Dist" not in metadata


def test_frames_of_the_small_wheel_are_those_of_the_whole_package(bare, run_python):
    command = [bare, "-I", "-X", "utf8", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    small, whole = json.loads(done.stdout), json.loads(run_python(PROGRAM, PYTHONUTF8="1").stdout)
    assert Path(small["file"]).parent != PACKAGE == Path(whole["file"]).parent
    assert small["outside"] == []
    assert small["shown"] == whole["shown"]
    recorded = small["shown"]["recording"]
    kinds = [kind for kind in _DRAWN if f'"kind": "{kind}"' in json.dumps(recorded)]
    assert len(recorded["frames"]) == 4 and kinds == list(_DRAWN)


def test_every_name_of_the_small_package_is_there(bare):
    code = "import s2b_lab as s; print(all(getattr(s, name) for name in s.__all__), len(s.__all__), hasattr(s, 'load'))"
    done = subprocess.run([bare, "-I", "-c", code], capture_output=True, text=True, check=False)
    there, count, load = done.stdout.split()
    assert (there, load) == ("True", "False") and int(count) > 30
    assert subprocess.run([bare, "-I", "-c", "import numpy"], capture_output=True, check=False).returncode != 0
