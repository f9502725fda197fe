"""Where an index is kept: Chroma, the documents that were committed, and what writes them."""
