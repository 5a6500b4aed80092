"""`gazette templates`: versions of the templates, put in force without a deployment."""
