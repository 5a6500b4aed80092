"""The delivery of a run: prepare, claim, render, send."""
