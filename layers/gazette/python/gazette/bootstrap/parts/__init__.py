"""Parts of the composition roots that several functions share."""
