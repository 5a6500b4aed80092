"""The stacks of a stage: data (retained), the service (replaceable) and the front."""
