"""One module per stage of the flow, and in it one frozen dataclass per function.

The stack writes what the function reads. Durations are whole seconds unless the name says
otherwise. Nothing is read at import.
"""
