"""What a figure is, whatever it shows: controls and views, their recording, and what draws them."""
