"""Which version of the templates the email of a run is made with."""

from collections.abc import Callable
from dataclasses import dataclass

from gazette.domain.delivery.run import Run
from gazette.domain.errors import Unavailable, VersionGone, VersionUnusable
from gazette.domain.ports.rendering import TemplateLibrary, VersionTemplates
from gazette.domain.ports.templates import VersionsInForce
from gazette.domain.templates.versions import NOTHING_PUSHED, InForce, version_for

Unusable = Callable[[int, Exception], None]
"""Is told the number of a version that a run cannot be made with, and why. Never raises."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The version for a run. `is_pinned`: the run may be made with no other.

    `instead`: what was deployed, if the version was pushed: where the version cannot show what this
    can, the version is at fault and not the event. `gone`: the version that pinned the run and does
    not exist any more; 0 if there is none.
    """

    templates: VersionTemplates
    instead: VersionTemplates | None = None
    is_pinned: bool = False
    gone: int = 0


class RunTemplates:
    """Chooses the version of each run. One for a process; threads share it.

    `unusable` is told of a version that pins a run and is gone; the library tells of all others.
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
        """The version that pins the run, or else the one that its reader gets now.

        A run that is repeated must not change, so it waits for its version: raises Unavailable or
        VersionUnusable. Only if that is surely gone is it made as a new one would be.
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
            return self._chosen(self._of_reader(run.key.user_id), gone=pinned)

    def _chosen(
        self, templates: VersionTemplates, *, is_pinned: bool = False, gone: int = 0
    ) -> Chosen:
        instead = self._library.deployed if templates.number else None
        return Chosen(templates, instead, is_pinned, gone)

    def _of_reader(self, user_id: str) -> VersionTemplates:
        """The version that is in force for a reader, as far as this process can use it.

        Otherwise the current one, the last current one that this process could use, or what was
        deployed. What was rolled back is not used again, although this process could.
        """
        in_force = self._in_force()
        if in_force is NOTHING_PUSHED:
            return self._library.deployed
        current = in_force.current
        self._forget_what_was_rolled_back(in_force)
        for version in dict.fromkeys((version_for(user_id, in_force), current)):
            if version.is_deployed:
                found = self._library.deployed
            else:
                try:
                    found = self._library.get(version)
                except (Unavailable, VersionUnusable):
                    continue
            if version == current:
                self._before = found
            return found
        return self._before

    def _forget_what_was_rolled_back(self, in_force: InForce) -> None:
        """Keep the current version of before only if nothing has rolled it back.

        If a process has slept through changes, it cannot know what they were: the version may have
        been rolled back before another one was pushed.
        """
        before, current = self._before.number, in_force.current.number
        missed_some = in_force.revision > self._seen + 1
        if current < before or (current != before and missed_some):
            self._before = self._library.deployed
        self._seen = in_force.revision
