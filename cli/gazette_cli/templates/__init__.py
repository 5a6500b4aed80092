"""`gazette templates`: manage versions of the templates without a deployment."""
