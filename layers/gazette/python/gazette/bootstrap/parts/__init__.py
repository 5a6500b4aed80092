"""The parts of the composition that several functions share."""
