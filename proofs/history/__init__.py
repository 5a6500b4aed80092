"""The cost of a use case for any past of a reader: calls, units and memory."""
