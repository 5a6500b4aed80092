"""The pace of each stream in DynamoDB, in one row per stream. Workers take permits by conditional
writes.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, cast

from pynamodb.attributes import Attribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from gazette.adapters.cached import ALONE, Coalescer
from gazette.adapters.dynamodb.client import bind, decoded, read_row, translated, update_or_current
from gazette.adapters.dynamodb.pacing.circuit_breaker import (
    breaker_in,
    changes_to,
    is_not_by_hand,
    is_still,
)
from gazette.adapters.dynamodb.tables import PaceRow
from gazette.adapters.dynamodb.values import (
    DATE,
    MICROSECOND,
    SAME,
    Codec,
    Codecs,
    fields_in,
    instant_number,
    numbered_instant,
    rate,
)
from gazette.domain.delivery.circuit_breaker import OpenBreaker, opened_by_hand, tripped
from gazette.domain.delivery.pace import (
    NoPermit,
    Outlook,
    Pace,
    PacePlan,
    PaceReading,
    Permit,
    Quota,
    Reservation,
    is_used_up,
    longest_wait_in,
    outlook,
    read,
    take,
)
from gazette.domain.delivery.streams import Streams
from gazette.domain.errors import Unavailable
from gazette.domain.ports.clock import Clock

ROWS: Final = Streams(digest="digest", immediate="immediate")
"""The name of the row in the `pace` table for each stream of this installation."""

RECOMMENDATIONS_ROW: Final = "recommendations"
"""The name of the row in the `pace` table for the content source. Each permit allows one request to
the source."""

_TRIES = 8
"""The maximum number of attempts to take permits. Each rejected attempt returns the current row, on
which the next attempt is based.
"""


class DynamoQuota:
    """Implementation of the `QuotaStore` port backed by one row of the `pace` table."""

    def __init__(self, table_name: str, *, name: str) -> None:
        bind(PaceRow, table_name)
        self._name = name

    def set_quota(self, quota: Quota, at: datetime) -> None:
        """Store the quota with one UpdateItem, or two if the quota was exhausted."""
        changes: list[Action] = [
            PaceRow.quota.set(quota.rate),
            PaceRow.quota_at.set(instant_number(at)),
        ]
        for attribute, value in ((PaceRow.daily, quota.daily), (PaceRow.left, quota.left)):
            changes.append(attribute.remove() if value is None else attribute.set(value))
        row = PaceRow(self._name)
        was_left = PaceRow.left.does_not_exist() | (PaceRow.left > 0)
        stored, _ = update_or_current(row, changes, was_left)
        if not stored:
            changes.append(PaceRow.used_up_at.set(instant_number(at)))
            with translated():
                row.update(actions=changes)


class DynamoRateLimiter:
    """Implementation of the `RateLimiter`, `PaceGauge` and `CircuitBreaker` ports backed by a
    `pace` row.

    Caches the latest row that it has read, and derives each change from the cached row. The write
    is rejected if the change is no longer correct, because other workers changed the row in the
    meantime. A rejected write returns the current row. A permit is never earlier than the cached
    row allows, so `BUSY` and the cap of a new domain need no call. An exhausted daily quota or an
    open breaker is not cached, because either may end at any time. A caller that passes a
    `coalescer` must also pass a `clock`, because a request that waits for other threads is older
    than its permits.
    """

    def __init__(
        self,
        table_name: str,
        plan: PacePlan,
        *,
        name: str,
        coalescer: Coalescer = ALONE,
        clock: Clock | None = None,
    ) -> None:
        bind(PaceRow, table_name)
        self._plan = plan
        self._name = name
        self._coalescer = coalescer
        self._clock = clock
        self._known = Pace()

    def reserve(
        self, now: datetime, latest: datetime, *, critical: bool = False
    ) -> Permit | NoPermit:
        """Take a permit for each thread that is waiting for one, or as many permits as are
        available.

        Costs one UpdateItem for all these threads together, and one more if the cached row was
        outdated.
        """
        answer = self._reserve_critical if critical else self._reserve_all
        outcome = self._coalescer.ask(answer, (now, latest))
        return cast("Permit | NoPermit", outcome)

    def outlook(self, now: datetime) -> Outlook:
        """Estimate the time of the next free permit from the cached row, without a call."""
        return outlook(self._known, self._plan, now)

    def _reserve_critical(
        self, requests: Sequence[tuple[datetime, datetime]]
    ) -> Sequence[Permit | NoPermit | Exception]:
        return self._reserve_all(requests, critical=True)

    def _reserve_all(
        self, requests: Sequence[tuple[datetime, datetime]], *, critical: bool = False
    ) -> Sequence[Permit | NoPermit | Exception]:
        """Take permits for all requests, none of them earlier than now. Earlier permits would be
        used in a burst.

        A thread that waited for requests of other threads gets a permit at the same time as those
        threads.
        """
        patience = min(latest - each for each, latest in requests)
        now = max(each for each, _ in requests)
        now = max(now, self._clock()) if self._clock else now
        latest = now + patience
        known = self._known
        if is_used_up(known, now) or (known.breaker and known.breaker.holds(now)):
            self._known = Pace()
        permits: list[Permit | NoPermit | Exception] = []
        while missing := len(requests) - len(permits):
            outcome = self._take(now, latest, missing, critical=critical)
            permits += [outcome] * missing if isinstance(outcome, NoPermit) else outcome
        return permits

    def _take(
        self, now: datetime, latest: datetime, number: int, *, critical: bool
    ) -> Sequence[Permit] | NoPermit:
        for _ in range(_TRIES):
            known = self._known
            reservation = take(
                known, self._plan, now=now, latest=latest, number=number, critical=critical
            )
            if isinstance(reservation, NoPermit):
                return reservation
            won, row = update_or_current(
                PaceRow(self._name),
                _changes(known, reservation),
                _still(known, reservation, plan=self._plan, now=now, latest=latest),
            )
            self._known = current = _pace(row)
            if won and current.next_at:
                return reservation.permits_from(
                    current.next_at - reservation.number * reservation.cost
                )
        raise self._kept_changing()

    def trip(self, why: str, now: datetime, *, at_least: timedelta = timedelta(0)) -> OpenBreaker:
        """Open the breaker with one UpdateItem, which succeeds for only one of several workers.

        A second UpdateItem follows only if the cached row was outdated and this refusal changes the
        breaker.
        """
        known = self._known.breaker
        if known and not known.is_probed:
            # The breaker may be closed by now. A rejected write returns the current row.
            known = None
        for _ in range(_TRIES):
            next_state = tripped(known, why, now, at_least=at_least)
            if next_state == known:
                return known
            _, row = update_or_current(PaceRow(self._name), changes_to(next_state), is_still(known))
            self._known = _pace(row)
            known = self._known.breaker
            if known == next_state:
                return known
        raise self._kept_changing()

    def trip_if_closed(self, why: str, now: datetime) -> None:
        """Open the breaker with one UpdateItem, which is rejected if the breaker is open."""
        changes = changes_to(tripped(None, why, now))
        _, row = update_or_current(PaceRow(self._name), changes, is_still(None))
        self._known = _pace(row)

    def reset(self) -> None:
        """Close the breaker with one UpdateItem."""
        _, row = update_or_current(PaceRow(self._name), changes_to(None), is_not_by_hand())
        self._known = _pace(row)

    def open_by_hand(self, why: str, now: datetime) -> OpenBreaker:
        """Open the breaker until an operator closes it. Costs one UpdateItem."""
        breaker = opened_by_hand(why, now)
        self._set(breaker)
        return breaker

    def close_by_hand(self) -> None:
        """Close the breaker on behalf of an operator, with one UpdateItem."""
        self._set(None)

    def _set(self, breaker: OpenBreaker | None) -> None:
        row = PaceRow(self._name)
        with translated():
            row.update(actions=changes_to(breaker))
        self._known = _pace(row)

    def _kept_changing(self) -> Unavailable:
        return Unavailable(f"The row {self._name!r} of the table `pace` kept changing; try again.")

    def read(self, now: datetime) -> PaceReading:
        """Read the row with one strongly consistent GetItem."""
        return read(self._stored(), self._plan, now)

    def forecast(self, now: datetime, *, critical: bool = False) -> Permit | NoPermit:
        """Estimate the time of the next free permit, with one strongly consistent GetItem."""
        pace = self._stored()
        latest = now + longest_wait_in(pace, self._plan)
        reservation = take(pace, self._plan, now=now, latest=latest, critical=critical)
        return (
            reservation
            if isinstance(reservation, NoPermit)
            else reservation.permits_from(reservation.at)[0]
        )

    def _stored(self) -> Pace:
        return _pace(read_row(PaceRow, self._name))


def _changes(known: Pace, reservation: Reservation) -> list[Action]:
    """Return the updates that take the reserved permits.

    Numbers that other workers may change are written as additions.
    """
    cost, number = reservation.number * reservation.cost // MICROSECOND, reservation.number
    is_queued = known.next_at == reservation.at
    next_at = PaceRow.next_at + cost if is_queued else instant_number(reservation.at) + cost
    changes: list[Action] = [PaceRow.next_at.set(next_at)]
    if reservation.ahead_of is not None and reservation.set_back_at:
        changes.append(PaceRow.set_back_at.set(instant_number(reservation.set_back_at)))
    if reservation.stretch_at == known.stretch_at:
        changes.append(PaceRow.stretch_taken.set(PaceRow.stretch_taken + number))
    else:
        changes += [
            PaceRow.stretch_at.set(instant_number(reservation.stretch_at)),
            PaceRow.last_taken.set(PaceRow.stretch_taken if reservation.last_taken else 0),
            PaceRow.stretch_taken.set(number),
        ]
    if reservation.day == known.day:
        changes.append(PaceRow.taken.set(PaceRow.taken + number))
    else:
        changes += [PaceRow.day.set(reservation.day.isoformat()), PaceRow.taken.set(number)]
        if reservation.used_up_at and reservation.used_up_at != known.used_up_at:
            changes.append(PaceRow.used_up_at.set(instant_number(reservation.used_up_at)))
    if reservation.is_of_quota:
        changes.append(PaceRow.left.set(PaceRow.left - number))
    if reservation.is_probe:
        changes += changes_to(reservation.breaker)
    return changes


def _still(
    known: Pace, reservation: Reservation, *, plan: PacePlan, now: datetime, latest: datetime
) -> Condition:
    """Return the condition that the reservation, which is based on the cached row, is still
    correct.

    The reservation is correct under these conditions:

    - Workers wait for permits according to both rows, or according to neither.
    - The next permit is too far ahead in both rows, or in neither.
    - The stage of the ramp, the day, the quota and the breaker are equal.
    - If a day ends, its cap is exhausted in both rows, or in neither.
    """
    condition: Condition
    if known.next_at is None:
        condition = PaceRow.next_at.does_not_exist()
    elif reservation.ahead_of is not None:
        condition = PaceRow.next_at > instant_number(reservation.ahead_of)
        condition &= _is(
            PaceRow.set_back_at, known.set_back_at and instant_number(known.set_back_at)
        )
    elif known.next_at == reservation.at:
        last = latest - (reservation.number - 1) * reservation.cost
        condition = PaceRow.next_at.between(instant_number(now), instant_number(last))
    else:
        condition = PaceRow.next_at < instant_number(now)
    condition &= _is(PaceRow.quota_at, known.quota_at and instant_number(known.quota_at))
    condition &= _is(PaceRow.stretch_at, known.stretch_at and instant_number(known.stretch_at))
    condition &= _is(PaceRow.day, known.day and known.day.isoformat())
    condition &= is_still(known.breaker)
    if reservation.cap is not None and reservation.day == known.day:
        condition &= PaceRow.taken <= reservation.cap - reservation.number
    if known.day and reservation.day != known.day and (cap := plan.cap_on(known.day)) is not None:
        condition &= PaceRow.taken < cap if known.taken < cap else PaceRow.taken >= cap
    if reservation.is_of_quota:
        condition &= PaceRow.left >= reservation.number
    return condition


def _is(attribute: Attribute[Any], value: object) -> Condition:
    condition: Condition = attribute.does_not_exist() if value is None else attribute == value
    return condition


_INSTANT = Codec(instant_number, numbered_instant)
_FIELDS: Codecs = {
    **dict.fromkeys(("quota_at", "used_up_at", "next_at", "set_back_at", "stretch_at"), _INSTANT),
    **dict.fromkeys(("stretch_taken", "last_taken", "taken"), SAME),
    "day": DATE,
}


def _pace(row: PaceRow | None) -> Pace:
    return decoded(row, _read) if row else Pace()


def _read(row: PaceRow) -> Pace:
    quota = None if row.quota is None else _quota(row)
    return Pace(quota=quota, breaker=breaker_in(row), **fields_in(row, _FIELDS))


_OF_ACCOUNT: Codecs = dict.fromkeys(("daily", "left"), SAME)


def _quota(row: PaceRow) -> Quota:
    return Quota(rate=rate(row.quota), **fields_in(row, _OF_ACCOUNT))
