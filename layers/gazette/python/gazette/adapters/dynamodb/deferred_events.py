"""Exclusion, expiry and deferral of waiting events in DynamoDB, and the removal of seen and
withdrawn events."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from gazette.adapters.dynamodb.client import (
    LONG_READ,
    ConditionFailed,
    bind,
    transaction,
    written,
)
from gazette.adapters.dynamodb.event_rows import (
    because,
    body_of,
    expired,
    in_place_with_bodies,
    stored_key,
)
from gazette.adapters.dynamodb.runs import raise_epoch
from gazette.adapters.dynamodb.tables import EventRow
from gazette.domain.delivery.run import Run
from gazette.domain.model import Event, StoredEvent
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.stores import EVENTS_AT_ONCE
from gazette.domain.scheduling.kinds import Unsent

Removal = tuple[Event, Unsent, Condition, Sequence[Action]]
"""An event to remove, its new place, the condition of the write, and further attributes."""


class DynamoDeferredEvents:
    """Implementation of the `DeferredEvents` port backed by the `events` table."""

    def __init__(self, table_name: str, *, clock: Clock) -> None:
        self._rows = bind(EventRow, table_name, LONG_READ)
        self._clock = clock

    def exclude(self, event: Event, run: Run, why: str, *, for_good: bool = False) -> Run | None:
        """Exclude an event with one TransactWriteItems of two writes."""
        place = Unsent.GIVEN_UP if for_good else Unsent.EXCLUDED
        condition = _is_under(run.key.schedule) & (EventRow.body == body_of(event))
        condition &= EventRow.others.does_not_exist()
        return self._take_out(
            [(event, place, condition, because(error=why))],
            run,
        )

    def expire(
        self, events: Sequence[StoredEvent], run: Run, *, for_good: Collection[str] = ()
    ) -> Run | None:
        """Remove expired events with one TransactWriteItems."""
        return self._take_out(
            [
                (
                    stored.event,
                    Unsent.GIVEN_UP if stored.event.id in for_good else Unsent.EXPIRED,
                    self._is_over(stored),
                    (),
                )
                for stored in events
            ],
            run,
        )

    def withdraw(
        self, events: Sequence[StoredEvent], run: Run, *, for_good: Collection[str] = ()
    ) -> Run | None:
        """Remove withdrawn events with one TransactWriteItems."""
        return self._take_out(
            [
                (
                    stored.event,
                    Unsent.GIVEN_UP if stored.event.id in for_good else Unsent.EXCLUDED,
                    in_place_with_bodies(stored) & (EventRow.body == body_of(stored.event)),
                    because(withdrawn_at=stored.withdrawn_at),
                )
                for stored in events
            ],
            run,
        )

    def leave_out(self, stored: StoredEvent, *, for_good: bool = False) -> bool:
        """Remove an event whose entity was seen, with one conditional UpdateItem."""
        event, place = stored.event, Unsent.GIVEN_UP if for_good else Unsent.EXCLUDED
        if stored.seen_at is None:
            raise ValueError("an event that is left out must have the time at which it was seen")
        return written(
            self._rows(event.user_id, event.id).update,
            actions=[
                EventRow.stored.set(stored_key(place, self._clock())),
                EventRow.was.set(stored.schedule),
                *because(seen_at=stored.seen_at),
            ],
            condition=in_place_with_bodies(stored) & (EventRow.body == body_of(event)),
        )

    def _is_over(self, stored: StoredEvent) -> Condition:
        """Return the condition that the event has not moved and is still expired or lapsed."""
        now = self._clock()
        is_over = expired(now)
        if stored.event.has_lapsed(now):
            is_over |= EventRow.body == body_of(stored.event)
        over: Condition = in_place_with_bodies(stored) & is_over
        return over

    def _take_out(
        self,
        events: Sequence[Removal],
        run: Run,
    ) -> Run | None:
        """Remove events from their schedule and store them under a new key, in one transaction.

        The same transaction advances the epoch of the run.
        """
        try:
            with transaction(self._rows) as writes:
                raise_epoch(run, writes)
                for event, place, condition, also in events:
                    writes.update(
                        EventRow(event.user_id, event.id),
                        actions=[
                            EventRow.stored.set(stored_key(place, self._clock())),
                            EventRow.was.set(run.key.schedule),
                            *also,
                        ],
                        condition=condition,
                    )
        except ConditionFailed:
            return None
        return replace(run, epoch=run.epoch + 1)

    def defer(self, event_ids: Sequence[str], run: Run) -> Run | None:
        """Defer the events with one TransactWriteItems per 49 events."""
        stored = EventRow.stored.set(stored_key(run.key.schedule, self._clock()))
        try:
            for start in range(0, len(event_ids), EVENTS_AT_ONCE):
                with transaction(self._rows) as writes:
                    raise_epoch(run, writes)
                    for event_id in event_ids[start : start + EVENTS_AT_ONCE]:
                        writes.update(
                            EventRow(run.key.user_id, event_id),
                            actions=[stored],
                            condition=_is_under(run.key.schedule),
                        )
                run = replace(run, epoch=run.epoch + 1)
        except ConditionFailed:
            return None
        return run


def _is_under(schedule: str) -> Condition:
    condition: Condition = EventRow.stored.startswith(f"{schedule}#")
    return condition
