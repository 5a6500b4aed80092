"""Where an event belongs: which schedule or immediate run sends it."""
