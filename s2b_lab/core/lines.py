"""The lines that mean something by how they start: one pattern finds them all."""

import re

from .characters import CJK
from .numbering import COUNT, HAN, NAME, RANK, VALUE

GAP = r"[^\S\n]*+"  # white space inside a line; possessive, so that hostile input cannot make it backtrack
EOL = rf"{GAP}(?=\n|\Z)"
_COUNTED = rf"(?P<digits>\d{{1,3}})(?:[.．](?=[\s{CJK}])|[)）、])"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[a-z]*\b"
# The second line of the pattern settles most lines at once: no other letter begins one that means something.
_LINE = rf"""(?P<at>)\ufeff?{GAP}(?:
  (?=[^a-zBD-HJKM-OQRUWYZ]|[a-zA-Z][)）]|\Z)(?:
  (?P<blank>\n(?:{GAP}\n)*+|\Z)
| (?P<fence>(?P<ticks>`{{3,}}+)[^`\n]*+(?=\n|\Z)|(?P<tildes>~{{3,}}+)[^\n]*+)
| (?P<table>\||\+[-=])
| (?P<html><(?:!--|(?P<element>pre|script|style|textarea)\b))
| (?P<hash>(?P<depth>\#{{1,6}}+)[^\S\n]++(?P<title>[^\n]++))
| (?P<number>(?P<figure>\d{{1,2}}(?:\.\d{{1,2}}){{0,4}}+)
    (?:(?P<dot>[.．])?[^\S\n]++(?![个個天年月日名份位元次万千号號]|{_MONTH})|[.．、](?=[{CJK}]))
    (?=[^\Wa-z\d_])[^\n]{{1,80}}+{EOL})
| (?P<han>(?:{HAN}、|[(（]{HAN}[)）])[^\n]{{1,40}}+{EOL})
| (?P<roman>(?P<letters>[IVXLC]{{1,7}}+)(?:[.．][^\S\n]++|[.．、](?=[{CJK}]))(?=[^\Wa-z\d_])[^\n]{{1,80}}+{EOL})
| (?P<chapter>(?P<label>第(?P<count>{COUNT})(?P<rank>{RANK}))(?P<apart>(?=[\s：:、]|\Z))?[^\n]*+)
| (?P<article>(?P<name>{NAME})[^\S\n]++(?P<value>{VALUE})(?:(?P<stop>{GAP}[.:：)—–-])|(?=\s|\Z))(?P<rest>[^\n]*+))
| (?P<rule>(?P<stroke>[=\-~^*"])(?P=stroke){{2,}}+{EOL})
| (?P<divider>[:\-][\-:|+\ \t]*+{EOL})
| (?P<item>[-*+](?=\s|\Z)|[•‣◦▪●○①-⑳❶-❿]|[(（](?:\d{{1,3}}|[a-zA-Z]|{HAN})[)）]|[a-zA-Z][)）](?=\s)
    |{HAN}、|{_COUNTED})
| (?P<contents>(?:目[^\S\n]*+[录錄次]|(?:Table[ ][oO]f[ ]|TABLE[ ]OF[ ])?(?:CONTENTS|Contents)):?{EOL})
  )
| (?P<indent>(?<=\u3000\u3000)(?=\S))
)"""
FIRST_LINE = re.compile(_LINE, re.VERBOSE)
NEXT_LINE = re.compile(r"\n" + _LINE, re.VERBOSE)
NUMBERED = re.compile(_COUNTED)
TABLE = re.compile(rf"(?:{GAP}(?:\||\+[-=])[^\n]*+(?:\n|\Z))++")
PIPED = re.compile(r"(?:[^\n|]*+\|[^\n]*+(?:\n|\Z))*+")
# An item of a list, or a mark of something else.
NO_TITLE = re.compile(r"[#|`~<]|[-*+•‣◦▪●○](?=\s)|[①-⑳❶-❿]|[(（](?:\d{1,3}|[a-zA-Z])[)）]|[a-zA-Z][.)）](?=\s)")
FOLLOWING = re.compile(rf"\n{GAP}(?P<words>[^\n]{{1,100}}+)")
TABLE_BELOW = re.compile(rf"\n(?=[^\n|]*+\|)(?=[^\n-]*+-){GAP}[:|\-][\-:|+\ \t]*+{EOL}")
# Elements that hold a block of HTML, up to a blank line.
HTML_BLOCK = re.compile(
    rf"{GAP}</?(?:address|article|aside|blockquote|body|center|details|dd|div|dl|dt|fieldset|figure|footer|form|header|"
    r"html|li|main|nav|ol|p|section|summary|table|tbody|td|tfoot|th|thead|tr|ul)\b",
    re.IGNORECASE,
)
RULE_BELOW = re.compile(rf"\n{GAP}([=\-~^*\"])\1{{2,}}+{EOL}")

_CLOSING_HASHES = re.compile(r"(?:^|(?<=\s))#+\Z")
_SENTENCE_LIKE = re.compile(r"[.!?…](?:\s+(?![a-z])|\Z)|[。！？；]|[;:：,，]\Z")
# The page number of a line in a table of contents, after dots or a wide gap.
_LED = r"[.．…·‧・_-]{3,}|(?:[.．·・]\s){2,}"
_NUMBER = r"\s*(?:\d{1,4}|[ivxlc]{1,7})\Z"
_PAGE = re.compile(rf"(?:{_LED}|\s{{2}}|\t){_NUMBER}")
_LEADER = re.compile(rf"(?:{_LED}){_NUMBER}")
_ADDRESS = re.compile(
    r"\b(?:Street|St|Road|Rd|Avenue|Ave|Lane|Boulevard|Blvd|Drive|Square|Crescent|Terrace)\b\.?(?:,|\Z)"
)
# A title does not break off after one of these.
_UNFINISHED = re.compile(r"(?:[,，、;；]|\b(?:a|an|the|of|and|or|to|in|on|at|by|for|with|from|as|is|are|that|which))\Z")


def plain_newlines(text: str) -> str:
    r"""Return a copy of the same length in which \n alone ends a line, so that offsets stay true."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


def without_hashes(title: str) -> str:
    """The title of a Markdown heading without the signs that may close it."""
    return _CLOSING_HASHES.sub("", title.strip()).strip()


def is_sentence(words: str) -> bool:
    """Tell whether words end, or hold the end of, a sentence or a clause."""
    return bool(_SENTENCE_LIKE.search(words))


def has_page(words: str) -> bool:
    """Tell whether a line ends with the number of a page, as in a table of contents."""
    return bool(_PAGE.search(words[-40:]))


def has_leader(words: str) -> bool:
    """Tell whether a line ends with dots and the number of the page that they lead to."""
    return bool(_LEADER.search(words[-40:]))


def is_address(words: str) -> bool:
    """Tell whether words after a number name a street."""
    return bool(_ADDRESS.search(words))


def is_title(words: str) -> bool:
    """Tell whether words are few, or spelt as in a title."""
    long = [word for word in words.split() if len(word) > 3]
    return len(words.split()) < 4 or not any(word[0].islower() for word in long)


def may_stand_above(title: str, following: str) -> bool:
    """Tell whether a line may be a title although text follows it at once, and does not merely break off."""
    if not following:
        return True
    if (following[0].islower() and not NO_TITLE.match(following)) or _UNFINISHED.search(title) or "，" in title:
        return False
    return len(title) <= (20 if ord(title[0]) > 0x2E7F or ord(title[-1]) > 0x2E7F else 60)
