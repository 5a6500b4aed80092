"""The command `gazette`: what platform engineers and support run."""
