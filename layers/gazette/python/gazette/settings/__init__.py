"""The settings of each function, with one module per stage of the flow.

Each function has one frozen dataclass. The stack writes the settings, and the function reads them
from its environment. A class extends the limits that its steps read
(gazette.domain.scheduling.limits). Durations are timedeltas, unless the name contains a unit. No
module reads a setting at import.
"""
