"""The benchmark `make bench`, which measures every speed and cost goal in one run."""
