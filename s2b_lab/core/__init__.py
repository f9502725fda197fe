"""Chunking, expansion and ranking with the standard library alone: what also runs in the page."""
