"""What draws a figure: a page without Python, or a widget with a kernel behind it."""
