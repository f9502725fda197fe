"""The core runs with nothing installed: what the browser loads."""

import subprocess
import sys
from pathlib import Path

import s2b_lab

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from s2b_lab.core import build, expand, headings, hits as found, rank, sentences, split

alphabet = "abcdefghijklmnopqrstuvwxyz系统坏了超过三十天提交"
embed = lambda words: [words.lower().count(letter) for letter in alphabet]
policy = "# 差旅\\n\\n## 1 发票\\n\\n保留每张发票。\\n\\n## 2 截止\\n\\n"
policy += "三十天内提交。系统坏了，先登记工单。处理期间停止计时。\\n"
tree = build.sentence_tree(headings.document("travel-zh", policy))
leaves = tree.indexed
best = rank.top_k(embed("系统坏了,超过三十天还能提交吗?"), [embed(leaf.text) for leaf in leaves], 2)
hits = [found.Hit(leaves[i], score, n) for n, (i, score) in enumerate(best, 1)]
(window,) = expand.sentence_window(hits, tree)
(parent,) = expand.parent_document(hits, tree)
assert parent.text == "三十天内提交。系统坏了，先登记工单。处理期间停止计时。" == window.text[-len(parent.text):]
children = build.parents_and_children(headings.document("d", policy), 40, 20, 5)
assert children.indexed and split.recursive(policy, 10, 2, "token")
assert build.multi_granular(headings.document("d", policy)).indexed

import s2b_lab
assert s2b_lab.sentences is sentences.sentences
outside = {name.split(".")[0] for name in sys.modules} - set(sys.stdlib_module_names) - {"s2b_lab", "__main__"}
assert not outside, outside
sys.stdout.write(parent.text)
"""


def run(*flags):
    # -I -S: no site-packages, no environment, no working directory on the path.
    command = [sys.executable, "-I", "-S", "-X", "utf8", *flags, str(Path(s2b_lab.__file__).parents[1])]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60)


def test_a_retrieval_with_nothing_installed():
    done = run("-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "三十天内提交。系统坏了，先登记工单。处理期间停止计时。"


def test_the_interpreter_is_really_bare():
    done = run("-c", "import numpy")
    assert done.returncode != 0 and "ModuleNotFoundError" in done.stderr
