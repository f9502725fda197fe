"""What `files` reads with: encodings, PDF pages, and the formats of word processors and the web."""
