"""Chapter 9: where the reader, a model and five chunkers would cut, read off every position of the figure."""

import ast
import gzip
import inspect
import json
import os
import re
from graphlib import TopologicalSorter
from itertools import pairwise
from statistics import median

import pytest
from conftest import BOOK, code_cells
from positions import Recorded

import s2b_lab as s2b
from s2b_lab.chapters import cuts
from s2b_lab.chunkers.lumber import rules_for
from s2b_lab.core.text import Span
from s2b_lab.figures.record import positions, record, spec_of

NAME = "09-where-would-you-cut"
POLICY, POLICY_ZH, EINSTEIN = (
    "Travel policy, sections 1 to 3",
    "差旅报销制度，第 1 至 3 节",
    "Einstein's patents, the beginning",
)
TEXTS, THETAS = (POLICY, POLICY_ZH, EINSTEIN), (50, 100, 200, 300)
PLACES = [(text, theta) for text in TEXTS for theta in THETAS]
PROSE = "\n".join(
    "".join(cell["source"])
    for cell in json.loads((BOOK / f"{NAME}.ipynb").read_text(encoding="utf-8"))["cells"]
    if cell["cell_type"] == "markdown"
)

every_place = pytest.mark.parametrize(("text", "theta"), PLACES)


@pytest.fixture(scope="module")
def shown():
    """The figure as the book records it, with no language model at hand: {(text, theta): frame}, and its size."""
    patch = pytest.MonkeyPatch()
    # What the book has embedded need not be embedded again.
    patch.setenv("S2B_EMBEDDING_CACHE", os.environ.get("S2B_EMBEDDING_CACHE") or str(BOOK.parent / "_build/embeddings"))
    patch.setattr("s2b_lab.models.causal.load_causal", no_model)
    (call,) = [cell for cell in code_cells(BOOK / f"{NAME}.ipynb") if cell.startswith("explore(")]
    fn, controls = eval(call, definitions() | {"explore": lambda fn, **controls: (fn, controls)})
    data = {"spec": spec_of(controls, "where", 20.0), "recording": record(fn, controls, positions(controls), True)}
    patch.undo()
    recorded = Recorded(data)
    frames = {(frame.at["text"], int(frame.at["theta"].split()[0])): frame for frame in recorded}
    assert list(frames) == PLACES
    return frames, data


def no_model(source):
    raise AssertionError(f"{source} is asked for what is recorded")


def definitions():
    """What the chapter defines: functions, classes, and constants that need no file."""
    known, kinds = {}, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    for cell in code_cells(BOOK / f"{NAME}.ipynb"):
        tree = ast.parse(cell)
        tree.body = [node for node in tree.body if isinstance(node, kinds) or is_constant(node)]
        exec(compile(tree, NAME, "exec"), known)
    return known


def is_constant(node):
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)


@pytest.fixture
def frame(shown):
    return lambda text, theta: shown[0][text, theta]


@pytest.fixture
def view(frame):
    return lambda text, theta: frame(text, theta).one("cuts")


def cuts_of(view, name):
    (found,) = [cut for cut in view["cuts"] if cut["name"] == name]
    return found["after"]


def at_paragraph_ends(view, name):
    """The share of a chunker's cuts that stand at the end of a paragraph."""
    after = cuts_of(view, name)
    return len({*after} & {*view["breaks"]}) / len(after)


# --- what the figure shows ---


def test_the_recording_is_small(shown):
    data = json.dumps(shown[1], ensure_ascii=False, separators=(",", ":"))
    assert len(gzip.compress(data.encode())) < 30_000
    assert "idle" not in shown[1]["recording"], "each control changes something everywhere"


@every_place
def test_every_sentence_has_its_end_but_where_there_is_nothing_to_choose(view, text, theta):
    shown = view(text, theta)
    assert 20 <= len(shown["sentences"]) <= 40
    alone = {first for first, last, _ in shown["tree"][0] if first == last}
    without = {number for number, end in enumerate(shown["ends"], 1) if end is None}
    assert without <= alone, "a sentence alone in its block, which stands alone as a parent"
    assert len(without) <= 2 or theta == 50
    assert [cut["name"] for cut in shown["cuts"]] == ["recursive", "paragraph", "semantic", "LumberChunker", "logits"]


