"""The events of a window: briefs, the lines that group them, and the names that they contain."""
