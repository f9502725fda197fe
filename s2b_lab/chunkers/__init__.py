"""Chunkers that look at what a text says: by distance of meaning, by a chat model's word, by a model's wish to end."""
