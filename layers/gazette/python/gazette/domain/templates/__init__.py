"""Template versions, their settings, and the choice of the version for a reader's emails."""
