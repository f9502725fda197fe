"""A model of ends that needs no weights: what it says of a prefix depends on all of that prefix."""

import hashlib


class Wishes:
    """Gives each prefix a number of its own, or that of `by`, and counts how often it is asked."""

    name = "wishes"

    def __init__(self, by=None):
        self.passes, self.asked, self._by = 0, [], by

    def one(self, prefix):
        if self._by:
            return float(self._by(prefix))
        return int.from_bytes(hashlib.blake2b(prefix.encode("utf-8", "replace"), digest_size=4).digest(), "big") / 2**32

    def end_probabilities(self, text, places):
        self.passes += 1
        self.asked.append(text)
        return [self.one(text[:place]) for place in places]
