"""The modules of a figure joined into one: whole, in order, and runnable where no file stands beside it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from s2b_lab.figures import esm

FOLDER = Path(esm.__file__).parent
IMPORT = re.compile(r"^import (.+?) from \"\./(\w+)\.js\";$", re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)


def source(name):
    return (FOLDER / f"{name}.js").read_text(encoding="utf-8")


def imports(name):
    return {module: set(names.strip("{ }").split(", ")) for names, module in IMPORT.findall(source(name))}


def test_the_joined_text_is_one_module_that_runs_alone_and_renders(tmp_path):
    (tmp_path / "alone.mjs").write_text(esm.joined(), encoding="utf-8")
    # Two definitions of one name, or a file that is not there, end the import.
    program = "const { default: explorer } = await import('./alone.mjs'); console.log(typeof explorer.render);"
    node = shutil.which("node", path=str(Path(sys.executable).parent)) or shutil.which("node")
    command = [node, "--input-type=module", "--eval", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "function\n"), done.stderr


def test_nothing_but_imports_is_left_out():
    text = esm.joined()
    assert not re.search(r"^\s*import\b|\bfrom \"|\bimport\(", text, re.MULTILINE)
    kept = [line for name in esm.MODULES for line in source(name).splitlines() if not line.startswith("import ")]
    assert [line for line in text.splitlines() if line] == [line for line in kept if line]
    assert text.count("export default") == 1


def test_each_module_is_there_after_those_it_needs():
    needed = ["widget"]
    for name in needed:
        needed += [other for other in imports(name) if other not in needed]
    assert sorted(needed) == sorted(esm.MODULES)
    for place, name in enumerate(esm.MODULES):
        assert set(imports(name)) <= set(esm.MODULES[:place])


def test_imported_names_are_those_that_the_other_module_exports():
    for name in (*esm.MODULES, "host"):
        for other, names in imports(name).items():
            exported = set(EXPORT.findall(source(other))) | ({"explorer"} if other == "widget" else set())
            assert names <= exported, f"{name}.js asks {other}.js for {names - exported}"


def test_every_script_of_the_figures_is_joined_or_the_host():
    assert {path.stem for path in FOLDER.glob("*.js")} == {*esm.MODULES, "host"}
