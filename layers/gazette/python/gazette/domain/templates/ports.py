"""The decisions about all emails, the history of template versions, and their bundles.

Every port may raise `Unavailable`. The caller then cannot know whether a write succeeded, and
repeats the call. All instants are timezone-aware UTC.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from gazette.domain.feedback.experiment import Experiment
from gazette.domain.templates.versions import (
    NOTHING_PUSHED,
    Change,
    InForce,
    PushedVersion,
    Version,
)
from gazette.domain.withdrawing.withdrawals import Withdrawals

VersionsInForce = Callable[[], InForce]
"""A function that returns the template versions in force. A change takes effect within a minute.

Never raises.
"""


class Decisions(NamedTuple):
    """The decisions of operators that apply to all emails, which are read together."""

    experiment: Experiment | None = None
    """The running experiment, or None."""

    in_force: InForce = NOTHING_PUSHED
    """The template versions in force."""

    withdrawals: Withdrawals = ()
    """The actors and entities that no email shows."""


CurrentDecisions = Callable[[], Decisions]
"""A function that returns the current decisions. A change takes effect within a minute.

Never raises.
"""


class TemplateVersions(Protocol):
    """The store of the template versions in force, of all pushed versions, and of the audit log."""

    def in_force(self) -> InForce:
        """Return the template versions in force; NOTHING_PUSHED if they were never changed."""

    def change(self, before: InForce, after: InForce, entry: Change) -> bool:
        """Put `after` in force and write an entry to the audit log, in one transaction.

        Returns False without a change if the versions in force are no longer `before`. A repeat
        after a lost response also returns False; compare `in_force()` with `after`.
        """

    def changes(self) -> Sequence[Change]:
        """Return every change in the audit log, latest first."""

    def add(self, pushed: PushedVersion) -> bool:
        """Add a version to the history, after its bundle was stored.

        Returns False if the version number exists, either from another push or from this push after
        a lost response. A number is never reused.
        """

    def find(self, number: int) -> PushedVersion | None:
        """Return the template version with this number; None if it was never pushed."""

    def history(self) -> Sequence[PushedVersion]:
        """Return every template version that was ever pushed, highest number first."""


class BundleStore(Protocol):
    """The store of template bundles, by number and checksum."""

    def get(self, version: Version) -> bytes | None:
        """Return the bytes of a stored bundle, unverified; None if it certainly does not exist.

        If the bundle is larger than allowed, only its first bytes are returned, so that they do not
        fill the memory. The checksum then differs.
        """

    def put(self, version: Version, content: bytes) -> None:
        """Store the bundle of a template version.

        Can be repeated, because a stored bundle is never changed.
        """
