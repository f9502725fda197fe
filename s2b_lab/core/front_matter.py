"""The metadata that a text may begin with: where they end, and the title they give."""

import re

from .lines import plain_newlines

# YAML between lines of three hyphens, TOML between lines of three plus signs; the lines between must look like it.
_YAML = r"(?:(?=[\w\"'])[^\s:][^\n:]*+:(?=\s)[^\n]*+|[^\S\n]++[^\n]*+|-[^\S\n][^\n]*+|\#[^\n]*+|)\n"
_TOML = r"(?:[\w.\"'-]++[^\S\n]*+=[^\n]*+|[^\S\n]++[^\n]*+|[\[\]\"'#][^\n]*+|)\n"
_FRONT = re.compile(
    rf"\ufeff?(?:---[^\S\n]*\n(?=[\w\"'])(?P<yaml>(?:{_YAML})++)(?:---|\.\.\.)"
    rf"|\+\+\+[^\S\n]*\n(?P<toml>(?:{_TOML})++)\+\+\+)[^\S\n]*(?:\n|\Z)",
    re.VERBOSE,
)
_TITLE = re.compile(
    r"^[\"']?title[\"']?[^\S\n]*[:=][^\S\n]*(?P<value>[>|][+-]?[^\S\n]*\n[^\S\n]+[^\n]*|[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
_QUOTED = re.compile(r"([\"'])(.*)\1[^\S\n]*(?:#.*)?\Z")


def front_matter(text: str) -> int:
    r"""Where the text itself begins after its front matter: 0 without one. Only \n ends a line here."""
    found = _FRONT.match(text) if text[:1] in ("\ufeff", "-", "+") else None
    return found.end() if found else 0


def body_start(text: str) -> int:
    """Where the text itself begins, as `front_matter` says it, whatever ends its lines."""
    return front_matter(plain_newlines(text))


def front_title(text: str) -> str | None:
    """The title that the front matter gives, if any."""
    found = _TITLE.search(text[: front_matter(text)])
    if not found:
        return None
    value = found["value"].strip()
    if quoted := _QUOTED.match(value):
        return quoted[2] or None
    value = re.sub(r"^[>|][+-]?\s*", "", value)
    return " ".join(re.split(r"(?:^|\s)#", value)[0].split()) or None
