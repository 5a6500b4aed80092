"""The effects of settings on how many emails readers get."""
