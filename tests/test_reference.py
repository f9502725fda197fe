"""The reference of functions: every public name is on its page, with a docstring that says what it raises."""

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from extensions import extension
from sphinx.errors import ExtensionError

import s2b_lab

ROOT = Path(s2b_lab.__file__).parents[1]
PAGE = ROOT / "book/functions.md"
NAMES = sorted(s2b_lab.__all__)
# Refusals that stand for a `raise`, and what they raise.
CHECKS = {
    "check_str": "TypeError", "as_labels": "TypeError", "checked": "TypeError", "as_embedder": "TypeError",
    "check_filled": "ValueError", "check_whole": "ValueError", "check_choice": "ValueError", "check_size": "ValueError",
    "check_kind": "TypeError", "check_callable": "TypeError", "list_of": "TypeError", "check_number": "ValueError",
    "check_unit": "ValueError", "check_shown": "ValueError", "listed": "ValueError", "allow": "ValueError",
}  # fmt: skip


def raised(source, function):
    """The names of the errors that a function of a module raises, by itself or in the helpers that it calls."""
    functions = {node.name: node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
    calls = {called(node) for node in ast.walk(functions[function])}
    helpers = [functions[name] for name in calls if name.startswith("_") and name in functions]
    nodes = [node for body in (functions[function], *helpers) for node in ast.walk(body)]
    raises = {called(node.exc) for node in nodes if isinstance(node, ast.Raise)}
    return (raises | {CHECKS.get(called(node), "") for node in nodes}) & {"ValueError", "TypeError"}


def called(node):
    """The name of the function, or of the object's own method, that a node calls; else ""."""
    function = getattr(node, "func", None)
    if isinstance(function, ast.Attribute) and getattr(function.value, "id", "") == "self":
        return function.attr
    return getattr(function, "id", "")


def documented():
    """Every public function and method as (name, errors that its body raises, its docstring)."""
    for name in NAMES:
        thing = getattr(s2b_lab, name)
        source = inspect.getsource(sys.modules[thing.__module__])
        if not inspect.isclass(thing):
            yield name, raised(source, name), inspect.getdoc(thing)
            continue
        own = textwrap.dedent(inspect.getsource(thing))
        rest = source.replace(inspect.getsource(thing), "")
        for method in ast.parse(own).body[0].body:
            if isinstance(method, ast.FunctionDef) and (
                not method.name.startswith("_") or method.name in ("__init__", "__post_init__", "__call__")
            ):
                of_class = method.name in ("__init__", "__post_init__")
                docstring = inspect.getdoc(thing) if of_class else ast.get_docstring(method)
                yield f"{name}.{method.name}", raised(f"{rest}\n{own}", method.name), docstring


def test_the_reader_of_errors_sees_checks_helpers_and_nothing_of_others():
    source = """
def asked(k):
    check_whole("k", k, 1)
    return _helped(k)
def _helped(k):
    raise TypeError("no")
def free(k):
    return asked(k)
"""
    assert raised(source, "asked") == {"ValueError", "TypeError"}
    assert raised(source, "free") == set()


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_says_what_it_is_in_a_sentence(name):
    docstring = inspect.getdoc(getattr(s2b_lab, name))
    first, _, rest = docstring.partition("\n")
    assert first.endswith("."), first
    assert not rest or rest.startswith("\n"), "a docstring is one sentence, a blank line, and the rest"


@pytest.mark.parametrize(("name", "errors", "docstring"), [pytest.param(*one, id=one[0]) for one in documented()])
def test_every_public_function_names_the_errors_that_it_raises(name, errors, docstring):
    assert {error for error in errors if error not in (docstring or "")} == set(), name


def test_the_five_methods_name_their_sources():
    sources = {
        "parents_and_children": ("Salton, Allan and Buckley", "Callan", "ParentDocumentRetriever"),
        "parent_document": ("Callan", "ParentDocumentRetriever"),
        "sentence_window": ("SentenceWindowNodeParser",),
        "auto_merge": ("AutoMergingRetriever", "Jason Liu"),
        "multi_granular": ("arXiv:2501.09940",),
        "semantic": ("Kamradt",),
        "lumber": ("arXiv:2406.17526",),
        "logits": ("arXiv:2501.09940",),
        "lgmgc": ("arXiv:2501.09940",),
        "step_back": ("Zheng", "arXiv:2310.06117"),
        "hyde": ("Gao", "arXiv:2212.10496"),
        "reciprocal_rank_fusion": ("Cormack", "SIGIR 2009"),
        "umap_map": ("McInnes", "arXiv:1802.03426"),
        "paired_bootstrap": ("Efron and Tibshirani",),
    }
    for name, parts in sources.items():
        _, _, source = inspect.getdoc(getattr(s2b_lab, name)).replace("\n", " ").partition("Source: ")
        assert all(part in source for part in parts), f"{name}: {source}"


def test_every_public_name_is_on_the_page_once():
    filled = extension("s2b_reference").filled(PAGE.read_text(encoding="utf-8"), "book/functions")
    shown = re.findall(r"^\.\. auto(function|class|exception):: s2b_lab\.(\w+)$", filled, re.MULTILINE)
    assert sorted(name for _, name in shown) == NAMES
    assert {("function", "load"), ("class", "Index"), ("exception", "ModelUnavailable")} <= {*shown}
    assert "% functions" not in filled


def test_a_page_that_misses_a_module_or_names_one_twice_is_no_page():
    exports = {"corpus": ("load",), "index": ("Index",)}
    fill = extension("s2b_reference").filled
    assert ".. autofunction:: s2b_lab.load\n\n```\n\n```{eval-rst}" in fill(
        "% functions corpus\n\n% functions index", "p", exports
    )
    for text in ("% functions corpus", "% functions corpus index corpus", "% functions corpus index rank"):
        with pytest.raises(ExtensionError, match="each module with public names once"):
            fill(text, "p", exports)
    assert fill("Nothing to fill: % functions corpus", "p", exports) == "Nothing to fill: % functions corpus"


def test_values_in_quotation_marks_are_code_and_titles_are_not():
    lines = ['`x="a"` and k="few-shot" or ("en"), after "A Title"', ""]
    extension("s2b_reference").quoted(None, "function", "f", None, None, lines)
    assert lines == ['`x="a"` and k=\\ ``"few-shot"``\\  or (\\ ``"en"``\\ ), after "A Title"', ""]


def test_reading_the_docstrings_loads_no_model():
    code = (
        "import sys, inspect, s2b_lab; [inspect.getdoc(getattr(s2b_lab, name)) for name in s2b_lab.__all__]; "
        "heavy = sys.modules.keys() & {'torch', 'chromadb', 'transformers', 'sentence_transformers', 'umap'}; "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
