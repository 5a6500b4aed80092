"""One module per stage of the flow, with one frozen dataclass per function.

The stack writes the settings, and the function reads them from its environment. Durations are whole
seconds unless the name says otherwise. No module reads a setting at import.
"""
