"""Read the window of a run and sort its events, keeping only a few of them in memory."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from gazette.domain.delivery.run import Reason, Run, name_of, newest_of, possibly_sent_until
from gazette.domain.errors import Overtaken
from gazette.domain.model import Event, RunKey, StoredEvent, Window
from gazette.domain.ports.stores import EVENTS_AT_ONCE, EventReader
from gazette.domain.window.briefs import StoredBrief, brief_of
from gazette.domain.window.folded import Folded, Folding, Load
from gazette.domain.window.seen import NOTHING_SEEN, Seen, seen_at
from gazette.domain.withdrawing.withdrawals import Withdrawals
from gazette.domain.withdrawing.withdrawn import Withdrawn

MOST_WHOLE = 2_000
"""The maximum number of complete events that are in memory while a window is read."""

MOST_REMOVED = 40 * EVENTS_AT_ONCE
"""The maximum number of expired, lapsed and withdrawn events that one message removes and keeps in
memory."""

MOST_LEFT_OUT = 500
"""The maximum number of seen events that one message leaves out, because each takes one write."""

MOST_DIVIDED = 100
"""The number of bodies after which one message removes no more of them, because each row takes
several calls."""


@dataclass(frozen=True, slots=True)
class WindowEvents:
    """The events of a window, grouped by treatment: send, defer or remove."""

    sent: Folded
    """The events to send."""

    to_defer: Sequence[str]
    """The ids of the events to defer before the claim."""

    over: Sequence[StoredEvent]
    """Expired, lapsed, withdrawn and seen events, which are removed and counted before the claim.

    Each seen event has its `seen_at`, and each withdrawn event its `withdrawn_at`.
    """

    partly_over: Sequence[StoredEvent]
    """The bodies that no email may show, of rows with another body that the run may show.

    Each body is like an event in `over`. The bodies of a row follow each other. They are removed
    before anything else (rule 30).
    """

    more_are_over: bool
    """True if the window has expired, lapsed, withdrawn or seen events that are not in `over`."""

    newest: tuple[str, ...]
    """The names of the most recently stored events (`newest_of`)."""

    left_out: tuple[str, ...]
    """The names of events that an earlier attempt should have shown but did not."""

    may_have_been_sent: frozenset[str]
    """The ids of events in `sent` and `over` that an earlier attempt may have sent."""

    categories: frozenset[str]
    """The categories of the events in `sent` that no earlier attempt may have sent."""

    lapse_at: datetime | None
    """The earliest time at which an event in `sent` lapses."""

    movable_from: datetime | None
    """The earliest storage time of the held events and of new events in `sent`, or None."""

    oldest_at: datetime | None
    """The earliest time of an event in `sent`, or None.

    An item of a content source counts from its storage time, because it may be of any age.
    """

    over_at: datetime | None
    """The earliest time at which an event in `sent` lapses or expires, not counting items."""

    withdrawals: Withdrawals
    """The withdrawals that were applied."""

    def has_lapsed(self, now: datetime) -> bool:
        """Return True if an event in `sent` has lapsed."""
        return self.lapse_at is not None and self.lapse_at <= now


def read_window(
    key: RunKey,
    window: Window,
    *,
    events: EventReader,
    unknown: Sequence[Run],
    on_hold: Collection[str],
    now: datetime,
    seen: Seen = NOTHING_SEEN,
    withdrawals: Withdrawals = (),
) -> WindowEvents:
    """Read the window of a run (rules 19, 26 and 27).

    `unknown` contains attempts that may have sent its events. Only a few complete events are kept
    in memory, however many events the window has (decision 105).

    A hold does not affect an event that may have been sent. Otherwise, the event would be sent
    again if evidence for its email arrived. Such an event stays with its run, or with the run that
    carries this run.

    If such a run's email omitted an event of its window, the event was written late, and its writer
    stores it with a new time (rule 14). If this attempt showed the event, a delivery event could
    not show which of the two attempts contained it.
    """
    sorting = _Sorting(
        unknown=unknown,
        possibly_sent_until=possibly_sent_until(unknown),
        on_hold=on_hold,
        now=now,
        seen=seen,
        withdrawals=withdrawals,
        withdrawn=Withdrawn(withdrawals, now) if withdrawals else None,
        folding=Folding(load_from(key, window, events), whole=MOST_WHOLE),
    )
    stored = events.skim(key.user_id, key.schedule, window)
    newest = newest_of(sorting.each_sent(stored), window)
    return sorting.sorted(newest)


def is_too_late(stored: StoredEvent, now: datetime) -> bool:
    """Return True if the event counts as expired instead of lapsed.

    An item that its source no longer offers, a seen event and a withdrawn event do not count as
    expired.
    """
    is_left_out = stored.seen_at or stored.withdrawn_at
    return not (stored.event.source or is_left_out or stored.event.has_lapsed(now))


def why_removed(run: Run, over: Sequence[StoredEvent], now: datetime) -> Reason | None:
    """Return the reason for which the events in `over`, and earlier ones of the run, were removed.

    An event that Gazette delivered too late takes precedence, then a withdrawn event, then a seen
    event. Items that their source no longer offers do not count.
    """
    reasons = {run.removed}
    for stored in over:
        if is_too_late(stored, now):
            reasons.add(Reason.EXPIRED)
        elif stored.withdrawn_at:
            reasons.add(Reason.WITHDRAWN)
        elif stored.seen_at:
            reasons.add(Reason.SEEN)
        elif not stored.event.source:
            reasons.add(Reason.LAPSED)
    return next((each for each in _STRONGEST if each in reasons), None)


_STRONGEST = (Reason.EXPIRED, Reason.WITHDRAWN, Reason.SEEN, Reason.LAPSED)


def load_from(key: RunKey, window: Window, events: EventReader) -> Load:
    """Return a function that loads events by id from a window that was read before.

    The function raises Overtaken if an event is no longer in the window.
    """

    def load(event_ids: Collection[str]) -> Mapping[str, Event]:
        loaded = events.load(key.user_id, event_ids)
        for event_id in event_ids:
            stored = loaded.get(event_id)
            if not stored or stored.schedule != key.schedule or not window.holds(stored.stored_at):
                raise Overtaken("An event has left the window since it was read.")
        return {event_id: stored.event for event_id, stored in loaded.items()}

    return load


@dataclass(slots=True, kw_only=True, eq=False)
class _Sorting:
    """A sorter that decides the treatment of each event while a window is read."""

    unknown: Sequence[Run]
    """The attempts that may have sent some of the events."""

    possibly_sent_until: datetime
    """The last instant up to which these attempts may have sent events."""

    on_hold: Collection[str]
    now: datetime
    seen: Seen
    withdrawals: Withdrawals
    withdrawn: Withdrawn | None
    """The withdrawals in force. None if the stage has none."""

    folding: Folding
    over: list[StoredEvent] = field(default_factory=list)
    left: list[StoredEvent] = field(default_factory=list)
    """The seen events."""

    partly_over: list[StoredEvent] = field(default_factory=list)
    to_defer: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    may_have_been_sent: set[str] = field(default_factory=set)
    categories: set[str] = field(default_factory=set)
    lapse_at: datetime | None = None
    movable_from: datetime | None = None
    oldest_at: datetime | None = None
    over_at: datetime | None = None

    def each_sent(self, window: Iterator[StoredBrief]) -> Iterator[StoredBrief]:
        """Sort the events of a window. Yield the events to send without keeping them in memory."""
        unknown, seen, withdrawn = self.unknown, self.seen, self.withdrawn
        for stored in window:
            event = stored.event
            if stored.over_at <= self.now:
                self._add_over(stored)
            elif unknown and self._is_passed_over(stored):
                self.left_out.append(name_of(event.id))
            elif withdrawn and (at := withdrawn.at_of(stored)):
                self._add_over(stored, withdrawn_at=at)
            elif seen and (at := seen_at(event, seen)):
                self._leave_out(stored, at)
            elif event.category in self.on_hold and stored.stored_at > self.possibly_sent_until:
                self.to_defer.append(event.id)
                self._add_movable(stored)
            else:
                self.folding.add(stored)
                if unknown and self._is_shown(stored):
                    self.may_have_been_sent.add(event.id)
                else:
                    self.categories.add(event.category)
                    self._add_movable(stored)
                lapse_at = stored.lapses_at
                if lapse_at and (self.lapse_at is None or lapse_at < self.lapse_at):
                    self.lapse_at = lapse_at
                self._add_age(stored)
                yield stored

    def sorted(self, newest: tuple[str, ...]) -> WindowEvents:
        """Return the sorted events."""
        over, most = self.over, MOST_REMOVED
        return WindowEvents(
            self.folding.folded(),
            self.to_defer,
            [*over[:most], *self.left[:MOST_LEFT_OUT]],
            self.partly_over,
            len(over) > most or len(self.left) > MOST_LEFT_OUT,
            newest,
            tuple(sorted(self.left_out)),
            frozenset(self.may_have_been_sent),
            frozenset(self.categories),
            self.lapse_at,
            self.movable_from,
            self.oldest_at,
            self.over_at,
            self.withdrawals,
        )

    def _add_movable(self, stored: StoredBrief) -> None:
        # Events are read in the order of `stored_at`.
        self.movable_from = self.movable_from or stored.stored_at

    def _add_age(self, stored: StoredBrief) -> None:
        is_item = stored.event.source
        since = stored.stored_at if is_item else stored.event.occurred_at
        if self.oldest_at is None or since < self.oldest_at:
            self.oldest_at = since
        if not is_item and (self.over_at is None or stored.over_at < self.over_at):
            self.over_at = stored.over_at

    def _add_over(self, stored: StoredBrief, withdrawn_at: datetime | None = None) -> None:
        if len(self.over) > MOST_REMOVED:
            return
        row = stored.decode()
        if row.others and self._divide(row):
            return
        self.over.append(replace(row, seen_at=None, withdrawn_at=withdrawn_at))
        self._add_shown(stored)

    def _leave_out(self, stored: StoredBrief, at: datetime) -> None:
        if len(self.left) > MOST_LEFT_OUT:
            return
        row = stored.decode()
        if row.others and self._divide(row):
            return
        self.left.append(replace(row, seen_at=at, withdrawn_at=None))
        self._add_shown(stored)

    def _divide(self, row: StoredEvent) -> bool:
        """Collect the bodies of a row that no email may show, if an email may show another body."""
        if row.has_expired(self.now):
            return False
        over = list(filter(None, map(self._over, row.each_alone())))
        if len(over) == len(row.bodies):
            return False
        if len(self.partly_over) < MOST_DIVIDED:
            self.partly_over += over
        return True

    def _over(self, body: StoredEvent) -> StoredEvent | None:
        """Return a body that no email may show, with the reason; None if an email may show it."""
        event = body.event
        withdrawn_at = self.withdrawn.at(event) if self.withdrawn else None
        if event.has_lapsed(self.now) or withdrawn_at:
            return replace(body, seen_at=None, withdrawn_at=withdrawn_at)
        at = seen_at(brief_of(event), self.seen)
        return replace(body, seen_at=at, withdrawn_at=None) if at else None

    def _add_shown(self, stored: StoredBrief) -> None:
        if self._is_shown(stored):
            self.may_have_been_sent.add(stored.event.id)

    def _is_passed_over(self, stored: StoredBrief) -> bool:
        return any(each.has_passed_over(stored.event.id, stored.stored_at) for each in self.unknown)

    def _is_shown(self, stored: StoredBrief) -> bool:
        return any(each.has_shown(stored.event.id, stored.stored_at) for each in self.unknown)
