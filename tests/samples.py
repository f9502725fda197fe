"""Texts, trees and hits that several tests of the core share."""

from hypothesis import strategies as st
from strategies import documents

from s2b_lab.core.build import sentence_tree
from s2b_lab.core.headings import document
from s2b_lab.core.hits import Hit

EN7 = (
    "Alpha one is here. Bravo two is here. Charlie three is here. Delta four is here. "
    "Echo five is here. Foxtrot six is here. Golf seven is here."
)
SECRET = (
    "# Travel\n\n## 1 Public\n\nOne is open. Two is open.\n\nThree is open.\n\n"
    "## 2 Annex\n\nFour is secret. Five is secret.\n\n## 3 After\n\nSix is open. Seven is open.\n"
)
POLICY = (
    "# Travel\n\nThis policy binds all staff.\n\n"
    "## 1 Invoices\n\nKeep every invoice. Ask for an original one.\n\nA copy is accepted once.\n\n"
    "## 2 Deadline\n\nFile within 30 days. If the system fails, log a ticket. The clock stops then.\n"
)
WORDS = "tea coffee train plane hotel ticket receipt claim invoice deadline system manager budget currency".split()
LINES = [
    "", "", " ", "# Title", "## 2 Part", "3 Title", "3.2 Title", "1. Apples", "2. Pears.", "一、总则",
    "（一）目的", "第一条 完。", "```", "~~~", "````python", "| a. B | c |", "|---|---|", "a | b",
    "--- | ---", "---", "====", "- item. Two", "(1) x", "①甲。乙", "Mr. Hill left. He",
    "said “no.” Then", "it was 3.14. Good", "今天下雨。明天晴", "他说：“好！”我说……", "etc. The", "J. K.",
    "e\u0301a. \u0301", "👩‍👩‍👧. 🇫🇷🇩🇪！", "- ", "-", "*", "#", "\ufeff# T", "1.", "\u3000缩进。", "A.",
    '他说。"好。"**对。**', "Title", "~~~~~~",
]  # fmt: skip
structured = st.lists(st.sampled_from(LINES), max_size=14).map("\n".join)
loose = st.text(
    st.sampled_from(
        [*" \n\n\t.!?…。！？；，,:\"'”“’」「)(*_`#|-~=123一、章第条AbcTXé今天好\u0301\u200d\u3000\ufeff", "👩", "🇫"]
    ),
    max_size=60,
)
any_text = st.one_of(structured, loose, st.text(max_size=60))
scenes = st.tuples(
    documents(("public", "finance", "hr")),
    st.sets(st.sampled_from(["public", "finance", "hr"])),
    st.integers(0, 4),
    st.sampled_from(["section", "paragraph", None]),
    st.booleans(),
    st.randoms(use_true_random=False),
)


def tree_of(text, id="d", **options):
    return sentence_tree(document(id, text, **options))


def sentences_of(*texts):
    return " ".join(f"{text.capitalize()}." for text in texts)


def ids(hits):
    return [hit.chunk.id for hit in hits]


def texts(hits):
    return [hit.chunk.text for hit in hits]


def hit_list(chunks, scores=None):
    scores = scores or [1 - n / 100 for n in range(len(chunks))]
    return [Hit(chunk, score, rank) for rank, (chunk, score) in enumerate(zip(chunks, scores, strict=True), 1)]


def en7(*places):
    tree = sentence_tree(document("en7", EN7))
    return tree, hit_list([tree.indexed[place] for place in places])


def secret_tree():
    return sentence_tree(document("travel-en", SECRET, section_access={2: "finance"}))


def by_text(tree, *starts):
    return [next(c for c in tree.indexed if c.text.startswith(start)) for start in starts]


def texts_of(contexts):
    return [context.text for context in contexts]


def some_hits(tree, random):
    chosen = [c for c in tree.indexed if random.random() < 0.4]
    random.shuffle(chosen)
    return hit_list(chosen + chosen[:2], [random.choice([0.2, 0.5, 0.9]) for _ in chosen + chosen[:2]])


def solid(text):
    return [i for i, character in enumerate(text) if not character.isspace()]
