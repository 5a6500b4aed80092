"""Which HTML and CSS our emails use, and which mail programs show it."""
