"""The table `control`, with one module for each kind of row."""
