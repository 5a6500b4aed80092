"""Template versions, and which of them a reader's next email is made with. Pure."""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.templates.settings import NO_SETTINGS, VersionSettings

EVERYBODY = 100
"""Percent."""

_CHECKSUM = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Version:
    """A version by its number, which is never used twice; 0 is what was deployed.

    `checksum`: the SHA-256 of the bundle's bytes in hexadecimal; empty for what was deployed.
    """

    number: int
    checksum: str = ""
    settings: VersionSettings = NO_SETTINGS

    def __post_init__(self) -> None:
        """Raises ValueError for a number without its checksum, or a checksum that is none."""
        if self.number < 0 or bool(self.number) != bool(_CHECKSUM.fullmatch(self.checksum)):
            raise ValueError(f"version {self.number} has the checksum {self.checksum!r}")

    @property
    def is_deployed(self) -> bool:
        """Whether it is what was deployed, with which every function is shipped."""
        return self.number == 0


DEPLOYED = Version(0)
"""The templates that were deployed with the code."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version that a share of the readers gets: `percent` of them, 0 to 99."""

    version: Version
    percent: int

    def __post_init__(self) -> None:
        """Raises ValueError for a percent that is out of range, and for what was deployed."""
        if self.version.is_deployed or not 0 <= self.percent < EVERYBODY:
            raise ValueError(f"version {self.version.number} for {self.percent} % of the readers")


@dataclass(frozen=True, slots=True)
class InForce:
    """The versions in force: `current`, and the candidate that some readers get instead, if any.

    `revision` is 0 before the first change and grows by 1 with each. `changed_at` (UTC) and
    `changed_by` are of the last change.
    """

    current: Version = DEPLOYED
    candidate: Candidate | None = None
    revision: int = 0
    changed_at: datetime | None = None
    changed_by: str = ""


NOTHING_PUSHED = InForce()
"""What is in force at a stage at which no version was ever pushed."""


@dataclass(frozen=True, slots=True)
class PushedVersion:
    """A version in the history. `size`: the bytes of its bundle. `pushed_at` is in UTC.

    `release`: a fingerprint of the code that it was made for. `layer`: the ARN of the layer with
    code and templates that the stage had then. Each is empty where nobody knows.
    """

    version: Version
    size: int
    pushed_at: datetime
    pushed_by: str
    note: str = ""
    release: str = ""
    layer: str = ""


class Act(StrEnum):
    """What a change of what is in force was."""

    PUSHED = "pushed"
    ROLLED_OUT = "rolled_out"
    PROMOTED = "promoted"
    TAKEN_BACK = "taken_back"
    ROLLED_BACK = "rolled_back"


@dataclass(frozen=True, slots=True)
class Change:
    """Who changed what is in force, when and to what. It names versions by their numbers.

    `revision`: of what was in force afterwards. `candidate`: 0 if there was none. `at` is in UTC.
    """

    revision: int
    act: Act
    at: datetime
    by: str
    current: int
    candidate: int = 0
    percent: int = 0
    note: str = ""


def version_for(user_id: str, in_force: InForce) -> Version:
    """The version that a reader's next email is made with.

    It depends on the reader, the number of the candidate and its percent alone. Readers are ordered
    by a hash, so a higher percent adds readers, and all who had the candidate keep it.
    """
    candidate = in_force.candidate
    if candidate is None:
        return in_force.current
    of_reader = hashlib.sha256(f"templates {candidate.version.number}\n{user_id}".encode()).digest()
    place = int.from_bytes(of_reader[:8]) * EVERYBODY >> 64
    return candidate.version if place < candidate.percent else in_force.current
