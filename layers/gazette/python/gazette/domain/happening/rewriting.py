"""A write of the row of a happening, on the condition that the row is as it was read. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gazette.domain.happening.bodies import LeftOut, Settlement, alone
from gazette.domain.model import Retracted, StoredEvent
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.scheduling.lifetime import lasts_until, needed_until


@dataclass(frozen=True, slots=True)
class Pointing:
    """A write of the pointer of a body, in the transaction of its row."""

    own_id: str
    before: StoredEvent | Retracted | None = None
    """The row at the own id as read: the pointer, or the row of a body that was left out. It must
    be unchanged. If None, the id must be free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """The new content and place of the row of a happening."""

    user_id: str
    event_id: str
    before: StoredEvent | Retracted | None
    """The row as read."""

    after: Settlement | None
    """The new content; None if no body remains."""

    moves: bool = False
    """True if the row gets a new storage time, or becomes a marker, in a transaction with the runs
    of its place. False if a row stays where it is or was."""

    retracted: str | None = None
    """The own id of the body that is retracted; None if none is retracted.

    If no body remains, the row becomes the marker of a retraction instead of being deleted.
    """

    pointing: Pointing | None = None
    left_out: Sequence[LeftOut] | None = None
    """Bodies that no email may show, and whose pointers become rows of their own.

    None if no body is left out.
    """

    def rows_left_out(self, now: datetime) -> Iterator[tuple[StoredEvent, str]]:
        """Yield the rows of the bodies that no email may show, with the errors of templates."""
        if not isinstance(self.before, StoredEvent):
            return
        until = self.before.lasts_until
        for each in self.left_out or ():
            row = StoredEvent(
                alone(each.event),
                Unsent.EXCLUDED,
                now,
                until,
                seen_at=each.seen_at,
                withdrawn_at=each.withdrawn_at,
                part_of=self.event_id,
            )
            yield row, each.why

    @property
    def writes_row(self) -> bool:
        """Return True if the row changes. Otherwise, only the pointer is written."""
        if self.after is None:
            return isinstance(self.before, StoredEvent)
        if self.moves or not isinstance(self.before, StoredEvent):
            return True
        after, before = self.after, self.before
        return (after.shown, after.others, after.is_capped, self.refuses_own) != (
            before.event,
            before.others,
            before.is_capped,
            before.refuses_own,
        )

    def _has_new_body(self, before: StoredEvent) -> bool:
        after = self.after
        ids = {after.shown.own_id, *(each.own_id for each in after.others)} if after else set()
        return bool(ids - {each.own_id for each in before.bodies})

    @property
    def becomes_mark(self) -> bool:
        """Return True if the row becomes the marker of a retraction instead of being deleted."""
        return self.after is None and (self.retracted is not None or self.refuses_own)

    @property
    def mark_own_id(self) -> str:
        """Return the own id of the retracted body for the marker.

        The body without an own id precedes, because every other retracted body has a marker at its
        own id.
        """
        return "" if self.refuses_own else self.retracted or ""

    def result(self, now: datetime, *, least: timedelta) -> StoredEvent | None:
        """Return the row after the write at `now`, or None if it has no bodies.

        `least` is the minimum lifetime of an event.
        """
        if self.after is None:
            return None
        after, before = self.after, self.before
        until = lasts_until(after.recurrence, now, least=least)
        if isinstance(before, StoredEvent):
            needed = needed_until(after.recurrence, now) if self.moves else None
            least_until = until if self._has_new_body(before) else needed or now
            stored = replace(before, lasts_until=max(before.lasts_until, least_until))
            if self.moves:
                stored = replace(
                    stored,
                    schedule=after.schedule,
                    stored_at=now,
                    seen_at=None,
                    withdrawn_at=None,
                )
        elif isinstance(before, Retracted) and before.stored_at and not self.moves:
            stored = StoredEvent(after.shown, before.schedule, before.stored_at, until)
        else:
            stored = StoredEvent(after.shown, after.schedule, now, until)
        revision = stored.revision + (self.writes_row and isinstance(before, StoredEvent))
        return replace(
            stored,
            event=after.shown,
            others=after.others,
            is_capped=after.is_capped,
            revision=revision,
            refuses_own=self.refuses_own,
        )

    def refused_at(self, now: datetime) -> datetime:
        """Return the time at which the body without an own id was retracted: now, or before the
        row had a body."""
        before = self.before
        return (before.retracted_at if isinstance(before, Retracted) else None) or now

    @property
    def refuses_own(self) -> bool:
        """Return True if the body without an own id was retracted, now or before."""
        before = self.before
        if isinstance(before, StoredEvent):
            return before.refuses_own or self.retracted == ""
        return isinstance(before, Retracted) and not before.own_id
