"""What a frame carries for JavaScript, which has no words and no rules of its own, and what a Figure may be."""

import base64
import itertools
import json
from types import SimpleNamespace

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2b_lab.core.text import Span
from s2b_lab.figures import words
from s2b_lab.figures.controls import Slider
from s2b_lab.figures.page import alone, page
from s2b_lab.figures.passages import KINDS, Mark, Passages
from s2b_lab.figures.plain import plain_json
from s2b_lab.figures.record import positions, record, spec_of
from s2b_lab.figures.views import Figure, Rows, Stage, Stages, Table, frame_of

PLAIN = {"data": [{"type": "bar", "x": [1, 2]}], "layout": {"title": {"text": "Two"}}}


# --- words ---


def test_a_figure_carries_all_words_that_javascript_shows():
    spec = spec_of({}, "figure", 20)
    assert spec["words"] == words.WORDS["en"]
    assert not {"legend", "gap"} & set(spec["words"])
    assert set(spec["words"]["badges"]) == {"recorded", "live", "dead"}
    assert json.loads(json.dumps(spec)) == spec


@pytest.mark.parametrize(
    ("lang", "hit", "gap"),
    [("en", "hit", "left out"), ("zh", "命中", "省略"), ("zh-Hans", "命中", "省略"), ("de", "hit", "left out")],
)
def test_the_words_of_a_text_are_in_its_language(lang, hit, gap):
    (frame,) = frame_of(Passages("abc", lang=lang))
    assert frame["words"]["legend"]["hit"] == hit and gap in frame["words"]["gap"][0]
    assert list(frame["words"]["legend"]) == list(KINDS)
    html = alone(frame_of(Passages("abcdef", [Mark(Span(0, 2), "hit")], show="marked", lang=lang))[0])
    assert hit in html and frame["words"]["gap"][1].format(count=4) in html


def test_one_character_left_out_is_one():
    def gaps(text):
        return alone(frame_of(Passages(text, [Mark(Span(0, 2), "hit")], show="marked"))[0])

    assert "⋯ 1 character left out ⋯" in gaps("abc")
    assert "⋯ 1,500 characters left out ⋯" in gaps("ab" + "c" * 1500)


@pytest.mark.parametrize(
    ("kind", "label", "meaning"),
    [
        ("context", "1", "place among what is delivered"),
        ("context", "0.54", "similarity to the question"),
        ("chunk", "12", "place of the chunk in the text"),
        ("hit", "-0.03", "similarity to the question"),
        ("hit", "3", None),
        ("hit", "far", None),
        ("gold", "", None),
    ],
)
def test_a_legend_says_what_a_badge_is_where_it_is_known(kind, label, meaning):
    (frame,) = frame_of(Passages("abcdef", [Mark(Span(0, 2), kind, label), Mark(Span(2, 4), kind)]))
    badges = frame["words"]["badges"]
    assert {shown: says for shown, (_, says) in badges.items()} == ({} if meaning is None else {kind: meaning})


def test_a_badge_is_explained_in_the_language_of_its_text():
    marks = [Mark(Span(0, 1), "hit", "0.54"), Mark(Span(0, 2), "context", "1")]
    (frame,) = frame_of(Passages("出差", marks, lang="zh"))
    assert frame["words"]["badges"] == {"context": ["1", "在已交付内容中的次序"], "hit": ["0.54", "与问题的相似度"]}


def test_a_folded_table_and_stages_show_their_name_alone_until_they_are_opened():
    (folded,), (plain,) = (frame_of(Table(["a", "b"], [[1, 2]], caption="Prices", folded=f)) for f in (True, False))
    assert folded["folded"] is True and "folded" not in plain
    assert "<details" in alone(folded) and "<summary>Prices (1 row)</summary>" in alone(folded)
    many = alone(frame_of(Table(["a"], [[1], [2]], folded=True))[0])
    assert "<summary>Table (2 rows)</summary>" in many and "<caption>" not in many and "<details open" not in many
    assert "<details" not in alone(plain) and "<caption>Prices</caption>" in alone(plain)
    (stages,) = frame_of(Stages([Stage("search", "in", "out")], title="Stage by stage"))
    assert "<summary>Stage by stage</summary>" in alone(stages).split("<details", 2)[1]


def test_both_languages_have_the_same_words():
    english, chinese = (words.PASSAGES[lang] for lang in ("en", "zh"))
    assert list(english) == list(chinese) and list(english["legend"]) == list(chinese["legend"])
    assert list(english["badges"]) == list(chinese["badges"])
    assert all("{count}" in gap for gap in english["gap"] + chinese["gap"])
    assert set(words.page_words("zh")) == set(words.page_words("en"))


