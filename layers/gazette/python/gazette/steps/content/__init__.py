"""Ask content sources for what a reader's next digest shows beside events."""
