"""Start the run of an occurrence of a schedule."""
