"""The parts of bootstrap that several functions share."""
