"""The template versions that a process has loaded. Each version is fetched, verified and loaded
once.
"""

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from threading import Lock

from gazette.adapters.cached import READ_INTERVAL
from gazette.adapters.templates.bundle import BundleError, checksum_of, unpack
from gazette.adapters.templates.unpacked import Unpacked
from gazette.domain.errors import Unavailable, VersionGone, VersionUnusable
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.rendering import VersionTemplates
from gazette.domain.templates.ports import BundleStore, TemplateVersions
from gazette.domain.templates.versions import Version

MOST = 3
"""The maximum number of versions in a process: the current version, a candidate, and a pinned
version."""

Load = Callable[[int, Unpacked], VersionTemplates]
"""A function that creates a version from an unpacked bundle and tests it.

It may raise any error, because pushed templates may contain any error."""

Failed = Callable[[int, Exception], None]
"""A function that receives each version that could not be loaded, at most once a minute. It never
raises."""


@dataclass(slots=True)
class _Entry:
    """A loaded version, or the time and reason of the last failure to load the version."""

    loaded: VersionTemplates | None = None
    failed_at: datetime | None = None
    why: Exception | None = None
    loading: Lock = field(default_factory=Lock)


class Library:
    """Implementation of the `TemplateLibrary` port with the three most recently used pushed
    versions.

    While one thread loads a version, threads that need the same version wait. Other threads
    continue. `waiting` is a context manager for the wait, such as `Coalescer.aside`.
    """

    def __init__(
        self,
        *,
        deployed: VersionTemplates,
        bundles: BundleStore,
        versions: TemplateVersions,
        load: Load,
        failed: Failed,
        clock: Clock,
        waiting: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._deployed = deployed
        self._bundles = bundles
        self._versions = versions
        self._load = load
        self._failed = failed
        self._clock = clock
        self._waiting = waiting
        self._choosing = Lock()
        self._entries: OrderedDict[int, _Entry] = OrderedDict()

    @property
    def deployed(self) -> VersionTemplates:
        """The template version that is part of the deployed layer."""
        return self._deployed

    def get(self, version: Version) -> VersionTemplates:
        """Return a version, with one GetObject at the first use."""
        return self._of(version.number, lambda: version)

    def numbered(self, number: int) -> VersionTemplates:
        """Return a version by number, with one GetItem and one GetObject at the first use."""
        return self._of(number, partial(self._pushed, number))

    def _of(self, number: int, find: Callable[[], Version]) -> VersionTemplates:
        with self._choosing:
            entry = self._entries.setdefault(number, _Entry())
            self._entries.move_to_end(number)
            if len(self._entries) > MOST:
                self._entries.popitem(last=False)
        if entry.loaded:
            return entry.loaded
        with self._waiting(), entry.loading:
            return entry.loaded or self._loaded(number, find, entry)

    def _loaded(self, number: int, find: Callable[[], Version], entry: _Entry) -> VersionTemplates:
        now = self._clock()
        if entry.why and entry.failed_at and timedelta(0) <= now - entry.failed_at < READ_INTERVAL:
            raise type(entry.why)(str(entry.why))
        try:
            entry.loaded = self._fetched(find())
        except Exception as err:  # any error, because no email may fail for this reason
            known = isinstance(err, Unavailable | VersionUnusable)
            why = err if known else Unavailable(f"Version {number}: {type(err).__name__}: {err}")
            entry.failed_at, entry.why = now, why
            self._failed(number, why)
            raise why from err
        return entry.loaded

    def _pushed(self, number: int) -> Version:
        pushed = self._versions.find(number)
        if pushed is None:
            raise VersionGone(f"Version {number} of the templates is not in the history.")
        return pushed.version

    def _fetched(self, version: Version) -> VersionTemplates:
        number = version.number
        content = self._bundles.get(version)
        if content is None:
            raise VersionGone(f"The bundle of version {number} of the templates does not exist.")
        if checksum_of(content) != version.checksum:
            raise VersionUnusable(f"The bundle of version {number} differs from the pushed one.")
        try:
            return self._load(number, Unpacked(unpack(content)))
        except BundleError as err:
            raise VersionUnusable(f"Version {number} of the templates: {err}.") from err
        except Exception as err:  # any error of a template, a catalogue or a setting
            raise VersionUnusable(
                f"Version {number} of the templates cannot be loaded: {type(err).__name__}: {err}"
            ) from err
