"""The pace in DynamoDB: one row, of which every worker takes turns under conditions."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from gazette.adapters.dynamo import bind, translated, update_or_current
from gazette.adapters.tables import PaceRow
from gazette.domain.errors import Unavailable
from gazette.domain.pace import (
    NoTurn,
    Pace,
    PacePlan,
    PaceReading,
    Quota,
    Taking,
    is_used_up,
    read,
    take,
)

EMAIL = "email"
"""The row of all email of this installation."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_TRIES = 8
"""What is remembered is refreshed by each refusal; the row would have to change its kind of
state so often between two calls."""


class DynamoQuota:
    """The port `QuotaStore` on the table `pace`."""

    def __init__(self, table_name: str, *, name: str = EMAIL) -> None:
        bind(PaceRow, table_name)
        self._name = name

    def set_quota(self, quota: Quota, at: datetime) -> None:
        """One UpdateItem."""
        changes: list[Action] = [PaceRow.quota.set(quota.rate), PaceRow.quota_at.set(_number(at))]
        for attribute, value in ((PaceRow.daily, quota.daily), (PaceRow.left, quota.left)):
            changes.append(attribute.remove() if value is None else attribute.set(value))
        with translated():
            PaceRow(self._name).update(actions=changes)


class DynamoPacer:
    """The ports `Pacer` and `PaceGauge` on the table `pace`.

    Remembers the row as it last saw it. What it remembers decides which change it asks for; the
    conditions of the change hold only where that is right, whatever others did meanwhile, and a
    refusal brings the row. A turn beyond one that is remembered is never nearer than that, so
    `BUSY` and the cap of a new domain need no call. That nothing is left of the account's day is
    not remembered: the next tick may have said otherwise.
    """

    def __init__(self, table_name: str, plan: PacePlan, *, name: str = EMAIL) -> None:
        bind(PaceRow, table_name)
        self._plan = plan
        self._name = name
        self._known = Pace()

    def reserve(self, now: datetime, latest: datetime) -> datetime | NoTurn:
        """One UpdateItem, and one more where what it remembered was not so any more."""
        if is_used_up(self._known, now):
            self._known = Pace()
        for _ in range(_TRIES):
            wanted = take(self._known, self._plan, now=now, latest=latest)
            if isinstance(wanted, NoTurn):
                return wanted
            won, row = update_or_current(
                PaceRow(self._name),
                _changes(self._known, wanted),
                _still(self._known, wanted, now=now, latest=latest),
            )
            self._known = _pace(row)
            if won and self._known.next_at:
                return self._known.next_at - wanted.cost
        raise Unavailable(f"The row {self._name!r} of the pace kept changing; ask again.")

    def read(self, now: datetime) -> PaceReading:
        """One strongly consistent GetItem."""
        with translated():
            try:
                row = PaceRow.get(self._name, consistent_read=True)
            except PaceRow.DoesNotExist:
                row = None
        return read(_pace(row), self._plan, now)


def _changes(known: Pace, wanted: Taking) -> list[Action]:
    """What to write: additions where others may add at the same time."""
    cost = wanted.cost // _MICROSECOND
    is_queued = known.next_at == wanted.at
    next_at = PaceRow.next_at + cost if is_queued else _number(wanted.at) + cost
    changes: list[Action] = [PaceRow.next_at.set(next_at)]
    if wanted.stretch_at == known.stretch_at:
        changes.append(PaceRow.stretch_taken.set(PaceRow.stretch_taken + 1))
    else:
        changes += [
            PaceRow.stretch_at.set(_number(wanted.stretch_at)),
            PaceRow.last_taken.set(PaceRow.stretch_taken if wanted.last_taken else 0),
            PaceRow.stretch_taken.set(1),
        ]
    if wanted.day == known.day:
        changes.append(PaceRow.taken.set(PaceRow.taken + 1))
    else:
        changes += [PaceRow.day.set(wanted.day.isoformat()), PaceRow.taken.set(1)]
    if wanted.is_of_quota:
        changes.append(PaceRow.left.set(PaceRow.left - 1))
    return changes


def _still(known: Pace, wanted: Taking, *, now: datetime, latest: datetime) -> Condition:
    """The row is of the kind that is remembered: waited for or idle, this stretch, day, quota."""
    condition: Condition
    if known.next_at is None:
        condition = PaceRow.next_at.does_not_exist()
    elif known.next_at == wanted.at:
        condition = PaceRow.next_at.between(_number(now), _number(latest))
    else:
        condition = PaceRow.next_at < _number(now)
    condition &= _is(PaceRow.quota_at, known.quota_at and _number(known.quota_at))
    condition &= _is(PaceRow.stretch_at, known.stretch_at and _number(known.stretch_at))
    condition &= _is(PaceRow.day, known.day and known.day.isoformat())
    if wanted.cap is not None and wanted.day == known.day:
        condition &= PaceRow.taken < wanted.cap
    if wanted.is_of_quota:
        condition &= PaceRow.left > 0
    return condition


def _is(attribute: Attribute[Any], value: object) -> Condition:
    condition: Condition = attribute.does_not_exist() if value is None else attribute == value
    return condition


def _number(instant: datetime) -> int:
    return (instant - _EPOCH) // _MICROSECOND


def _instant(number: float | None) -> datetime | None:
    return None if number is None else _EPOCH + int(number) * _MICROSECOND


def _pace(row: PaceRow | None) -> Pace:
    if row is None:
        return Pace()
    return Pace(
        quota=None if row.quota is None else _quota(row),
        quota_at=_instant(row.quota_at),
        next_at=_instant(row.next_at),
        stretch_at=_instant(row.stretch_at),
        stretch_taken=int(row.stretch_taken or 0),
        last_taken=int(row.last_taken or 0),
        day=date.fromisoformat(row.day) if row.day else None,
        taken=int(row.taken or 0),
    )


def _quota(row: PaceRow) -> Quota:
    daily, left = (None if number is None else int(number) for number in (row.daily, row.left))
    return Quota(rate=row.quota, daily=daily, left=left)
