"""The JavaScript tests, run in Node, as part of the one test command."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_pure_parts_of_the_widget():
    node = shutil.which("node", path=str(Path(sys.executable).parent)) or shutil.which("node")
    files = sorted(map(str, (ROOT / "tests/js").glob("*.test.js")))
    done = subprocess.run([node, "--test", *files], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fail 0" in done.stdout and "pass 0" not in done.stdout
