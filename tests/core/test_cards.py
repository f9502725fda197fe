"""Objects of the core show themselves: short, escaped, and nothing that is for some readers alone."""

import copy
import pickle
from html.parser import HTMLParser

import pytest
from IPython.core.formatters import DisplayFormatter
from IPython.lib.pretty import pretty

import s2b_lab as s2b
from s2b_lab.core.cards import Card, abridged, beginning, first_few, shown_score

SCRIPT = "<script>alert('s2b')</script> & \"more\""


class Tags(HTMLParser):
    """The tags and the text of some HTML."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.open = [], "", []
        self.feed(html)
        self.close()
        assert self.open == [], "a tag stays open"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open += [tag] if tag != "br" else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def hit_of(text, score=0.5):
    (chunk,) = s2b.sentence_tree(s2b.document("d", text)).indexed
    return s2b.Hit(chunk, score, 1)


def objects():
    hit = hit_of(SCRIPT)
    tree = s2b.flat_tree(s2b.document(SCRIPT, SCRIPT), [s2b.Span(0, len(SCRIPT))])
    context = s2b.Context("<b>", s2b.Span(0, len(SCRIPT)), SCRIPT, (hit,))
    return {"Hit": hit, "Chunk": hit.chunk, "Context": context, "ChunkTree": tree, "Document": tree.documents[SCRIPT]}


@pytest.mark.parametrize("name", objects())
def test_a_notebook_gets_html_with_every_text_escaped_and_plain_text_beside_it(name):
    shown, _ = DisplayFormatter().format(objects()[name])
    html, plain = Tags(shown["text/html"]), shown["text/plain"]
    assert "<script" not in shown["text/html"] and "<b>" not in shown["text/html"]
    assert SCRIPT in html.text
    assert html.tags[0] == ("div", {"class": "s2b-alone s2b-surface"}) and "s2b-table" in shown["text/html"]
    assert SCRIPT in plain and "object at 0x" not in plain


@pytest.mark.parametrize("rows", [[], [(SCRIPT, [SCRIPT, ""])]])
def test_titles_and_labels_are_escaped_too(rows):
    class Own(Card):
        def _card(self):
            return SCRIPT, rows

    html = Own()._repr_html_()
    assert "<script" not in html and Tags(html).text == SCRIPT * (3 if rows else 1)


@pytest.mark.parametrize("name", objects())
def test_repr_stays_exact_and_print_is_short(name):
    thing = objects()[name]
    assert repr(thing).startswith(f"{name}(")
    assert str(thing) == pretty(thing) != repr(thing)


def test_numbers_are_rounded_for_the_eye_alone():
    hit = hit_of("Keep invoices.", 2 / 3)
    assert "0.667" in str(hit) and hit.score == 2 / 3 and "0.6666666666666666" in repr(hit)
    assert [shown_score(score) for score in (-0.12345, 0.0328, 0.0325, 0.0, 1.0)] == [
        "-0.123", "0.0328", "0.0325", "0.000", "1.000"
    ]  # fmt: skip


def test_a_list_of_hits_is_shown_hit_by_hit():
    hit = hit_of("Keep invoices.")
    lines = ["[Hit 1: d/0/p1/s1, score 0.500", "   text  Keep invoices.,", " Hit 1: d/0/p1/s1, score 0.500"]
    assert pretty([hit, hit]) == "\n".join([*lines, "   text  Keep invoices.]"])


def test_what_shows_itself_can_still_be_copied_compared_and_stored():
    for thing in objects().values():
        assert repr(copy.deepcopy(thing)) == repr(thing) == repr(pickle.loads(pickle.dumps(thing)))
    assert hit_of("a b.") == hit_of("a b.") and len({hit_of("a b."), hit_of("a b.")}) == 1
    with pytest.raises(AttributeError):
        object.__setattr__(hit_of("a b."), "colour", "red")  # slots, still


def test_a_long_text_is_shortened_in_the_middle_and_says_by_how_much():
    text = " ".join(f"word{n}" for n in range(500))
    short = abridged(text)
    head, _, rest = short.partition(" … ")
    count, _, tail = rest.partition(" characters left out … ")
    assert text.startswith(head) and text.endswith(tail) and len(head) + len(tail) < 400
    assert int(count.replace(",", "")) == len(text) - len(head) - len(tail)
    assert head.split()[-1] in text.split() and tail.split()[0] in text.split(), "between words"
    assert abridged("a" * 400) == "a" * 400
    assert abridged("系统" * 400) == f"{'系统' * 66}系 … 534 characters left out … 统{'系统' * 66}"
    assert short in str(s2b.Context("d", s2b.Span(0, len(text)), text, ()))


def test_the_first_words_stand_on_one_line():
    assert beginning("Tea\n\n  is hot.") == "Tea is hot."
    assert beginning("one two three", 8) == "one two …"
    assert beginning("x" * 100, 10) == "x" * 10 + " …"
    assert beginning("a" + " " * 1000 + "b", 10) == "a …"
    assert first_few(["a", "b", "c"], 2) == ["a", "b", "… and 1 more"] and first_few(["a", "b"], 2) == ["a", "b"]


def test_a_context_without_hits_is_shown():
    assert str(s2b.Context("d", s2b.Span(2, 5), "abc", ())) == "Context of d\n  span  2 to 5, 3 characters\n  text  abc"


def test_a_tree_counts_what_it_holds_and_shows_its_first_chunk():
    doc = s2b.document("d", "# Title\n\nFirst words. More words here.\n\n# Two\n\nLast words.")
    assert str(s2b.sentence_tree(doc)).split("\n") == [
        "Tree of 11 chunks",
        "  documents      1",
        "                 d",
        "  sections       2",
        "  parents        4",
        "  children       5",
        "  indexed        5",
        "  first indexed  d/1/p1/s1",
        "                 # Title",
    ]
    many = s2b.sentence_tree([s2b.document(f"d{n}", "Words.") for n in range(1200)])
    assert str(many).startswith("Tree of 3,600 chunks\n  documents      1,200\n                 d0\n")
    assert "d4\n                 … and 1,195 more\n  sections       1,200\n" in str(many)
    alone = str(s2b.flat_tree(doc, s2b.sentences(doc.text)))
    assert "parents        0\n  children       0\n  indexed        5\n" in alone


@pytest.fixture
def secret():
    """A document whose first section is for some readers alone."""
    return s2b.document("d", "# Pay\n\nThe bonus is 500.\n\n# Rules\n\nKeep invoices.", section_access={1: "hr"})


def test_no_text_is_shown_of_a_section_that_is_not_public(secret):
    assert secret.sections[0].access == "hr"
    tree = s2b.parents_and_children(secret, 100, 50, 0)
    for shown in (str(tree), tree._repr_html_(), str(secret), secret._repr_html_()):
        assert "bonus" not in shown and "Pay" not in shown
    assert "Keep invoices." in str(tree)
    closed = s2b.document("d", "The bonus is 500.", title="Bonus", access="hr")
    for shown in (str(s2b.sentence_tree(closed)), str(closed), closed._repr_html_()):
        assert "onus" not in shown
    across = s2b.flat_tree(secret, [s2b.Span(0, len(secret.text))])
    assert "invoices" not in str(across), "a chunk across sections is for those who may read both"


def test_an_empty_tree_and_an_empty_document_are_shown():
    assert str(s2b.ChunkTree([], [])).startswith("Tree of 0 chunks\n  documents  0")
    assert "0 characters in 0 sections" in str(s2b.document("d", ""))


def test_chinese_is_marked_as_chinese():
    html = Tags(hit_of("保留发票。")._repr_html_())
    assert ("td", {"lang": "zh"}) in html.tags
    assert ("td", {}) in Tags(hit_of("Keep invoices.")._repr_html_()).tags


@pytest.mark.parametrize("title", ["Staff", "员工"])
def test_a_document_shows_no_word_of_a_later_section_that_is_not_for_all(title):
    text = f"# {title}\n\n## Private\n\nThe alarm code is 4711.\n\n## Open\n\nHello."
    doc = s2b.document("d", text, section_access={"Private": "hr"})
    for shown in (str(doc), doc._repr_html_()):
        assert title in shown and "Private" not in shown and "alarm" not in shown
    assert doc.public_beginning() == s2b.public_text(doc) == f"# {title}\n\n"
