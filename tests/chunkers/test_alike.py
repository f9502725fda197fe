"""What all chunkers do alike: front matter, headings, code, tables, line ends, and hard limits at every unit."""

import pytest
from parrot import Says
from rules import check_cover, check_sizes
from wishes import Wishes

from s2b_lab import HashEmbedder
from s2b_lab.chunkers.lgmgc import lgmgc
from s2b_lab.chunkers.logits import logits
from s2b_lab.chunkers.lumber import lumber
from s2b_lab.chunkers.semantic import semantic
from s2b_lab.core.headings import document
from s2b_lab.corpus import load

MODEL = HashEmbedder()


def by_words(prefix):
    """What a model that does not mind white space might say."""
    return len(prefix.split()) * 7 % 10 / 10


CHUNKERS = {
    "logits": lambda text, size, unit: logits(text, Wishes(by=by_words), size, unit),
    "semantic": lambda text, size, unit: semantic(text, MODEL, size, amount=60, unit=unit),
    "gradient": lambda text, size, unit: semantic(text, MODEL, size, "gradient", 60, 0, unit),
    "lumber": lambda text, size, unit: lumber(text, Says("ID 2"), size, unit),
    "no turn": lambda text, size, unit: lumber(text, Says("none"), size, unit),
}
each = pytest.mark.parametrize("cut", CHUNKERS.values(), ids=CHUNKERS)
CODE = "```python\nx = 1. # a. b.\n\ny = 2. # c. d.\n```"
ROWS = "".join(f"| Cell {n}. One. | Two. |\n" for n in range(30))


@each
@pytest.mark.parametrize("unit", ["char", "word", "token"])
@pytest.mark.parametrize("name", ["travel-en", "travel-zh"])
def test_our_texts_are_covered_and_the_limit_holds_at_every_unit(cut, unit, name):
    text = load(name).text
    for size in (1, 9, 200, 10**6):
        spans = cut(text, size, unit)
        check_cover(text, spans)
        check_sizes(text, spans, size, unit)


@each
@pytest.mark.parametrize(
    "fence",
    [
        "---\ntitle: Mine\n---\n",
        "---\r\ntitle: Mine\r\n---\r\n",
        "---\rtitle: Mine\r---\r",
        "+++\ntitle = 'Mine'\n+++\n",
    ],
)
def test_front_matter_is_no_part_of_a_chunk(cut, fence):
    body = "# Head\n\nOne two three.\n\nFour five six."
    text = fence + "\n" + body
    spans = cut(text, 4, "word")
    assert spans[0].start == text.index("#")
    check_cover(
        body, [type(span)(span.start - len(text) + len(body), span.end - len(text) + len(body)) for span in spans]
    )


@each
def test_no_chunk_ends_with_a_heading(cut):
    text = "".join(f"\n\n## Part {n}\n\nOne two {n}. Three four." for n in range(9))
    for size in range(8, 30):
        last = [span.of(text).splitlines()[-1] for span in cut(text, size, "word")]
        assert not [line for line in last if line.startswith("#")]


@each
def test_code_that_fits_is_whole_and_what_is_around_it_is_not_all_of_its_chunk(cut):
    text = f"One two three. Four five six.\n\n{CODE}\n\nSeven eight nine. Ten."
    start = text.index(CODE)
    for size in (14, 16, 20):
        holding = [span for span in cut(text, size, "word") if span.start <= start < span.end]
        assert [span.end >= start + len(CODE) for span in holding] == [True]


@each
def test_a_table_that_is_too_large_is_cut_between_its_rows(cut):
    text = f"Before it.\n\n| A | B |\n|---|---|\n{ROWS}\nAfter it."
    spans = cut(text, 40, "word")
    check_sizes(text, spans, 40, "word")
    inside = [span.of(text) for span in spans if "Cell" in span.of(text)]
    assert len(inside) > 3 and all(part.removesuffix("After it.").rstrip().endswith("|") for part in inside)


@each
def test_line_ends_of_any_kind_give_the_same_cuts(cut):
    text = "# Head\n\nOne two. Three four.\n\nFive six. Seven eight.\n\n## More\n\nNine ten. Eleven."
    expected = [span.of(text).split() for span in cut(text, 6, "word")]
    for end in ("\r\n", "\r"):
        other = text.replace("\n", end)
        assert [span.of(other).split() for span in cut(other, 6, "word")] == expected


@pytest.mark.parametrize("theta", [1, 3, 40, 10**6])
def test_parents_of_lgmgc_keep_to_the_rules_too(theta):
    text = (
        f"---\ntitle: Mine\n---\n\n# Head\n\nOne two three. Four.\n\n{CODE}\n\n## Part\n\n| A | B |\n|---|---|\n{ROWS}"
    )
    doc = document("d", text)
    parents = [chunk for chunk in lgmgc(doc, Wishes(), theta) if chunk.level == "passage" and chunk.parent_id is None]
    check_cover(
        text[(start := text.index("# Head")) :],
        [type(p.span)(p.span.start - start, p.span.end - start) for p in parents],
    )
    assert not [p for p in parents if p.text.splitlines()[-1].startswith("#")]
    assert [CODE in p.text for p in parents if "x = 1" in p.text] == [True]
