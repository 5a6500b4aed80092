"""The selection of the template version for a run's email."""

from collections.abc import Callable
from dataclasses import dataclass

from gazette.domain.delivery.run import Run
from gazette.domain.errors import Unavailable, VersionGone, VersionUnusable
from gazette.domain.ports.rendering import TemplateLibrary, VersionTemplates
from gazette.domain.templates.ports import CurrentDecisions
from gazette.domain.templates.versions import NOTHING_PUSHED, InForce, version_for

Unusable = Callable[[int, Exception], None]
"""A function that is called with the number of an unusable version, and the error.

It never raises.
"""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The template version that was selected for a run."""

    templates: VersionTemplates
    fallback: VersionTemplates | None = None
    """The deployed version, if a pushed version was selected.

    If only the deployed version can show an event, the selected version is at fault.
    """

    is_pinned: bool = False
    """True if no other version may be used for the run."""

    missing_version: int = 0
    """The missing version to which the run is pinned, or 0."""


class RunTemplates:
    """A selector of the template version for each run.

    A process has one selector, which is thread-safe. `unusable` is called for a missing version
    that pins a run. For all other unusable versions, the library makes this call.
    """

    def __init__(
        self, *, library: TemplateLibrary, decisions: CurrentDecisions, unusable: Unusable
    ) -> None:
        self._library = library
        self._decisions = decisions
        self._unusable = unusable
        self._before = library.deployed
        self._seen = 0

    def __call__(self, run: Run) -> Chosen:
        """Return the version to which the run is pinned, or else the version for its reader.

        A repeated run must not change, so it waits for its version. If the version cannot be
        loaded, raises Unavailable or VersionUnusable. If the version no longer exists, the run is
        treated like a new run.
        """
        pinned = run.pinned_to
        if pinned is None:
            return self._chosen(self._of_reader(run.key.user_id))
        if not pinned:
            return Chosen(self._library.deployed, is_pinned=True)
        try:
            return self._chosen(self._library.numbered(pinned), is_pinned=True)
        except VersionGone as err:
            self._unusable(pinned, err)
            return self._chosen(self._of_reader(run.key.user_id), missing_version=pinned)

    def _chosen(
        self, templates: VersionTemplates, *, is_pinned: bool = False, missing_version: int = 0
    ) -> Chosen:
        fallback = self._library.deployed if templates.number else None
        return Chosen(templates, fallback, is_pinned, missing_version)

    def _of_reader(self, user_id: str) -> VersionTemplates:
        """Return the version in force for a reader, if this process can use it.

        Otherwise, returns the current version, the last current version that this process could
        use, or the deployed version. A version that was rolled back is not used again.
        """
        in_force = self._decisions().in_force
        if in_force is NOTHING_PUSHED:
            return self._library.deployed
        current = in_force.current
        self._drop_rolled_back_version(in_force)
        for version in dict.fromkeys((version_for(user_id, in_force), current)):
            if version.is_deployed:
                templates = self._library.deployed
            else:
                try:
                    templates = self._library.get(version)
                except (Unavailable, VersionUnusable):
                    continue
            if version == current:
                self._before = templates
            return templates
        return self._before

    def _drop_rolled_back_version(self, in_force: InForce) -> None:
        """Forget the previous current version if it was or may have been rolled back.

        A process that missed changes cannot know what they were. The previous version may have been
        rolled back before another version was pushed.
        """
        before, current = self._before.number, in_force.current.number
        missed_some = in_force.revision > self._seen + 1
        if current < before or (current != before and missed_some):
            self._before = self._library.deployed
        self._seen = in_force.revision
