"""The acceptance of a stage: its steps, its synthetic readers and its result. Pure."""
