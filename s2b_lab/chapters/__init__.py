"""What the figures of the book show: one file a chapter, and what several chapters share."""
