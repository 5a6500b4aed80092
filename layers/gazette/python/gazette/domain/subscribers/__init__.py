"""Who receives, what they chose, and what they follow. Pure."""
