"""The steps of the acceptance of a stage, each of which shows one promise."""
