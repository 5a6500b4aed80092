"""The choice of the template version for the email of a run."""

from collections.abc import Callable
from dataclasses import dataclass

from gazette.domain.delivery.run import Run
from gazette.domain.errors import Unavailable, VersionGone, VersionUnusable
from gazette.domain.ports.rendering import TemplateLibrary, VersionTemplates
from gazette.domain.ports.templates import VersionsInForce
from gazette.domain.templates.versions import NOTHING_PUSHED, InForce, version_for

Unusable = Callable[[int, Exception], None]
"""A function that receives the number of an unusable version, and the error. Never raises."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The template version for a run."""

    templates: VersionTemplates
    fallback: VersionTemplates | None = None
    """The deployed version, if the version was pushed.

    If this can show an event that the version cannot, the version is at fault and not the event.
    """

    is_pinned: bool = False
    """No other version may be used for the run."""

    missing_version: int = 0
    """The version that pinned the run and no longer exists; 0 if there is none."""


class RunTemplates:
    """A selector of the version of each run. A process has one; threads share it.

    `unusable` is called for a version that pins a run and is gone; the library calls it for all
    others.
    """

    def __init__(
        self, *, library: TemplateLibrary, in_force: VersionsInForce, unusable: Unusable
    ) -> None:
        self._library = library
        self._in_force = in_force
        self._unusable = unusable
        self._before = library.deployed
        self._seen = 0

    def __call__(self, run: Run) -> Chosen:
        """Return the version that pins the run, or else the one that its reader gets now.

        A repeated run must not change, so it waits for its version; raises Unavailable or
        VersionUnusable. Only if the version certainly no longer exists, the run is made like a new
        one.
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

        Otherwise the current version, the last current version that this process could use, or the
        deployed one. A version that was rolled back is not used again, even if this process could.
        """
        in_force = self._in_force()
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
        """Keep the previous current version only if it was not rolled back.

        A process that missed changes cannot know what they were. The version may have been rolled
        back before another one was pushed.
        """
        before, current = self._before.number, in_force.current.number
        missed_some = in_force.revision > self._seen + 1
        if current < before or (current != before and missed_some):
            self._before = self._library.deployed
        self._seen = in_force.revision
