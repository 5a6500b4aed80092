"""Template versions, their settings, and the choice of a version for each reader."""
