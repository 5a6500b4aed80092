"""The use cases, one per module. All dependencies are keyword arguments."""
