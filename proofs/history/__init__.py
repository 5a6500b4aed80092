"""What a use case costs, whatever one reader's past is: calls, units and memory."""
