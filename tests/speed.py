"""Whether time grows with the text alone: a ratio within one run, on any machine."""

import time


def seconds(function, text):
    begin = time.process_time()
    function(text)
    return time.process_time() - begin


def in_proportion(function, small, large, factor):
    """Is the large text done within so many times the small one's time? On a busy machine, at one of several tries."""
    return any(seconds(function, large) < factor * seconds(function, small) + 0.02 for _ in range(6))