def test_the_page_says_what_is_shown_where_a_recording_does_not_come(monkeypatch, tmp_path):
    spec, recording = spec_of({}, "figure", 20), record(lambda: Figure(PLAIN), {}, [()])
    fault = 'data-fault="This figure stays still: {problem}."'
    assert fault in page(spec, recording) and "data-missing" not in page(spec, recording)
    monkeypatch.setenv("S2B_RECORDINGS", str(tmp_path))
    monkeypatch.setattr("s2b_lab.figures.page.INLINE_BYTES", 0)
    missing = 'data-missing="the recording {file} could not be loaded ({status})"'
    assert fault in page(spec, recording) and missing in page(spec, recording)


# --- paragraphs ---


def paragraphs(text):
    """Naively: after each run of white space that has two line ends in it."""
    starts, i = [0], 0
    while i < len(text):
        end = i
        while end < len(text) and text[end].isspace():
            end += 1
        starts += [end] if text[i:end].count("\n") > 1 else []
        i = max(end, i + 1)
    return starts


@given(st.text("a🧭\n\r\t ", max_size=30))
def test_paragraphs_begin_after_blank_lines_counted_as_javascript_counts(text):
    (frame,) = frame_of(Passages(text))
    assert frame["breaks"] == [len(text[:start].encode("utf-16-le")) // 2 for start in paragraphs(text)]


def test_only_a_whole_text_has_paragraphs():
    assert frame_of(Passages("🧭\n \n\n b\nc\r\n\r\nd"))[0]["breaks"] == [0, 7, 14]
    assert frame_of(Passages("a\n\nb", [Mark(Span(0, 1), "hit")], show="marked"))[0]["breaks"] == []


@given(
    st.text(alphabet="ab🧭\u200b \n", max_size=12),
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=3),
)
def test_a_gap_is_where_something_that_can_be_seen_is_left_out(text, ends):
    marks = [Mark(Span(start, start + size), "hit") for start, size in ends if start + size <= len(text)]
    (frame,) = frame_of(Passages(text, marks, show="marked"))
    edges = sorted({0, len(text), *(edge for mark in marks for edge in (mark.span.start, mark.span.end))})
    runs = [
        (a, b) for a, b in itertools.pairwise(edges) if not any(m.span.start <= a and b <= m.span.end for m in marks)
    ]
    seen = [a for a, b in runs if text[a:b].strip().strip("\u200b \n")]
    assert frame["gaps"] == [len(text[:a].encode("utf-16-le")) // 2 for a in seen]
    assert "gaps" not in frame_of(Passages(text, marks))[0]


def test_words_and_paragraphs_are_recorded_once():
    texts = ["One.\n\nTwo.\n\n" * 30, "Three.\n\nFour."]
    controls = {"n": Slider("N", range(20))}
    frames = record(lambda n: Passages(texts[n % 2], title=str(n)), controls, positions(controls))
    kept = json.dumps(frames)
    assert kept.count("evidence not delivered") == 1 and kept.count("[0, 6, 12, 18,") == 1


# --- figures ---


def test_plain_json_is_a_figure_as_plotly_is():
    theirs = go.Figure(go.Bar(x=[1, 2]), layout={"title": "Two"})
    assert frame_of(Figure(PLAIN)) == frame_of(Figure(theirs)) == frame_of(theirs)
    assert Figure(PLAIN).frame()["alt"] == "Two"
    assert Figure({"data": (), "layout": {"title": "Old spelling", "template": {"data": {}}}}).frame() == {
        "kind": "figure", "data": [], "layout": {"title": "Old spelling"}, "alt": "Old spelling"
    }  # fmt: skip


def test_a_figure_of_a_figure_is_that_figure():
    inner = Figure(PLAIN, alt="Two bars.")
    assert Figure(inner) == inner
    assert Figure(inner, alt="Others.") == Figure(PLAIN, alt="Others.")


@pytest.mark.parametrize(
    "fig", [{}, {"data": []}, {"layout": {}}, {"data": {}, "layout": {}}, {"data": [1], "layout": {}}, {"data": "x"}]
)
def test_other_mappings_are_refused(fig):
    with pytest.raises(
        ValueError, match=r'plain JSON of a figure is \{"data": a list of traces, "layout": a mapping\}'
    ):
        Figure(fig)


def test_a_figure_shows_itself_without_our_host():
    bundle = Figure(PLAIN, alt="Two <bars>.")._repr_mimebundle_()
    assert bundle["application/vnd.plotly.v1+json"] == PLAIN
    assert "Two &lt;bars&gt;." in bundle["text/html"] and "s2b-alone" in bundle["text/html"]
    assert bundle["text/plain"] == "Two <bars>."


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"])
@pytest.mark.parametrize("shape", [(6,), (2, 3), (1, 2, 3), (0,), (0, 3)])
def test_packed_arrays_of_every_type_are_lists(kind, shape):
    array = (np.arange(np.prod(shape)) * (-1 if kind[0] != "u" else 1) * (0.5 if kind[0] == "f" else 1)).astype(kind)
    array = array.reshape(shape)
    packed = {"dtype": kind, "bdata": base64.b64encode(array.tobytes()).decode(), "shape": ",".join(map(str, shape))}
    assert plain_json(packed) == array.tolist()
    if len(shape) == 1:
        del packed["shape"]
        assert plain_json(packed) == array.tolist()


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float32", "float64"])
def test_what_plotly_packs_is_unpacked(kind):
    (frame,) = frame_of(go.Figure(go.Heatmap(z=np.array([[1, 0], [100, 7]], kind))))
    assert frame["data"][0]["z"] == [[1, 0], [100, 7]]


def test_a_packed_array_of_another_type_is_refused():
    with pytest.raises(ValueError, match=r"of i1, u1, .* not of 'c16'"):
        plain_json({"dtype": "c16", "bdata": ""})


# --- stages ---

STAGES = [
    Stage("search", "1 vector", Table(["rank", "score"], [[1, 0.5], [2, None]]), 1.25),
    Stage("answer", "the prompt", "in 1936"),
]


def test_stages_are_copied_as_they_are_shown():
    (frame,) = frame_of(Stages(STAGES))
    assert frame["copy"] == [
        {"stage": "search", "ms": 1.25, "in": "1 vector",
         "out": [{"rank": "1", "score": "0.500"}, {"rank": "2", "score": "–"}]},
        {"stage": "answer", "ms": None, "in": "the prompt", "out": "in 1936"},
    ]  # fmt: skip


def test_stages_may_have_data_of_their_own_to_copy():
    data = {"query": "Wann?", "hits": [{"score": 0.123456, "span": (1, 2)}], "none": None}
    (frame,) = frame_of(Stages(STAGES, data=data))
    assert frame["copy"] == {"query": "Wann?", "hits": [{"score": 0.123456, "span": [1, 2]}], "none": None}
    data["hits"].clear()
    assert frame_of(Stages(STAGES, data=data))[0]["copy"]["hits"] == []


TRACE = {
    "hits": [{"rank": 1, "score": 0.741725, "chunk": "a/1", "span": [3, 9]}],
    "contexts": [{"score": 0.5, "hits": ["a/1", "a/2"]}, {"score": 0.25, "hits": []}],
    "timings": {"search": 0.8549},
}
HITS = Rows("hits", {"rank": "rank", "score": "score", "child": "chunk", "span": "span"})
CONTEXTS = Rows("contexts", {"number": "#", "score": "score", "because of": "hits"})


def test_rows_stand_once_in_the_data_and_are_shown_from_there():
    stages = Stages([Stage("search", "1 vector", HITS, "search"), Stage("expand", "1 child", CONTEXTS)], data=TRACE)
    (frame,) = frame_of(stages)
    search, expand = frame["stages"]
    assert search["made"] == {
        "of": "hits", "columns": ["rank", "score", "child", "span"], "keys": ["rank", "score", "chunk", "span"],
        "numeric": [1, 1, 0, 0],
    }  # fmt: skip
    assert expand["made"]["numeric"] == [1, 1, 0] and search["ms"] == "search" and frame["copy"] == TRACE
    shown = alone(frame)
    for cell in ("0.742", "a/1", "3-9", "a/1, a/2", "0.9 ms"):
        assert f">{cell}<" in shown or f" {cell}<" in shown, cell
    assert "<td" in shown and shown.count("<tr>") == 5


@pytest.mark.parametrize(
    ("stage", "says"),
    [
        (Stage("search", "x", Rows("found", {"rank": "rank"})), "no list of rows 'found'"),
        (Stage("search", "x", Rows("timings", {"rank": "rank"})), "no list of rows 'timings'"),
    ],
)
def test_rows_that_the_data_lacks_are_refused(stage, says):
    with pytest.raises(ValueError, match=says):
        frame_of(Stages([stage], data=TRACE))


def test_a_time_that_the_data_lacks_is_refused():
    with pytest.raises(ValueError, match="no time of 'embed' in its timings"):
        Stages([Stage("embed", "x", "y", "embed")], data=TRACE)


@pytest.mark.parametrize(
    "data", [[1], "x", {"a": object()}, {"a": float("nan")}, {"a": {1, 2}}, {(1, 2): 3}, {"a": [{"$": 1}]}]
)
def test_other_data_is_refused(data):
    with pytest.raises(ValueError, match="data of Stages is a mapping of plain JSON, not "):
        Stages(STAGES, data=data)


def test_a_figure_without_controls_has_one_position():
    assert positions({}) == [()]
    assert list(record(lambda: Figure(PLAIN), {}, positions({}))["frames"]) == [""]


def test_a_table_reads_as_text_beside_its_html():
    written = []
    table = Table(["way", "recall"], [["children", 0.5], ["parents", None]], caption="Evidence")
    table._repr_pretty_(SimpleNamespace(text=written.append), False)
    assert written == ["Evidence\nway | recall\nchildren | 0.500\nparents | –"]
