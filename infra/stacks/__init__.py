"""The two stacks: data, which is retained, and the service, which can be replaced."""
