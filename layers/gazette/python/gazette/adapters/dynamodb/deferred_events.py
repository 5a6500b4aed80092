"""Excludes, expires and defers events."""

from collections.abc import Sequence
from dataclasses import replace

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from gazette.adapters.dynamodb.client import ConditionFailed, bind, transaction
from gazette.adapters.dynamodb.event_rows import body_of, expired, in_place, stored_key
from gazette.adapters.dynamodb.runs import raise_epoch
from gazette.adapters.dynamodb.tables import EventRow
from gazette.domain.delivery.run import Run
from gazette.domain.model import Event, StoredEvent
from gazette.domain.ports.clock import Clock
from gazette.domain.scheduling.kinds import Unsent

_REASON_CHARACTERS = 500

_A_TRANSACTION = 49
"""Events per transaction, beside their run: half of DynamoDB's limit, because all of it together
must not exceed 4 MB.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html"""


class DynamoDeferredEvents:
    """The port `DeferredEvents` on the table `events`."""

    def __init__(self, table_name: str, *, clock: Clock) -> None:
        bind(EventRow, table_name, read_timeout=5.0)
        self._clock = clock

    def exclude(self, event: Event, run: Run, why: str, *, for_good: bool = False) -> Run | None:
        """One transaction of two."""
        return self._take_out(
            event,
            run,
            Unsent.GIVEN_UP if for_good else Unsent.EXCLUDED,
            condition=_is_under(run.key.schedule) & (EventRow.body == body_of(event)),
            also=[EventRow.why.set(why[:_REASON_CHARACTERS])],
        )

    def expire(self, stored: StoredEvent, run: Run, *, for_good: bool = False) -> Run | None:
        """One transaction of two."""
        now = self._clock()
        is_over = expired(now)
        if stored.event.has_lapsed(now):
            is_over |= EventRow.body == body_of(stored.event)
        return self._take_out(
            stored.event,
            run,
            Unsent.GIVEN_UP if for_good else Unsent.EXPIRED,
            condition=in_place(stored) & is_over,
        )

    def _take_out(
        self,
        event: Event,
        run: Run,
        place: Unsent,
        *,
        condition: Condition,
        also: Sequence[Action] = (),
    ) -> Run | None:
        """Put an event under `place`, together with the epoch of the run of its schedule."""
        try:
            with transaction(EventRow) as writes:
                raise_epoch(run, writes)
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

    def defer(self, events: Sequence[Event], run: Run) -> Run | None:
        """One transaction for each 49 events."""
        stored = EventRow.stored.set(stored_key(run.key.schedule, self._clock()))
        try:
            for start in range(0, len(events), _A_TRANSACTION):
                with transaction(EventRow) as writes:
                    raise_epoch(run, writes)
                    for event in events[start : start + _A_TRANSACTION]:
                        writes.update(
                            EventRow(event.user_id, event.id),
                            actions=[stored],
                            condition=_is_under(run.key.schedule),
                        )
                run = replace(run, epoch=run.epoch + 1)
        except ConditionFailed:
            return None
        return run


def _is_under(schedule: str) -> Condition:
    there: Condition = EventRow.stored.startswith(f"{schedule}#")
    return there
