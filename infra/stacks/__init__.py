"""The stacks: data that is kept, and the service that can be replaced."""
