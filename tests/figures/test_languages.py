"""Chinese among English words says that it is Chinese."""

import re
from html import escape, unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2b_lab.core.characters import language_of
from s2b_lab.figures.languages import with_languages
from s2b_lab.figures.page import alone
from s2b_lab.figures.views import Note, Table, frame_of

SPAN = re.compile(r'<span lang="zh">(.*?)</span>', re.DOTALL)


def chinese(text):
    return [unescape(run) for run in SPAN.findall(with_languages(text))]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("no Chinese at all.", []),
        ("系统坏了,出差回来超过 30 天还能提交吗?", ["系统坏了,出差回来超过 30 天还能提交吗?"]),
        ("“谁来审批？” (recorded by a model)", ["谁来审批？"]),
        ("rank 3: 出差。 then 报销 and more", ["出差。", "报销"]),
        ("《出差管理》 by hand", ["出差管理》"]),
        ("𠮷野家", ["𠮷野家"]),
    ],
)
def test_runs_reach_from_the_first_character_to_the_last(text, runs):
    assert chinese(text) == runs


@given(st.text("ab出差𠮷。，“”1 .<&\n", max_size=30))
def test_no_text_changes_and_every_chinese_character_has_its_language(text):
    html = with_languages(text)
    assert SPAN.sub(r"\1", html) == escape(text)
    assert language_of(SPAN.sub("", html)) == "en"
    assert bool(SPAN.search(html)) == (language_of(text) == "zh")
    assert all(not re.search("[ab]", run) for run in chinese(text))


def test_views_without_a_script_say_it():
    html = alone(frame_of(Table(["question 问"], [["出差"]], caption="报销"))[0])
    assert SPAN.findall(html) == ["报销", "问", "出差"]
    assert SPAN.findall(alone(frame_of(Note("3 of 3 in 出差"))[0])) == ["出差"]
