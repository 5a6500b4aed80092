"""The events of a window: briefs, and the lines that they are folded into."""
