"""One use case each; everything they touch comes in as keyword arguments."""
