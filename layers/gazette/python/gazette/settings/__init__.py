"""The settings of each function, with one module per stage of the flow.

Each function has one frozen dataclass. The stack writes the settings, and the function reads them
from its environment. Durations are whole seconds unless the name says otherwise. No module reads a
setting at import.
"""
