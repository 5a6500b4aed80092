"""The table `control`: one module for each kind of row in it."""
