"""One stage from its first deployment to its last."""
