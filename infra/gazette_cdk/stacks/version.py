"""The version of Gazette, and the description of a deployment that contains it."""

import re
from dataclasses import dataclass
from importlib.metadata import version

PACKAGE = "gazette-digest"
"""The name of the distribution."""

_DESCRIPTION = re.compile(r"(?:gazette (?P<version>\S+), )?deployment (?P<name>\S+)")


def gazette_version() -> str:
    """Return the version of the installed package, such as `0.2.0`."""
    return version(PACKAGE)


@dataclass(frozen=True, slots=True)
class DeploymentLabel:
    """A deployment, as the description of its functions names it."""

    # The hash of code and settings.
    name: str

    # The version of Gazette, or "" if a version before 0.2.0 was deployed.
    version: str

    @classmethod
    def read(cls, description: str) -> "DeploymentLabel | None":
        """Read a description, such as `gazette 0.2.0, deployment 46b25b619c94`.

        Return None for the description of another function.
        """
        match = _DESCRIPTION.fullmatch(description)
        return cls(match["name"], match["version"] or "") if match else None

    def __str__(self) -> str:
        """Return the description."""
        name = f"deployment {self.name}"
        return f"gazette {self.version}, {name}" if self.version else name
