"""What all commands share: the stage, errors, words and tables."""
