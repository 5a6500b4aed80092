"""What several functions share when they join steps to adapters."""
