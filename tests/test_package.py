import subprocess
import sys
import types

import s2b_lab


def test_every_name_is_there_and_none_is_a_module():
    for name in s2b_lab.__all__:
        assert not isinstance(getattr(s2b_lab, name), types.ModuleType), name


def test_functions_keep_their_names_when_their_modules_are_imported():
    code = (
        "import s2b_lab.figures.explore, s2b_lab.evaluation, s2b_lab.answers, s2b_lab.models.recording, s2b_lab as s; "
        "assert all(map(callable, (s.explore, s.evaluate, s.answer, s.recordings)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_the_package_loads_nothing_heavy():
    heavy = ["numpy", "torch", "chromadb", "plotly", "anywidget", "umap", "sentence_transformers"]
    code = f"import sys, s2b_lab; loaded = sys.modules.keys() & {heavy}; assert not loaded, loaded"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(s2b_lab, "retriver")
