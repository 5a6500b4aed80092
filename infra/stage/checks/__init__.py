"""What is wrong with a stage: the form of a check, and checks of no single group of settings."""
