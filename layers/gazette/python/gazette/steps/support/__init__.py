"""The use cases of support staff and operators, which run in a shell."""
