"""Template versions, their settings, and which of them a reader's emails are made with."""
