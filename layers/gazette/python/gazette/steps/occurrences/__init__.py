"""How a run starts: the one occurrence of a schedule that is due."""
