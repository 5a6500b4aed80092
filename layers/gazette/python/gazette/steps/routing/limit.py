"""Keep the immediate emails of a reader within the limit of the stage (rule 28).

An event that needs a new immediate run takes a token of its reader. Without a token, it goes to the
daily digest for good. No token is ever returned, so a worker that dies costs the reader an
immediate email, but no event.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gazette.domain.identity import latest_run
from gazette.domain.links import NEW_LINK
from gazette.domain.model import Event, StoredEvent
from gazette.domain.ports.ledgers import ScheduleKey
from gazette.domain.scheduling.kinds import ScheduleKind, is_critical, kind_of
from gazette.domain.subscribers.subscriber import Reader
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.immediate import needs_run
from gazette.steps.routing.move import leaving, move
from gazette.steps.routing.target import RoutingInputs, Target, daily_target, target_of


@dataclass(slots=True)
class Tokens:
    """The tokens of one pass over some events.

    The run of a stored event starts at the end of the pass, so the events that follow about the
    same entity do not find it. They share the token.
    """

    context: RoutingContext
    _taken: set[ScheduleKey] = field(default_factory=set)
    _refused: set[str] = field(default_factory=set)
    """The users whose allowance is used up."""

    def target_of_new(
        self, event: Event, target: Target, reader: Reader, *, is_new: bool = False
    ) -> Target:
        """Return the target under which to store an event. Takes a token if necessary.

        An event that is already stored takes no token; `place` decides where it belongs. With
        `is_new`, the event was just read and is not stored.
        """
        if self._needs_none(event, target):
            return target
        if not is_new and self.context.events.get(event.user_id, event.id) is not None:
            return target
        return target if self._take(event, target) else daily_target(reader)

    def allow(self, event: Event, schedule: str) -> bool:
        """Return True if an event may wait under `schedule`. Takes a token if necessary."""
        target = Target(schedule)
        return self._needs_none(event, target) or self._take(event, target)

    def refused(self, all_stored: Sequence[StoredEvent], target: Target) -> Sequence[StoredEvent]:
        """Return the events of one schedule that must go to the digest instead of the target.

        The other events may move, unless they may have been sent. They share a token, if they need
        one. An event that has to stay takes none, and neither does one that becomes urgent, because
        its thread has had one.
        """
        first = all_stored[0]
        if target.keeps(first.schedule) or self._needs_none(first.event, target):
            return ()
        free = leaving(all_stored, self.context)
        return () if not free or self._take(first.event, target) else free

    def place(self, stored: StoredEvent, target: Target, reader: Reader) -> StoredEvent | None:
        """Move a stored event to the target, or without a token to the daily digest.

        Returns the event as stored now, or None if it was removed.
        """
        if self.refused([stored], target):
            return move_to_digest(stored, reader, context=self.context)
        return move(stored, target, context=self.context)

    def _needs_none(self, event: Event, target: Target) -> bool:
        """Return True if an event needs no token. Critical events and links never need one."""
        schedule, user_id = target.schedule, event.user_id
        if (
            self.context.immediate_limit is None
            or kind_of(schedule) is not ScheduleKind.IMMEDIATE
            or is_critical(schedule)
            or event.category == NEW_LINK
            or (user_id, schedule) in self._taken
        ):
            return True
        chain = self.context.runs.chain(latest_run(user_id, schedule))
        return not needs_run(chain, self.context.clock())

    def _take(self, event: Event, target: Target) -> bool:
        """Take a token of the reader. Return False if the limit allows no further email."""
        limit, usage = self.context.immediate_limit, self.context.immediate_usage
        user_id = event.user_id
        if limit is None or usage is None:
            return True
        if user_id in self._refused:
            return False
        for _ in ATTEMPTS:
            used = usage.get(user_id)
            after = limit.take(used, self.context.clock())
            if after is None:
                self._refused.add(user_id)
                return False
            if usage.put(user_id, after, replacing=used):
                self._taken.add((user_id, target.schedule))
                return True
        raise kept_changing(f"The number of immediate emails of {user_id}")


def move_to_digest(
    stored: StoredEvent, reader: Reader, *, context: RoutingContext
) -> StoredEvent | None:
    """Move an event to the daily digest for good, because the limit allows no immediate email.

    Returns the event as stored now, or None if it was removed.
    """
    target, capped = daily_target(reader), replace(stored, is_capped=True)
    is_there = target.keeps(stored.schedule)
    moved = stored if is_there else move(capped, target, context=context)
    if moved is None or moved.is_capped or not target.keeps(moved.schedule):
        return moved
    return replace(moved, is_capped=True) if context.events.cap(moved) else moved


def target_by_mark(
    stored: StoredEvent, target: Target, inputs: RoutingInputs, context: RoutingContext
) -> Target:
    """Return the target of a stored event with the mark, which would have `target` without it."""
    marked = target_of(stored.event, inputs, context, is_capped=True)
    return marked if isinstance(marked, Target) else target
