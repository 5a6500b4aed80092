"""`make bench`: every goal of speed and cost, measured in one run."""
