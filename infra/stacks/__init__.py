"""The stacks: data, which is retained, the service, which can be replaced, and the front."""
