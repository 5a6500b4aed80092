"""The command `gazette`, for platform engineers and support."""
