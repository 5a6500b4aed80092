"""Search the interleavings of workers that use up a reader's limit of immediate emails."""
