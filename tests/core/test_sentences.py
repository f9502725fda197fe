"""Sentences and paragraphs, in Chinese and English."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from samples import any_text
from speed import in_proportion

from s2b_lab.core.blocks import paragraphs
from s2b_lab.core.characters import is_blank
from s2b_lab.core.front_matter import front_matter
from s2b_lab.core.headings import document, sections
from s2b_lab.core.sentences import sentences
from s2b_lab.core.text import Span

EN7 = (
    "Alpha one is here. Bravo two is here. Charlie three is here. Delta four is here. Echo five is here. "
    "Foxtrot six is here. Golf seven is here."
)


def pieces(spans, text):
    return [span.of(text) for span in spans]


CASES = {
    "C3 second occurrence": "A.\n|Same.\n|B.\n|Same.",
    "C6": "Alpha one here. |Bravo two here.",
    "C7": "Yes. |No. |Yes. |No.",
    "EN7": EN7.replace(". ", ". |"),
    "D1": "今天下雨。|我们在家。|明天会晴吗？|会的！",
    "D2": "今天下雨了我们在家。|明天会晴吗我们出门。",
    "D3 source": "今天下雨我们在家。|" * 29 + "今天下雨我们在家。",
    "D4": 'Dr. Lane paid $3.50 e.g. for tea. |He left at 5 p.m. today. |"Stop!" she said.',
    "D6": "见 v1.2.3 与 a@b.com。|圆周率3.14。|See x.io/y.html now. |好",
    "D8 lf": "A.\n\n|B.\n\n|C.",
    "D8 crlf": "A.\r\n\r\n|B.\r\n\r\n|C.",
    "D8 cr": "A.\r\r|B.\r\r|C.",
    "D10": "s1.s2.s3.",
    "D12 one": "One.",
    "D12 two": "One. |Two.",
}
ENGLISH = {
    "titles": "Mr. and Mrs. Hill met Prof. Wu. |They left.",
    "title at a line end": "He met Dr.\nLane there. |They left.",
    "initials": "J. K. Rowling wrote it. |A. Einstein did not.",
    "middle initial": "It was George W. Bush who came. |Then he left.",
    "initials after a word": "The paper by A. Einstein is short. |It is good.",
    "hyphenated initials": "Ask J.-P. Sartre about it. |He knows.",
    "letter ends a sentence": "We need plan B. |Everyone agrees.",
    "letter and starter": "Take vitamin C. |It helps.",
    "the pronoun I": "He is as tall as I. |Nobody knew.",
    "i.e. and cf.": "The core, i.e. The middle, cf. Figure 2, is hot. |Beware.",
    "e.g. before a capital": "Some cities, e.g. Paris, are old. |Some are not.",
    "etc. inside": "Bring pens, paper, etc. to class. |Thanks.",
    "etc. at the end": "Bring pens, paper, etc. |Thanks.",
    "vs.": "It was Spain vs. Italy again. |Spain won.",
    "numbered things": "See Fig. 3 and No. 5, p. 12, Sec. IV, Eq. (2). |Then stop.",
    "the answer no": "Did he? |No. |He did not.",
    "no. before I": "No. |I did not.",
    "time and a new sentence": "It opens at 9 a.m. |Bring water.",
    "time goes on": "It opens at 9 a.m. on Mondays. |Bring water.",
    "country goes on": "The U.S. Army came. |It left.",
    "country ends": "He lives in the U.S. |The house is big.",
    "company goes on": "Acme Inc. Chairman Lee spoke. |All left.",
    "company ends": "He works for Acme Inc. |The pay is good.",
    "street": "On Main St. Louis met us. |We left.",
    "month": "It was on Jan. 5 at noon. |We came.",
    "decimals and versions": "Pay 3.50 for v2.10.1 now. |Good.",
    "sentence ends with a number": "There are 42. |Good.",
    "sentence ends with a year": "He came in 2019. |Then he left.",
    "urls": "Read https://a.example/b?c=d.e!f and x.io/q.html. |Then write to a.b@c.org. |Thanks.",
    "dotted names": "Call os.path.join() or obj.run now. |Fine.",
    "apostrophes": "It's the dogs' bowl. |Don't touch.",
    "exclamations": "Wow!!! |Really?! |Yes.",
    "quoted question goes on": '"Why?" he asked. |"Because." |Silence.',
    "closing quote and bracket": "(It rained.) |He said “no.” |She said 'yes.' |End.",
    "question in quotes ends": "Did he say “go”? |Yes.",
    "dots go on": "Well... maybe. |Wait... |No.",
    "spaced dots": "Well . . . maybe so. |No.",
    "single ellipsis sign": "Well… maybe. |Wait… |No.",
    "before a lower-case letter": "The file end. with dots. ok. |Ok",
    "lower case beyond ASCII": "Das ist z.B. über. émigré too. |Ende.",
    "footnote mark": "He held a patent.[1][12] |It was his.",
    "bold and code": "This is **important.** |Next one. |Use `x.` |Done.",
    "wrapped line": "This sentence goes\non here. |And this\none too.",
    "wrapped at a number": "There were about\n12. |More came\n3) later.",
    "list marker": "1. Submit the claim. |2. Wait.",
    "inline list": "Steps: 1. Submit the claim. |2. Wait.",
    "total": "The total is this: 15. |Then stop.",
    "deep list marker": "2.1. Submit the claim. |It is 2.1. |Good.",
    "letter marker": "a. First thing. |Second thing.",
    "no space after": "One.Two.",
    "dash after": "One.—Two.",
    "tab and wide spaces": "One.\t|Two.\u00a0|Three.\u2003|Four.",
    "text of a section": "Section 1. All powers are vested here. |Article 2. None. |See Section 3. |Then stop.",
    "other scripts": "Das Auto fährt. |Été. |Да. |Нет! |Ё моё.",
}
CHINESE = {
    "semicolon": "第一，要快；|第二，要准。",
    "dots": "他走了……|我们没走。",
    "dots inside": "他说……，然后走了。|好。",
    "one ellipsis sign": "等等…|好。",
    "closing quotes": "他问：“会吗？”|我说：「会。」|『好！』|《走。》|（完。）|[好。]|结束",
    "quote goes on": "“会吗？”，他问。|好。",
    "quote and dash": "他说“好。”|然后走了。",
    "several marks": "真的吗？！|不会吧？？？|好！！！",
    "mark after a closing quote": "真的“会吗？”！|好。",
    "ascii marks before Chinese": "他用 Python.|很好!|真的?|是",
    "straight quotes": '他说。|"好。"|我说。|"不好。"|结束',
    "bold": "今天下雨。|**明天**会晴。|**真的。**|好。",
    "latin after": "好。|Then we go. |再见。",
    "space after": "今天下雨。 |明天会晴。\u3000|好。",
    "wrapped line": "今天下雨，\n我们在家。|\n明天会晴。",
    "numbers": "圆周率是3.14，版本是2.0。|３．１４也是。|好",
    "halfwidth stop": "はい｡|いいえ｡",
    "full-width ascii stop": "である．|次に進む．",
    "japanese": "今日は雨です。|「本当？」|はい！",
    "korean": "비가 옵니다. |집에 있어요. |좋아요!",
    "colon and comma": "他说：好，走，再见。|好",
    "no mark": "今天下雨",
    "H1 brackets": "费用（含餐费、交通费等；不含住宿费）由公司承担。",
    "H1 title": "他在《中国需要什么样的教育？》一文中提出了这一观点。",
    "H1 quotation": "系统提示“操作成功！”后，用户可以关闭窗口。",
    "H1 brackets of their own": "（注：本条不适用于外包人员。）|其他人员照此办理。",
    "stop in brackets": "该条款（详见附件一。）自今日起施行。|完。",
    "brackets and a stop": "他来了（很晚。）。|然后走了。",
    "title in brackets": "他来了（见《走。》）。|然后走了。",
    "ascii brackets": "费用(含餐费；不含住宿费)由公司承担。|完。",
    "other brackets": "费用【含餐费；不含住宿费】由公司〔另行通知！〕承担。|完。",
    "brackets in brackets": "费用（含餐费（早餐；午餐）；不含住宿费）由公司承担。|完。",
    "brackets first and no stop in them": "（如适用；否则略）费用由公司承担。|完。",
    "sentences in brackets of their own": "好。|（甲。|乙。）|丙。",
    "title first": "《中国需要什么样的教育？》一文提出了观点。|完。",
    "title in English": "请读《What is AI?》一文。|好。",
    "two titles": "他读了《甲。》、《乙！》两本书。|完。",
    "straight quotes in a phrase": '系统提示"操作成功！"后，用户可以关闭窗口。|完。',
    "corner quotes in a phrase": "我不懂「为什么？」这个问题。|完。",
    "a shout inside": "他大喊“救命！”然后跑了。|完。",
    "a phrase after a stop": "系统提示：“操作成功。”后，用户可以关闭窗口。|完。",
    "semicolon in a quotation": "规定：“应当提前申请；未经批准不得出差”。|完。",
    "said, going on": "“会吗？”他问，声音很低。|完。",
    "several sentences in a quotation": "他说：“今天下雨。|我们在家。”|然后睡了。",
    "never closed": "（未闭合。|乙。|“丙。|丁。",
    "closed twice": "甲；|乙）。|丙》。|丁。",
    "crossed": "他（说“甲）。|乙”。|丙。",
    "far apart": "（" + "甲。|" * 200 + "乙）丙。",
    "curly quotes in English": "He said “Stop! |Go.” |Then he left. |（注。）|完",
}


ALL_CASES = (
    CASES | {f"en {key}": case for key, case in ENGLISH.items()} | {f"zh {key}": case for key, case in CHINESE.items()}
)


@pytest.mark.parametrize("marked", ALL_CASES.values(), ids=ALL_CASES)
def test_sentences(marked):
    text = marked.replace("|", "")
    assert pieces(sentences(text), text) == [part.strip() for part in marked.split("|")]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\r\n \t\r\n", "\u3000\u00a0\u2028"], ids=repr)
def test_blank_text_has_no_parts(text):
    assert sentences(text) == paragraphs(text) == sections(text) == []


def test_second_occurrence_has_its_own_span():
    assert sentences("A.\nSame.\nB.\nSame.") == [Span(0, 2), Span(3, 8), Span(9, 11), Span(12, 17)]


LISTS = {
    "dashes": "We need:\n|- a pen\n|- paper and\n  ink\n|* tea\n|+ milk",
    "bullets": "• a pen\n|•ink\n|◦ tea",
    "numbers": "We need:\n|1. a pen\n|2. ink\n|10) tea",
    "brackets": "We need:\n|(1) a pen\n|(2) ink\n|(a) tea",
    "indented": "We need:\n|  - a pen\n|  - ink",
    "circled": "需要：\n|①发票\n|②车票",
    "chinese brackets": "需要：\n|（1）发票\n|（2）车票",
    "chinese numbers": "需要：\n|一、发票\n|二、车票",
    "several sentences": "- Go. |Stay.\n|- Wait",
    "not a list": "The range is -5 to\n-3 and costs\n12. |Fine",
}


@pytest.mark.parametrize("marked", LISTS.values(), ids=LISTS)
def test_list_items_start_a_sentence_but_no_paragraph(marked):
    text = marked.replace("|", "")
    assert pieces(sentences(text), text) == [part.strip() for part in marked.split("|")]
    assert pieces(paragraphs(text), text) == [text]


PARAGRAPHS = {
    "blank lines": "One.\nStill one.\n\n¶Two.\n \t\n\n¶Three.",
    "ideographic space": "一。\n\u3000\n¶二。",
    "indentation": "   One.\n\n¶   Two.   \n",
    "heading": "One.\n¶# Two\n¶Three.",
    "fence": "One.\n¶```python\nx = 1. \n\n# no heading. Nor this!\n```\n¶Two.",
    "tilde fence": "One.\n¶~~~\n```\n\nA. B!\n~~~~\n¶Two.",
    "longer fence": "````\n```\n\n````\n¶Two.",
    "indented fence": "- item\n¶  ```\n  a. B\n\n  ```\n¶Two.",
    "unclosed fence": "One.\n¶```\nTwo. Three.\n\n# Four",
    "place in a traceback is no fence": "A. B.\n\n¶      >>> x\n      ~~~~~^^^^\n      ValueError\n\n¶One. Two.",
    "mark in an example is no fence": "A.\n\n¶      x\n      ```\n      y\n\n¶One. Two.",
    "fence in an example": "A.\n\n¶      ```\n      x. Y\n      ```\n\n¶One. Two.",
    "longer mark in an example before a fence": "      `````\n\n¶      ```\n      x. Y\n      ```\n\n¶One. Two.",
    "fence of another kind does not close": "```\n~~~\n\nA.",
    "code in a line is no fence": "``` is a mark ``` in text.\n\n¶Two.",
    "table": "One:\n¶| a. B | c |\n|---|---|\n| 1. X | 2 |\n¶Two.",
    "table without outer bars": "One:\n¶a. B | c\n--- | ---\n1. X | 2\n¶Two.",
    "grid table": "+---+---+\n| a. B | c |\n+===+===+\n| 1 | 2 |\n+---+---+\n\n¶Two.",
    "rule under text": "Some text. More of it.\n---\nstill.",
    "H23 full-width blanks": "　　张三昨天去了北京。他住在酒店。\n¶　　李四今天去了上海。\n¶　　王五没有出差。",
    "full-width blanks below a line": "关于出差的通知\n¶　　各部门：\n¶　　请照此办理。",
    "full-width blanks before every line": "　　张三昨天去了\n　　北京。",
    "one full-width blank": "张三。\n　李四。",
    "full-width blanks in a line": "张三。　　李四。",
    "comment": "One.\n¶<!--\n\nx. y\n# no heading\n-->\n¶Two.",
    "element without Markdown": "One.\n¶<pre>\nx. y\n\n# z\n</pre> and more\n¶Two.",
    "fence closed too far right": "```\nx\n    ```\n\n# y\n```\n¶Two.",
    "contents": "目录\n第一章 总则 ........ 1\n第二章 出差 ........ 3",
}


@pytest.mark.parametrize("marked", PARAGRAPHS.values(), ids=PARAGRAPHS)
def test_paragraphs(marked):
    text = marked.replace("¶", "")
    assert pieces(paragraphs(text), text) == [part.strip() for part in marked.split("¶")]


@pytest.mark.parametrize(
    "block",
    [
        "```\nA b. C d.\n\nE f!\n```",
        "~~~ text\nA b. C d.\n~~~",
        "| A b. C d. | E? F |\n|---|---|\n| x. Y | z |",
        "A b. C | d\n-----|----\nx. Y | z",
        "# What? A title. Yes!",
        "What? A title\n=============",
    ],
)
def test_an_opaque_block_is_one_paragraph_and_one_sentence(block):
    text = f"Before it. Here.\n\n{block}\n\nAfter it. There."
    assert pieces(paragraphs(text), text) == ["Before it. Here.", block, "After it. There."]
    assert pieces(sentences(text), text) == ["Before it.", "Here.", block, "After it.", "There."]


@pytest.mark.parametrize("unseen", ["\ufeff", "\u200b", "\0\0", "\u200d \u2060"], ids=ascii)
def test_what_cannot_be_seen_is_no_sentence_and_no_paragraph(unseen):
    for cut in (sections, paragraphs, sentences):
        assert cut(unseen) == cut(f"\n{unseen}\n") == []
        assert not any(is_blank(piece) for piece in pieces(cut(f"A.\n\n{unseen}\n\n# B"), f"A.\n\n{unseen}\n\n# B"))
    text = f"Hello. {unseen}\n\n{unseen}\n- Bye."
    assert pieces(sentences(text), text) == pieces(paragraphs(text), text) == [f"Hello. {unseen}", "- Bye."]
    titled = document("d", f"{unseen}\n\n# Title\nx")
    assert (titled.title, len(titled.sections)) == ("Title", 1)


@given(any_text)
@example('。"\u3000好。" ')
@example("\ufeff\n")
def test_sentences_cover_everything_but_white_space_once_and_in_order(text):
    spans = sentences(text)
    place = front_matter(text.replace("\r\n", " \n").replace("\r", "\n"))
    for span in spans:
        assert is_blank(text, place, span.start)
        assert place <= span.start < span.end
        assert span.of(text) == span.of(text).strip()
        assert not is_blank(span.of(text))
        place = span.end
    assert is_blank(text, place)


@given(any_text)
def test_sentences_lie_in_paragraphs_and_paragraphs_in_sections(text):
    whole, blocks, parts = sections(text), paragraphs(text), sentences(text)
    assert all(any(block.contains(part) for block in blocks) for part in parts)
    assert all(any(section.contains(block) for section in whole) for block in blocks)
    assert all(block.of(text) == block.of(text).strip() != "" for block in blocks)
    assert all(left.end <= right.start for left, right in pairwise(blocks))


@given(any_text.filter(lambda text: "\r" not in text), st.sampled_from(["\r\n", "\r"]))
@pytest.mark.parametrize("cut", [sentences, paragraphs, sections])
def test_the_kind_of_newline_changes_nothing(cut, text, newline):
    other = text.replace("\n", newline)
    assert [part.replace(newline, "\n") for part in pieces(cut(other), other)] == pieces(cut(text), text)


@given(
    st.lists(
        st.sampled_from(["Alpha beta gamma. ", "今天下雨。", "“Is it?” ", "（完。）", "Dr. Lane paid 3.50. "]),
        max_size=9,
    )
)
def test_sentences_of_a_text_are_those_of_its_parts(parts):
    text = "".join(parts)
    assert pieces(sentences(text), text) == [part.strip() for part in parts]


# --- the fast splitter beside a slow one -----------------------------------------------------------------------------

SOFT, HARD, SHUT = ".!?…", "。！？；", "”’」』）)"


def slow_sentences(text):
    """Follow the rules one character at a time, for one paragraph without abbreviations, initials and list marks."""
    found, start, i = [], 0, 0
    while i < len(text):
        stop, hard = slow_end(text, i)
        after = stop + len(text[stop:]) - len(text[stop:].lstrip())
        if stop and after < len(text) and slow_new(text, hard, stop, after) and not slow_held(text, start, i):
            found.append(text[start:stop].strip())
            start = i = after
        else:
            i = max(i + 1, stop)
    rest = text[start:].strip()
    return found + [rest] * bool(rest)


def slow_end(text, i):
    """Where the marks that begin at i end, closing quotes included (0: no sentence ends), and if they always do."""
    if text[i] not in SOFT + HARD or (i and text[i - 1] in SOFT + HARD):
        return 0, False
    run = i
    while run < len(text) and text[run] in SOFT + HARD:
        run += 1
    hard = any(mark in HARD for mark in text[i:run]) or text[i:run].startswith("……")
    stop = run
    while stop < len(text) and text[stop] in SHUT + (SOFT + HARD if hard else SOFT):
        stop += 1
    if hard or stop == len(text):
        return stop, hard
    free = text[stop].isspace() or text[stop] in "“「（" or "\u4e00" <= text[stop] <= "\u9fff"
    return (stop if free else 0), False


def slow_new(text, hard, stop, after):
    if after == stop and text[after] in "，,：:":
        return False
    return hard or not (text[after].islower() or text[after] in ".!?…,;:)”’")


PAIRS = {"“": "”", "「": "」", "『": "』", "（": "）", "(": ")"}


def slow_pairs(text):
    """Every bracket with the one that closes it: none between them that is closed outside."""
    waiting, found = [], []
    for at, character in enumerate(text):
        if character in PAIRS:
            waiting.append(at)
        while waiting and character in PAIRS.values() and any(PAIRS[text[n]] == character for n in waiting):
            begin = waiting.pop()
            if PAIRS[text[begin]] == character:
                found.append((begin, at))
                break
    return found


def slow_held(text, start, mark):
    """Does the mark stand in brackets or a quotation after which the sentence goes on? Of the pairs in this test."""
    for begin, close in slow_pairs(text):
        tail, after = close, close + 1
        while tail > begin + 1 and text[tail - 1] in SOFT + HARD + SHUT:
            tail -= 1
        while after < len(text) and text[after] in SHUT:
            after += 1
        ended = any(character in SOFT + HARD for character in text[tail:close])
        tail = tail if ended else close
        follower, lead = text[after : after + 1], text[begin - 1 : begin]
        stops = not follower or follower.isspace() or follower in SOFT + HARD
        if not begin < mark < close or (ended and (begin <= start or (stops and mark >= tail))):
            continue
        if text[begin] in "（(":
            if text[begin] == "（" or is_wide(lead) or is_wide(follower):
                return True
        elif not ended:
            if is_wide(follower) or is_wide(lead):
                return True
        elif not stops and is_wide(follower) and lead.isalnum() and text[tail] not in "。；.":
            return True
    return False


def is_wide(character):
    return bool(character) and ("\u2e80" <= character <= "\u9fff" or "\uff01" <= character <= "\uff60")


words = st.sampled_from(
    ["alpha", "Beta", "Gamma-x", "今天", "说", "3.14", "x.io", "élan", "don't", "“", "「", "（", "("]
)
marks = st.sampled_from([*SOFT, *HARD, *SHUT, " ", " ", ". ", "。", "，", ", ", "……", "?! ", ".” ", "。」"])
plain = st.lists(st.one_of(words, marks), max_size=24).map("".join)


@given(plain)
@example("会吗？！”，好。")
@example(".。」。alpha")
def test_fast_and_slow_splitter_agree(text):
    text = "Start，" + text  # the comma tells a Chinese text
    assert pieces(sentences(text), text) == slow_sentences(text)


# --- speed grows with the text, whatever the text --------------------------------------------------------------------

HOSTILE = [
    " ", ".", "!", "。", '"', "'", "”", "#", "|", "\n", "\r", "\r\n", "a", "…", "-", "=", "~", "`",
    "1", "一", "第", "(", "[", ". ", ".)", ".) ", '."', '。"', '。"好', "。**", "a. ", "A. ", "Mr.\n",
    "Mr. ", "1. ", "1.\n", "1. A\n\n", "1 A b\n", "1.2", "3. A\n", "# a\n", "```\n", "``` `\n",
    "~~~~\n", "a\n~~~~\n", "---\n", "a\n---\n", "-|-\n", "a|b\n-|-\n", "| a\n", "|\n\n", "- ",
    "- a\n", "一、\n", "一、甲\n", "第一条 甲\n", "第一条\n\n", " \n", "\t\n ", "\u3000", ". \n", "[1]", ".[1]",
    "...a", ".\u0301", "e.g. ", "U.S. ", "\ufeff",
    "（", "（。）", "《。》好", "“！”好", "）", "《（“", '好"。', "（甲；乙）丙，", "第一章\n", "第一章 甲 1\n",
    "目录\n第一章 甲\n", "Article 1\nA\n\n", "Article 1. A b.\n", "I. A\n\n", "1. A\nB.\n", "1. A\n\nB.\n\n",
    "1.1 A\n\n", "<!--\n", "<!-- -->\n", "　　甲\n", "---\na: b\n", " # a\n", "A\n***\n",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE, ids=repr)
@pytest.mark.parametrize("lead", ["", "a", "Title\n"], ids=["", "letter", "line"])
def test_time_grows_in_proportion_to_a_hostile_text(unit, lead):
    small = lead + unit * (5_000 // len(unit)) + "x"
    large = lead + unit * (40_000 // len(unit)) + "x"

    def both(text):
        sentences(text)
        sections(text)

    # 8 times the text: 8 times the time if linear, 64 times if quadratic; 20 ms of grace for a busy machine
    assert in_proportion(both, small, large, 24)


@pytest.mark.parametrize(
    ("lead", "unit"), [("", "Mr.\n"), ("A b c.\nd e\n", "---\n")], ids=["abbreviation", "underline"]
)
def test_looking_back_stops_early(lead, unit):
    small, large = lead + unit * 25_000, lead + unit * 200_000
    assert in_proportion(sentences, small, large, 14)


def test_dots_that_lead_to_a_page_end_no_sentence():
    assert pieces(sentences("Introduction ........ 3"), "Introduction ........ 3") == ["Introduction ........ 3"]
    assert pieces(sentences("And so on.... 5 people came."), "And so on.... 5 people came.") == [
        "And so on....",
        "5 people came.",
    ]
