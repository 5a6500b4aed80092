"""The dependencies of the use cases in `steps/support`."""
