"""Fakes of the ports of template versions. tests/contract runs the same tests on the real ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gazette.adapters.templates.bundle import MAX_PACKED
from gazette.domain.errors import Unavailable, VersionGone
from gazette.domain.ports.rendering import VersionTemplates
from gazette.domain.templates.versions import (
    NOTHING_PUSHED,
    Change,
    InForce,
    PushedVersion,
    Version,
)


@dataclass
class FakeTemplateVersions:
    """The port `TemplateVersions`; `in_force` is `VersionsInForce`."""

    current: InForce = NOTHING_PUSHED
    audit: list[Change] = field(default_factory=list)
    known: dict[int, PushedVersion] = field(default_factory=dict)

    def in_force(self) -> InForce:
        return self.current

    def change(self, before: InForce, after: InForce, entry: Change) -> bool:
        if before.revision != self.current.revision:
            return False
        self.current = after
        self.audit.insert(0, entry)
        return True

    def changes(self) -> Sequence[Change]:
        return list(self.audit)

    def add(self, pushed: PushedVersion) -> bool:
        return self.known.setdefault(pushed.version.number, pushed) is pushed

    def find(self, number: int) -> PushedVersion | None:
        return self.known.get(number)

    def history(self) -> Sequence[PushedVersion]:
        return [self.known[number] for number in sorted(self.known, reverse=True)]


@dataclass
class FakeBundles:
    """The port `BundleStore`; counts its reads, and raises while it is not `working`.

    `raises`: an error that the port does not name.
    """

    stored: dict[Version, bytes] = field(default_factory=dict)
    working: bool = True
    raises: Exception | None = None
    reads: int = 0

    def get(self, version: Version) -> bytes | None:
        self.reads += 1
        if self.raises:
            raise self.raises
        if not self.working:
            raise Unavailable("The store does not answer.")
        content = self.stored.get(version)
        return None if content is None else content[: MAX_PACKED + 1]

    def put(self, version: Version, content: bytes) -> None:
        self.stored[version] = content


@dataclass
class FakeLibrary:
    """The port `TemplateLibrary`; `broken`: what it raises for some numbers."""

    deployed: VersionTemplates
    known: dict[int, VersionTemplates] = field(default_factory=dict)
    broken: dict[int, Exception] = field(default_factory=dict)

    def get(self, version: Version) -> VersionTemplates:
        return self.numbered(version.number)

    def numbered(self, number: int) -> VersionTemplates:
        if number in self.broken:
            raise self.broken[number]
        if number not in self.known:
            raise VersionGone(f"There is no version {number}.")
        return self.known[number]
