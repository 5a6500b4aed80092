"""The template versions: those in force, the history, and their bundles.

Every port may raise `Unavailable`. The caller then cannot know whether a write was made, and
repeats the call. All instants are timezone-aware UTC.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from gazette.domain.templates.versions import Change, InForce, PushedVersion, Version

VersionsInForce = Callable[[], InForce]
"""A function that returns the versions in force. A change takes effect within a minute.

Never raises.
"""


class TemplateVersions(Protocol):
    """The versions in force, the history of versions, and the audit of their changes."""

    def in_force(self) -> InForce:
        """Return the versions in force; NOTHING_PUSHED if they were never changed."""

    def change(self, before: InForce, after: InForce, entry: Change) -> bool:
        """Put `after` in force and add the entry to the audit, both or neither.

        Returns False without a change if the versions in force are no longer `before`. A repeat
        after a lost answer also returns False; compare `in_force()` with `after`.
        """

    def changes(self) -> Sequence[Change]:
        """Return every change, the latest first."""

    def add(self, pushed: PushedVersion) -> bool:
        """Add a version to the history, after its bundle was stored.

        Returns False if its number is taken: by another push, or by this one if its answer was
        lost. A number is never reused.
        """

    def find(self, number: int) -> PushedVersion | None:
        """Return the version with this number, if it was ever pushed."""

    def history(self) -> Sequence[PushedVersion]:
        """Return every version that was ever pushed, the highest number first."""


class BundleStore(Protocol):
    """The store of bundles, by number and checksum."""

    def get(self, version: Version) -> bytes | None:
        """Return the stored bytes, unverified, or None if they certainly do not exist.

        If there are more bytes than a bundle may have, it returns only the first ones, so that they
        do not fill the memory. Their checksum then differs.
        """

    def put(self, version: Version, content: bytes) -> None:
        """Store the bundle of a version.

        Can be repeated, because a stored bundle is never changed.
        """
