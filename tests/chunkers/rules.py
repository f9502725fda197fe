"""What holds for the spans of every chunker."""

from s2b_lab.core.characters import is_blank
from s2b_lab.core.graphemes import graphemes
from s2b_lab.core.sizes import count


def check_cover(text, spans):
    """In order, apart, none blank, and nothing left out that can be seen."""
    at = 0
    for span in spans:
        assert at <= span.start < span.end and is_blank(text[at : span.start]) and not is_blank(span.of(text))
        assert not span.of(text)[0].isspace() and not span.of(text)[-1].isspace()
        at = span.end
    assert is_blank(text[at:])


def check_sizes(text, spans, size, unit):
    """None is larger than the size, save one grapheme cluster."""
    for span in spans:
        assert count(span.of(text), unit) <= size or len(list(graphemes(span.of(text)))) == 1
