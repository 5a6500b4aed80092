"""The use cases of support and operators, from a shell."""
