"""The versions of the templates: which are in force, which there were, and their bundles.

Every port may raise `Unavailable`. The caller then cannot know whether a write was made, and
repeats the call. All instants are timezone-aware UTC.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from gazette.domain.templates.versions import Change, InForce, PushedVersion, Version

VersionsInForce = Callable[[], InForce]
"""Returns the versions in force. A change takes effect within a minute. Never raises."""


class TemplateVersions(Protocol):
    """The versions in force, the history of versions, and the audit of their changes."""

    def in_force(self) -> InForce:
        """Return what is in force; NOTHING_PUSHED if nothing was ever changed."""

    def change(self, before: InForce, after: InForce, entry: Change) -> bool:
        """Put `after` in force and add the entry to the audit, both or neither.

        Returns False, and changes nothing, if something else than `before` is in force by now.
        Repeated after a lost answer it returns False too: compare `in_force()` with `after`.
        """

    def changes(self) -> Sequence[Change]:
        """Return every change, the latest first."""

    def add(self, pushed: PushedVersion) -> bool:
        """Add a version to the history, after its bundle was stored.

        Returns False if its number is taken: by another push, or by this one if its answer was
        lost. A number is never used twice.
        """

    def find(self, number: int) -> PushedVersion | None:
        """Return the version with this number, if it was ever pushed."""

    def history(self) -> Sequence[PushedVersion]:
        """Return every version that was ever pushed, the highest number first."""


class BundleStore(Protocol):
    """Where bundles are stored, by number and checksum."""

    def get(self, version: Version) -> bytes | None:
        """Return the stored bytes, unverified, or None if there surely are none.

        Of more bytes than a bundle may have it returns only the first, so that none fills the
        memory: their checksum is another one.
        """

    def put(self, version: Version, content: bytes) -> None:
        """Store the bundle of a version. Can be repeated: what is stored is never changed."""
