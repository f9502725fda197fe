"""Questions about rows of tables of the Python documentation, to measure how tables are cut: our set has none.

They were written before anything was measured with them, and nothing is chosen by them.
"""

from __future__ import annotations

from collections.abc import Iterable

import s2b_lab as s2b
from s2b_lab.question_sets import quoted

# A question, and words of the row that answers it.
QUESTIONS = (
    ("Which operators are listed as shifts?", '"<<", ">>" | Shifts |'),
    ("Which symbol stands for bitwise exclusive or?", '"^" | Bitwise XOR |'),
    ("How does the precedence table describe the walrus operator?", '":=" | Assignment expression |'),
    ("Where does the lambda expression stand among the operators?", '"lambda" | Lambda expression |'),
    ("Which operators share their precedence with matrix multiplication?", '"*", "@", "/", "//", "%" |'),
    ("Which alignment option puts a field in the middle of the available space?", "Forces the field to be centered"),
    ("Which alignment option is the default for most objects?", "Forces the field to be left-aligned"),
    ("Which presentation type prints an integer in binary?", "Binary format. Outputs the number in base 2."),
    ("Which presentation type prints an integer in base eight?", "Octal format. Outputs the number in base 8."),
    ("Which presentation type prints hexadecimal with capital letters?", "base 16, using upper-"),
    ("Which presentation type turns an integer into a Unicode character?", "Character. Converts the integer"),
    ("Which presentation type shows a number as a percentage?", "Percentage. Multiplies the number by 100"),
    ("Which line boundary is written \\x0c?", '"\\f" or "\\x0c" | Form Feed |'),
    ("Which character is the paragraph separator at which lines are split?", '"\\u2029" | Paragraph Separator |'),
    ("Which escape sequence rings the bell?", '"\\a" | ASCII Bell (BEL) |'),
    ("Which escape sequence is a horizontal tab?", '"\\t" | ASCII Horizontal Tab (TAB) |'),
    ("How is a character written by its name in the Unicode database?", '"\\N{*name*}" | Character named'),
    ("Which attribute of a function is its compiled body?", '"__code__" | The code object representing'),
    ("Which function attribute has the defaults of keyword-only parameters?", '"__kwdefaults__" | A dict containing'),
    ("Which function attribute has the cells of its free variables?", '"__closure__" | "None" or a tuple of cells'),
    ("Which function attribute refers to the global variables of its module?", '"__globals__" | A reference to the'),
    ("What does a sequence times a number give?", "equivalent to adding *s* to"),
    ("Which sequence operation counts how often an item occurs?", "total number of occurrences of"),
    ("Which method of a list turns the order of its items around?", "reverses the items of *s* in"),
    ("Which method of a list puts an item in at an index?", "inserts *x* into *s* at the"),
    ("Which method makes a shallow copy of a list?", "creates a shallow copy of *s*"),
)


def questions_on_tables(docs: Iterable[s2b.Document]) -> list[s2b.Question]:
    """The questions whose row stands in the documents; another version of Python has other rows."""
    docs = list(docs)
    found = ((text, quoted(quote, docs)) for text, quote in QUESTIONS)
    return [s2b.Question(text, (places[0],), "needle", (tuple(places[1:]),)) for text, places in found if places]
