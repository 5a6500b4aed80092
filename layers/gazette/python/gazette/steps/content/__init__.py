"""The queries to content sources, whose items a reader's next digest shows in addition to
events."""
