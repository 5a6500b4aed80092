"""Template versions, and the choice of the version for a reader's next email. Pure."""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.templates.settings import NO_SETTINGS, VersionSettings

EVERYBODY = 100
"""The percentage that includes all readers."""

_CHECKSUM = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Version:
    """A template version and its number, which is never reused; 0 is the deployed version."""

    number: int
    checksum: str = ""
    """The SHA-256 of the bundle in hexadecimal; empty for the deployed version."""

    settings: VersionSettings = NO_SETTINGS

    def __post_init__(self) -> None:
        """Raise ValueError unless a pushed version has a valid checksum and the deployed version
        has none."""
        if self.number < 0 or bool(self.number) != bool(_CHECKSUM.fullmatch(self.checksum)):
            raise ValueError(f"version {self.number} has the checksum {self.checksum!r}")

    @property
    def is_deployed(self) -> bool:
        """Return True if this is the deployed version, which ships with every function."""
        return self.number == 0


DEPLOYED = Version(0)
"""The template version that was deployed with the code."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A template version that `percent` (0 to 99) of the readers get."""

    version: Version
    percent: int

    def __post_init__(self) -> None:
        """Raise ValueError if the percent is out of range or the version is the deployed one."""
        if self.version.is_deployed or not 0 <= self.percent < EVERYBODY:
            raise ValueError(f"version {self.version.number} for {self.percent} % of the readers")


@dataclass(frozen=True, slots=True)
class InForce:
    """The template versions in force."""

    current: Version = DEPLOYED
    candidate: Candidate | None = None
    """The template version that some readers get instead of `current`; None if there is none."""

    revision: int = 0
    """The number of changes so far."""

    changed_at: datetime | None = None
    """The time of the last change, in UTC."""

    changed_by: str = ""
    """The person who made the last change."""


NOTHING_PUSHED = InForce()
"""The template versions in force in a stage to which no version was ever pushed."""


@dataclass(frozen=True, slots=True)
class PushedVersion:
    """A pushed template version in the history."""

    version: Version
    size: int
    """The size of the bundle in bytes."""

    pushed_at: datetime
    """The time of the push, in UTC."""

    pushed_by: str
    note: str = ""
    release: str = ""
    """A fingerprint of the code that the version was made for; empty if unknown."""

    layer: str = ""
    """The ARN of the layer that the stage used at the time of the push; empty if unknown.

    The layer contains the code and the deployed templates.
    """


class Act(StrEnum):
    """The kind of change to the template versions in force."""

    PUSHED = "pushed"
    ROLLED_OUT = "rolled_out"
    PROMOTED = "promoted"
    TAKEN_BACK = "taken_back"
    ROLLED_BACK = "rolled_back"


@dataclass(frozen=True, slots=True)
class Change:
    """A change to the template versions in force, which are identified by number."""

    revision: int
    """The revision after the change."""

    act: Act
    at: datetime
    """The time of the change, in UTC."""

    by: str
    current: int
    candidate: int = 0
    """The number of the candidate; 0 if there was no candidate."""

    percent: int = 0
    note: str = ""


def version_for(user_id: str, in_force: InForce) -> Version:
    """Return the template version for a reader's next email.

    The result depends only on the reader, the number of the candidate and its percent. Readers are
    ordered by a hash, so a higher percent adds readers, and all readers who had the candidate keep
    it.
    """
    candidate = in_force.candidate
    if candidate is None:
        return in_force.current
    of_reader = hashlib.sha256(f"templates {candidate.version.number}\n{user_id}".encode()).digest()
    place = int.from_bytes(of_reader[:8]) * EVERYBODY >> 64
    return candidate.version if place < candidate.percent else in_force.current
