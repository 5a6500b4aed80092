"""From a run to an accepted email: prepare, claim, render, send."""
