"""A fake model that tells what it was asked."""

from s2b_lab.embed import HashEmbedder


class RecordingEmbedder(HashEmbedder):
    """The fake model, with a list of the texts that it was given to embed."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.embedded: list[str] = []

    def passages(self, texts):
        self.embedded += texts
        return super().passages(texts)