@every_place
def test_a_cut_of_the_model_is_the_highest_end_of_its_block(shown, text, theta):
    known, model = definitions(), s2b.causal_model()
    part = known["passage"](text)
    blocks = s2b.logits_blocks(part.text, model, theta)
    kept = cuts.kept_probabilities(blocks)
    for block in blocks:
        if block.probabilities:
            assert kept[block.cut] == max(block.probabilities)
            assert all(kept[end] <= kept[block.cut] for end in block.ends if end <= block.cut)
    sentences = cuts.cut_views(part, model, blocks, s2b.lgmgc(part, model, theta), {})[1].sentences
    ends = shown[0][text, theta].one("cuts")["ends"]
    assert model.passes == 0 and len(ends) == len(sentences)
    for sentence, end in zip(sentences, ends, strict=True):
        if sentence.end in kept:
            assert end[0] == cuts.CutPoints("a", [Span(0, 1)], [kept[sentence.end]], {}).frame()["ends"][0][0]


@every_place
def test_the_tree_has_the_chunks_of_the_model_as_parents_and_smaller_pieces_in_them(view, frame, text, theta):
    shown = view(text, theta)
    parents, halves, quarters = shown["tree"]
    assert [last for _, last, _ in parents[:-1]] == cuts_of(shown, "logits")
    for level, most in ((parents, theta), (halves, theta // 2), (quarters, theta // 4)):
        assert all(words <= most or first == last for first, last, words in level)
    for piece in halves + quarters:
        assert sum(parent[0] <= piece[0] and piece[1] <= parent[1] for parent in parents) == 1
    numbers = [int(number) for number in re.findall(r"\d+", frame(text, theta).note)]
    words = [parent[2] for parent in parents]
    smaller = len(halves) + len(quarters)
    assert numbers[0] == len(shown["sentences"]) and numbers[2:] == [
        len(parents), min(words), max(words), smaller, len(parents) + smaller
    ]  # fmt: skip


# --- what to see ---


@every_place
def test_from_100_words_on_the_model_has_some_sense_of_an_end_and_a_blank_line_has_more(view, text, theta):
    shown = view(text, theta)
    chance, found = len(shown["breaks"]) / (len(shown["sentences"]) - 1), at_paragraph_ends(shown, "logits")
    assert found > chance if theta >= 100 else found < chance + 0.03
    assert at_paragraph_ends(shown, "recursive") > found


def test_a_larger_theta_is_only_a_limit(view):
    middle = [median(words for _, _, words in view(text, 300)["tree"][0]) for text in TEXTS]
    assert middle == [40, 111, 62]
    said = re.search(r"has (\d+) words in the English policy, (\d+) in the Chinese one and (\d+) in Einstein", PROSE)
    assert [int(number) for number in said.groups()] == middle
    firsts = {theta: {cuts_of(view(text, theta), "logits")[0] for text in TEXTS} for theta in THETAS}
    assert firsts[100] == firsts[200] == firsts[300] == {3} and firsts[50] != {3}


@every_place
def test_at_most_half_of_the_semantic_cuts_stand_at_paragraph_ends_but_for_einstein_at_300(view, text, theta):
    found = at_paragraph_ends(view(text, theta), "semantic")
    assert found == pytest.approx(2 / 3) if (text, theta) == (EINSTEIN, 300) else found <= 0.5


@every_place
def test_lumber_needs_paragraphs_to_choose_from(view, text, theta):
    shown = view(text, theta)
    if theta >= 200:
        assert at_paragraph_ends(shown, "LumberChunker") == 1
    if (text, theta) == (EINSTEIN, 100):
        assert definitions()["lumber"](definitions()["passage"](text).text, theta).asked == 0
        assert cuts_of(shown, "LumberChunker") == cuts_of(shown, "recursive")


@every_place
def test_only_the_paragraph_chunker_cuts_elsewhere_and_that_behind_headings(view, text, theta):
    shown = view(text, theta)
    headings = sum(bool(re.match(r"#+ |\d\. ", sentence)) for sentence in shown["sentences"])
    elsewhere = {cut["name"]: cut["elsewhere"] for cut in shown["cuts"]}
    assert elsewhere.pop("paragraph") == headings >= 3 and set(elsewhere.values()) == {0}


def test_in_chinese_the_bars_are_shorter_by_several_powers_of_ten(view):
    for theta in THETAS:
        english, chinese = (median(end[1] for end in view(text, theta)["ends"] if end) for text in (POLICY, POLICY_ZH))
        assert english - chinese > 3 / 6


# --- the rest of the chapter ---


def test_the_success_finds_the_ends_of_the_preamble_and_both_sections(view):
    shown = view(POLICY, 200)
    sections = [n for n, (_, after) in enumerate(pairwise(shown["sentences"]), 1) if after.startswith("#")]
    assert sections == [3, 11, 21] and {*sections} <= {*cuts_of(shown, "logits")}
    table = definitions()["block_table"](POLICY, 200, 6)
    assert "Finance" not in table.rows[0][0] and table.rows[0][0].endswith("finance department.")
    assert [row[0][-12:] for row in table.rows if row[2]] == ["is employed."]


def test_the_failure_cuts_a_list_in_two_by_half_a_percentage_point(view):
    table = definitions()["block_table"](POLICY, 200, 5)
    (cut,) = [row for row in table.rows if row[2]]
    best, second = sorted((row[1] for row in table.rows), reverse=True)[:2]
    assert cut[1] == best < 0.05 and 0.004 < best - second < 0.006
    sentences = view(POLICY, 200)["sentences"]
    assert sentences[17].startswith("- Voucher") and sentences[18].startswith("- Finance")
    assert 18 in cuts_of(view(POLICY, 200), "logits")


@pytest.mark.parametrize("theta", THETAS)
def test_the_sentence_that_opens_section_1_is_a_parent_by_itself_at_every_size(view, theta):
    assert [4, 4, 25] in view(POLICY, theta)["tree"][0]


def test_a_small_model_names_hardly_a_turn():
    text = definitions()["passage"](POLICY).text
    found = s2b.lumber(text, s2b.recorded("lumber.smollm2.zero-shot.en"), 200, "word")
    assert len(found.unused) == found.asked - 1 == 3
    assert not [answer for answer in found.unused if "holds no answer" in answer]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_recorded_turns_are_answers_to_todays_rules_by_one_ranking(language):
    recording = s2b.recorded(f"lumber.authors.zero-shot.{language}")
    assert recording.prompt == rules_for(language)
    order = TopologicalSorter()
    for prompt, answer in recording.answers.items():
        paragraphs = [part[:25] for part in re.split(r"(?:^| )ID \d+: ", prompt)[1:]]
        if answer.startswith("ID "):
            best = int(answer.removeprefix("ID ")) - 1
            order.add(paragraphs[best], *(other for other in paragraphs[1:] if other != paragraphs[best]))
    order.prepare()  # CycleError where two answers contradict each other


def test_the_numbers_of_the_signal_are_those_that_were_measured():
    found = json.loads((BOOK.parent / "benchmarks/results/ends.json").read_text(encoding="utf-8"))
    prose = [area["prose"]["area"] for area in found["areas"].values()]
    low, high = re.search(r"In prose it is between (\d\.\d+) and (\d\.\d+)", PROSE).groups()
    assert (float(low), float(high)) == (round(min(prose), 2), round(max(prose), 2))
    fallen = re.search(r"it falls to (\d\.\d+) on the Python reference", PROSE)[1]
    assert float(fallen) == round(found["areas"]["python_docs"]["all"]["area"], 2)
    assert found["prompt"] in PROSE and "135M" in found["model"]
    frame = cuts.areas(found).frame()
    assert next(bar["y"] for bar in frame["data"]) == pytest.approx(prose, abs=0.001)


def test_at_the_edges():
    known = definitions()
    toy, edges = known["Toy"](), known["EDGES"]
    chunks = {name: [span.of(text) for span in s2b.logits(text, toy, 4)] for name, text in edges.items()}
    assert chunks["empty"] == []
    assert chunks["no sentence end"] == [span.of(edges["no sentence end"]) for span in
                                         s2b.recursive(edges["no sentence end"], 4, 0, "word")]  # fmt: skip
    assert len(chunks["sentences above θ"]) > 2
    assert not any(block.probabilities for text in edges.values() for block in s2b.logits_blocks(text, toy, 4))
    whole = s2b.document("d", edges["no sentence end"])
    (parent,) = [chunk for chunk in s2b.lgmgc(whole, toy, 4).indexed if chunk.parent_id is None]
    assert parent.text == whole.text


def test_a_model_that_cannot_end_says_what_the_chapter_says():
    # That it is raised, and when, is tested with the models.
    assert re.search(r"\*(has no end-of-sequence token[^*]*)\*", PROSE)[1] in inspect.getsource(s2b.EndModel)


# --- a text of the reader's own ---


class Even:
    """Every end is as likely as any other."""

    name = "even"

    def end_probabilities(self, text, places):
        return [0.25] * len(places)


@pytest.fixture
def own(monkeypatch, quick):
    known = definitions()
    monkeypatch.setattr(s2b, "causal_model", Even)
    monkeypatch.delenv("OPENAI_MODEL", raising=False)
    return known["where"]


TEXT = "Boil water. Steep the leaves.\n\nGrind beans. Pour slowly. Wait.\n\nBake bread. Eat it."


def test_a_text_of_ones_own_is_cut_and_who_could_not_be_asked_is_named(own):
    note, view = own(TEXT, 10)
    assert [span.of(TEXT) for span in view.sentences] == TEXT.replace("\n\n", " ").replace(". ", ".|").split("|")
    assert "LumberChunker: no answer is recorded for this text" in note.text and "LumberChunker" not in view.chunks
    assert {"recursive", "paragraph", "semantic", "logits"} == set(view.chunks)
    assert view.probabilities[0] == 0.25 and view.lang == "en" and view.title == TEXT[:60]


def test_a_text_that_is_one_paragraph_needs_no_answers(own):
    note, view = own("Boil water. Steep the leaves.", 100)
    assert "no answer" not in note.text and len(view.chunks["LumberChunker"]) == 1
    assert note.text.startswith("2 sentences, 5 words. LGMGC makes 1 parent of 5 words, with 0 smaller pieces")


@pytest.mark.parametrize(
    "text", ["烧水。泡茶。", "one two three", "# Only a heading", "a\r\n\r\nb", "😀 First. Second 😀."]
)
def test_hostile_texts_of_ones_own_are_drawn(own, text):
    _, view = own(text, 50)
    assert "".join(span.of(text) for span in view.sentences).strip() and view.frame()["kind"] == "cuts"
    assert view.lang == ("zh" if "烧" in text else "en")


def test_a_model_without_a_word_on_the_last_block_leaves_it_without_bars():
    class Silent(Even):
        def end_probabilities(self, text, places):
            raise s2b.ModelUnavailable("not installed")

    part = s2b.document("d", "One two. Three four.")
    blocks = s2b.logits_blocks(part.text, Silent(), 9)
    (block,) = blocks
    assert cuts.rest_of(part.text, blocks, Silent()) == {} and block.probabilities == ()
    assert cuts.rest_of(part.text, blocks, Even()) == {8: 0.25, 20: 0.25}
    assert cuts.rest_of("", [], Even()) == {}


def test_an_empty_document_has_nothing_to_cut():
    empty = s2b.document("d", "")
    note, view = cuts.cut_views(empty, Even(), [], s2b.lgmgc(empty, Even(), 9), {"none": []})
    assert note.text == "The text is empty: there is nothing to cut." and view.frame()["sentences"] == []
