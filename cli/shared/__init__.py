"""Code shared by the commands: stages, errors, descriptions and tables."""
