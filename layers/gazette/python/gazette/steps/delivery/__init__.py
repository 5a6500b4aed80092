"""The delivery of a run in four steps: prepare, claim, render and send."""
