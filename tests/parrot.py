"""A model that says what it is told to."""


class Says:
    """A model that always says the same, and keeps what it was asked."""

    name = "parrot"

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def __call__(self, prompt, system=""):
        self.asked.append((prompt, system))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer
