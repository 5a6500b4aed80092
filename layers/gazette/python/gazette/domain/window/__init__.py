"""The events of a window: briefs, and the lines that group them."""
