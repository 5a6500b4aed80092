"""The use cases of support staff and operators, which read the data of one reader or run."""
