"""The changes that operators make to the template versions in force, and their history."""
