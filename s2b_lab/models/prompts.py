"""The rules and examples under which a model rewrites questions, in two languages."""

from __future__ import annotations

from typing import Literal

from ..core.checks import check_choice

Prompt = Literal["few-shot", "zero-shot"]
Language = Literal["en", "zh"]
_FORMS = {"en": ("Examples:", ": "), "zh": ("示例：", "：")}
_LABELS = {
    ("step back", "en"): ("Question", "General question"),
    ("step back", "zh"): ("问题", "退一步的问题"),
    ("hyde", "en"): ("Question", "Passage"),
    ("hyde", "zh"): ("问题", "段落"),
    ("questions", "en"): ("Passage", "Questions"),
    ("questions", "zh"): ("段落", "问题"),
}
_RULES = {
    ("step back", "en"): (
        "You help a search engine. Rewrite the question as one more general question about the subject that its answer "
        "belongs to. Keep the main name or topic, and leave out dates, numbers and narrow details. Do not answer the "
        "question. Write the general question alone, on one line."
    ),
    ("step back", "zh"): (
        "你在为搜索引擎改写问题。请把问题改写成一个更概括的问题，询问答案所属的主题。保留主要的人名或主题，"
        "去掉日期、数字和琐碎的细节。不要回答问题。只写出概括后的问题，写成一行。"
    ),
    ("hyde", "en"): (
        "You help a search engine. Write a passage of two or three sentences that could stand in a reference text and "
        "answers the question. Word it as such a text would, without mentioning the question. Where you do not know a "
        "detail, make up a plausible one: the passage is only compared with real texts. Write the passage alone."
    ),
    ("hyde", "zh"): (
        "你在为搜索引擎服务。请写一段两三句话的文字，像是出自一份正式资料，并且能回答这个问题。用资料的口吻来写，"
        "不要提到问题本身。不清楚的细节可以合理虚构：这段文字只用来和真实资料比较。只写出这段文字。"
    ),
    ("questions", "en"): (
        "You help a search engine. Write {n} different questions that the passage answers, as people who have not read "
        "it would ask them. Name the subject in every question; do not speak of the passage. Write the questions "
        "alone, in the language of the passage, one on each line."
    ),
    ("questions", "zh"): (
        "你在为搜索引擎服务。请写出这段文字能够回答的 {n} 个不同的问题，就像没有读过它的人会问的那样。"
        "每个问题都要写明主题，不要提到“这段文字”。只写出问题，使用这段文字的语言，每行一个。"
    ),
}
_EXAMPLES = {
    # The first example is that of the paper on step-back prompting; the others are our own.
    ("step back", "en"): (
        (
            "Which team did Thierry Audel play for from 2007 to 2008?",
            "Which teams did Thierry Audel play for in his career?",
        ),
        ("Can I bring back a kettle after 20 days if the box is open?", "What are the rules for returning goods?"),
        ("In which month of 1928 did Fleming notice the mould in his dish?", "How did Fleming discover penicillin?"),
    ),
    ("step back", "zh"): (
        ("蒂埃里·奥代尔 2007 年至 2008 年效力于哪支球队？", "蒂埃里·奥代尔在职业生涯中效力过哪些球队？"),
        ("电水壶拆封 20 天后还能退吗？", "商品退货有哪些规定？"),
        ("弗莱明是 1928 年几月在培养皿里发现霉菌的？", "弗莱明是怎样发现青霉素的？"),
    ),
    ("hyde", "en"): (
        (
            "How long may I keep a library book?",
            "Books are lent for four weeks. A loan can be extended twice by two weeks, unless another reader has "
            "reserved the book.",
        ),
        (
            "Why does bread dough rise?",
            "Yeast turns the sugars in the dough into alcohol and carbon dioxide. The gas is held by the gluten, so "
            "that the dough expands.",
        ),
    ),
    ("hyde", "zh"): (
        ("图书馆的书可以借多久？", "图书借期为四周。没有其他读者预约的，可以续借两次，每次两周。"),
        ("面团为什么会发起来？", "酵母把面团中的糖转化为酒精和二氧化碳。气体被面筋包住，面团因此膨胀。"),
    ),
    ("questions", "en"): (
        (
            "Books are lent for four weeks. A loan can be extended twice, unless another reader has reserved the book.",
            "How long can a book be borrowed from the library?\nHow often can a library loan be extended?",
        ),
        (
            "Yeast turns the sugars in the dough into alcohol and carbon dioxide, and the gas makes it expand.",
            "Why does bread dough rise?\nWhat does yeast turn sugar into?",
        ),
    ),
    ("questions", "zh"): (
        ("图书借期为四周。没有其他读者预约的，可以续借两次。", "图书馆的书可以借多久？\n图书最多可以续借几次？"),
        ("酵母把面团中的糖转化为酒精和二氧化碳，气体使面团膨胀。", "面团为什么会发起来？\n酵母把糖变成什么？"),
    ),
}


def instructions(lever: Literal["step back", "hyde", "questions"], prompt: Prompt, language: Language) -> str:
    """Write the rules of a lever, with examples or without ("zero-shot"), in the language of the texts."""
    check_choice("prompt", prompt, ("few-shot", "zero-shot"))
    check_choice("language", language, ("en", "zh"))
    rules = _RULES[lever, language]
    if prompt == "zero-shot":
        return rules
    (head, colon), (given, wanted) = _FORMS[language], _LABELS[lever, language]
    shown = [f"{given}{colon}{a}\n{wanted}{_after(colon, b)}" for a, b in _EXAMPLES[lever, language]]
    return "\n\n".join([rules, head, *shown])


def _after(colon: str, text: str) -> str:
    return f"{colon.rstrip()}\n{text}" if "\n" in text else colon + text  # several lines stand below their label
