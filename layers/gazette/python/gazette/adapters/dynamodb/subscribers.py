"""Subscribers in DynamoDB."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime
from functools import partial

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from gazette.adapters.dynamodb.client import (
    LONG_READ,
    RowReader,
    bind,
    decoded,
    each_decoded,
    read_each,
    read_row,
    translated,
    written,
)
from gazette.adapters.dynamodb.histories import (
    read_choices,
    read_mutes,
    read_quiet_hours,
    read_reader_choices,
    read_service_choices,
    write_choices,
    write_mutes,
    write_quiet_hours,
    write_reader_choices,
    write_service_choices,
)
from gazette.adapters.dynamodb.tables import SubscriberRow
from gazette.adapters.dynamodb.values import (
    DATE,
    DAYS,
    SAME,
    Codec,
    Codecs,
    fields_in,
    write_days,
)
from gazette.domain.errors import UnreadableRow
from gazette.domain.muting.mutes import Mutes
from gazette.domain.scheduling.calendar import DigestTimes
from gazette.domain.stored import as_stored
from gazette.domain.subscribers.choices import NO_CHOICES, Preferences, ReaderChoices
from gazette.domain.subscribers.history import History
from gazette.domain.subscribers.subscriber import (
    EarlyChoices,
    Erased,
    Reader,
    Subscriber,
    SubscriberStatus,
)


class DynamoSubscribers:
    """Implementation of the `Subscribers` port backed by the `subscribers` table."""

    def __init__(self, table_name: str, *, read: RowReader = read_row) -> None:
        bind(SubscriberRow, table_name)
        self._read = read

    def get(self, user_id: str) -> Reader:
        """Read a subscriber with one strongly consistent GetItem, or as part of a BatchGetItem."""
        row = self._read(SubscriberRow, user_id)
        return decoded(row, reader_of) if row else None

    def get_many(self, user_ids: Collection[str]) -> Mapping[str, Reader]:
        """Read subscribers with one strongly consistent BatchGetItem per hundred."""
        readers: dict[str, Reader] = dict.fromkeys(user_ids)
        for row in read_each(SubscriberRow, [(user_id,) for user_id in readers]):
            readers[row.user_id] = decoded(row, reader_of)
        return readers

    def early(self, user_id: str) -> EarlyChoices | None:
        """Read choices that arrived before the profile, with one strongly consistent GetItem."""
        row = read_row(SubscriberRow, user_id)
        return decoded(row, _early) if row else None

    def put_early(self, early: EarlyChoices, *, replacing: EarlyChoices | None) -> bool:
        """Store choices that arrived before the profile, with one conditional UpdateItem."""
        return written(
            SubscriberRow(early.user_id).update,
            actions=[
                *_set_reader_choices(early.reader_choices, ()),
                *_set_mutes(early.mutes),
            ],
            condition=_unchanged(replacing),
        )

    def put(self, subscriber: Subscriber, *, replacing: Reader | EarlyChoices) -> bool:
        """Write the profile with one conditional UpdateItem.

        The date of the latest activity and `seen_until` are not changed, because only `mark_active`
        and `mark_seen` update them. `routes_since` is written only if the mutes have changed.
        """
        row, times = SubscriberRow(subscriber.user_id), subscriber.times
        service = write_service_choices(subscriber.recorded_service_choices)
        actions: list[Action] = [
            SubscriberRow.email.set(subscriber.email),
            SubscriberRow.name.set(subscriber.name),
            SubscriberRow.locale.set(subscriber.locale),
            SubscriberRow.time_zone.set(subscriber.time_zone),
            SubscriberRow.status.set(subscriber.status.value),
            SubscriberRow.changed_at.set(subscriber.changed_at),
            SubscriberRow.hour.set(times.hour),
            SubscriberRow.minute.set(times.minute)
            if times.minute is not None
            else SubscriberRow.minute.remove(),
            SubscriberRow.weekly_on.set(times.weekly_on),
            SubscriberRow.custom_on.set(write_days(times.custom_on)),
            SubscriberRow.paused_until.set(times.paused_until.isoformat())
            if times.paused_until
            else SubscriberRow.paused_until.remove(),
            SubscriberRow.choices.set(write_choices(subscriber.choices)),
            SubscriberRow.service_choices.set(service)
            if service
            else SubscriberRow.service_choices.remove(),
            *_set_reader_choices(subscriber.reader_choices, subscriber.service_choices),
            *_set_mutes(subscriber.mutes),
            *(
                attribute.set(at) if at else attribute.remove()
                for attribute, at in (
                    (SubscriberRow.left_at, subscriber.left_at),
                    (SubscriberRow.left_again_at, subscriber.left_again_at),
                )
            ),
            SubscriberRow.revision.set(subscriber.revision),
        ]
        if subscriber.registered_on:
            actions.append(SubscriberRow.registered_on.set(subscriber.registered_on.isoformat()))
        if subscriber.paused_last:
            actions.append(SubscriberRow.paused_last.set(subscriber.paused_last.isoformat()))
        if subscriber.resumed_at:
            actions.append(SubscriberRow.resumed_at.set(subscriber.resumed_at))
        if subscriber.consented_at:
            actions.append(SubscriberRow.consented_at.set(subscriber.consented_at))
        if subscriber.returned_at:
            actions.append(SubscriberRow.returned_at.set(subscriber.returned_at))
        if subscriber.erased_at:
            actions.append(SubscriberRow.erased_at.set(subscriber.erased_at))
        if subscriber.addressed_after:
            actions.append(SubscriberRow.addressed_after.set(subscriber.addressed_after))
        condition = _unchanged(replacing)
        since = subscriber.routes_since
        if since and isinstance(replacing, Subscriber) and subscriber.mutes != replacing.mutes:
            actions.append(SubscriberRow.routes_since.set(since))
            condition &= _not_later_than(since)
        return written(row.update, actions=actions, condition=condition)

    def mark_active(self, user_id: str, on: date) -> None:
        """Store the date of an activity with one conditional UpdateItem."""
        day = on.isoformat()
        written(
            SubscriberRow(user_id).update,
            actions=[SubscriberRow.active_on.set(day)],
            condition=(SubscriberRow.erased_at.does_not_exist() | SubscriberRow.email.exists())
            & (SubscriberRow.active_on.does_not_exist() | (SubscriberRow.active_on < day)),
        )

    def mark_seen(self, user_id: str, until: date) -> None:
        """Store the date until which marks may be stored, with one conditional UpdateItem."""
        day = until.isoformat()
        written(
            SubscriberRow(user_id).update,
            actions=[SubscriberRow.seen_until.set(day)],
            condition=(SubscriberRow.erased_at.does_not_exist() | SubscriberRow.email.exists())
            & (SubscriberRow.seen_until.does_not_exist() | (SubscriberRow.seen_until < day)),
        )

    def set_dormant(self, subscriber: Subscriber) -> bool:
        """Set or clear the dormant status with one conditional UpdateItem."""
        active_on = subscriber.active_on
        return written(
            SubscriberRow(subscriber.user_id).update,
            actions=[
                SubscriberRow.status.set(SubscriberStatus.DORMANT.value),
                SubscriberRow.revision.add(1),
            ],
            condition=_unchanged(subscriber)
            & (
                SubscriberRow.active_on == active_on.isoformat()
                if active_on
                else SubscriberRow.active_on.does_not_exist()
            ),
        )

    def mark_routed(
        self, subscriber: Subscriber, routed_for: str, *, since: datetime | None = None
    ) -> None:
        """Record, with one conditional UpdateItem, the choices by which waiting events were
        routed.
        """
        actions: list[Action] = [SubscriberRow.routed_for.set(routed_for)]
        condition = _unchanged(subscriber)
        if since:
            actions.append(SubscriberRow.routes_since.set(since))
            condition &= _not_later_than(since)
        written(SubscriberRow(subscriber.user_id).update, actions=actions, condition=condition)

    def mark_rerouted(self, user_id: str, since: datetime) -> None:
        """Record, with one conditional UpdateItem, that waiting events were rerouted."""
        written(
            SubscriberRow(user_id).update,
            actions=[SubscriberRow.routes_since.set(since)],
            condition=SubscriberRow.email.exists() & _not_later_than(since),
        )

    def erase(self, user_id: str, at: datetime) -> bool:
        """Delete all attributes except the key and the erasure time, with one conditional
        PutItem.
        """
        return written(
            SubscriberRow(user_id, erased_at=at).save,
            (SubscriberRow.changed_at.does_not_exist() | (SubscriberRow.changed_at <= at))
            & (SubscriberRow.erased_at.does_not_exist() | (SubscriberRow.erased_at <= at)),
        )


class DynamoReaders:
    """Implementation of the `Readers` port backed by the `subscribers` table.

    Used by the command line.
    """

    def __init__(self, table_name: str) -> None:
        self._rows = bind(SubscriberRow, table_name, LONG_READ)

    def each(self) -> Iterator[Reader | UnreadableRow]:
        """Yield every reader with one eventually consistent Scan per megabyte."""
        with translated():
            yield from each_decoded(self._rows.scan(), reader_of)


def _not_later_than(since: datetime) -> Condition:
    """Return the condition that the stored `routes_since` is not later than `since`.

    The condition prevents a slow writer from setting the value back.
    """
    stored = SubscriberRow.routes_since
    earlier: Condition = stored.does_not_exist() | (stored <= since)
    return earlier


def _unchanged(reader: Reader | EarlyChoices) -> Condition:
    condition: Condition
    match reader:
        case Subscriber():
            condition = SubscriberRow.email.exists() & (SubscriberRow.revision == reader.revision)
            condition &= (
                SubscriberRow.erased_at == reader.erased_at
                if reader.erased_at
                else SubscriberRow.erased_at.does_not_exist()
            )
        case Erased():
            condition = SubscriberRow.email.does_not_exist() & (
                SubscriberRow.erased_at == reader.erased_at
            )
        case None | EarlyChoices():
            condition = (
                SubscriberRow.email.does_not_exist() & SubscriberRow.erased_at.does_not_exist()
            )
            for attribute, stored in zip(_EARLY, _as_stored(reader), strict=True):
                condition &= attribute == stored if stored else attribute.does_not_exist()
    return condition


_CHOSEN = (
    SubscriberRow.reader_choices,
    SubscriberRow.reader_categories,
    SubscriberRow.quiet_hours,
)
_EARLY = (*_CHOSEN, SubscriberRow.mutes)


def _set_reader_choices(choices: ReaderChoices, service: History[Preferences]) -> list[Action]:
    texts = zip(_CHOSEN, _as_texts(choices, service), strict=True)
    return [attribute.set(text) if text else attribute.remove() for attribute, text in texts]


def _as_texts(choices: ReaderChoices, service: History[Preferences]) -> tuple[str, ...]:
    return (*write_reader_choices(choices, service), write_quiet_hours(choices, service))


def _set_mutes(mutes: Mutes) -> list[Action]:
    stored = write_mutes(mutes)
    return [SubscriberRow.mutes.set(stored) if stored else SubscriberRow.mutes.remove()]


def _as_stored(early: EarlyChoices | None) -> tuple[str | None, ...]:
    """Return the choice attributes in the format in which they were read, because the previous
    version may use a different format.
    """
    if early is None:
        return (None,) * len(_EARLY)
    chosen = early.reader_choices
    choices = early.as_stored or write_reader_choices(chosen, ())
    quiet_hours = early.quiet_hours_as_stored or write_quiet_hours(chosen, ())
    mutes = early.mutes_as_stored or write_mutes(early.mutes)
    return *choices, quiet_hours, mutes


def _early(row: SubscriberRow) -> EarlyChoices | None:
    if row.email is not None or not (row.reader_choices or row.quiet_hours or row.mutes):
        return None
    stored = row.reader_choices, row.reader_categories
    choices = read_reader_choices(*stored, ()) if row.reader_choices else NO_CHOICES
    if row.quiet_hours:
        choices, _ = read_quiet_hours(row.quiet_hours, choices, ())
    mutes = read_mutes(row.mutes) if row.mutes else ()
    return EarlyChoices(
        row.user_id,
        choices,
        mutes,
        as_stored=stored,
        quiet_hours_as_stored=row.quiet_hours,
        mutes_as_stored=row.mutes,
    )


def reader_of(row: SubscriberRow) -> Reader:
    if row.email is None:
        return Erased(row.user_id, row.erased_at) if row.erased_at else None
    return _with_reader_choices(row, _profile_of(row))


def _with_reader_choices(row: SubscriberRow, profile: Subscriber) -> Subscriber:
    if not (row.reader_choices or row.quiet_hours):
        return profile
    chosen, service = NO_CHOICES, profile.service_choices
    if row.reader_choices:
        chosen = read_reader_choices(row.reader_choices, row.reader_categories, service)
    if row.quiet_hours:
        return profile.with_choices(*read_quiet_hours(row.quiet_hours, chosen, service)[::-1])
    return replace(profile, reader_choices=chosen)


_TIMES: Codecs = {
    **dict.fromkeys(("hour", "minute", "weekly_on"), SAME),
    "custom_on": DAYS,
    "paused_until": DATE,
}
_PROFILE: Codecs = {
    **dict.fromkeys(("user_id", "email", "name", "locale", "time_zone", "changed_at"), SAME),
    **dict.fromkeys(("resumed_at", "routed_for", "routes_since", "revision"), SAME),
    **dict.fromkeys(("erased_at", "addressed_after", "left_at", "left_again_at"), SAME),
    **dict.fromkeys(("consented_at", "returned_at"), SAME),
    **dict.fromkeys(("registered_on", "paused_last", "active_on", "seen_until"), DATE),
    "status": Codec(str, partial(as_stored, SubscriberStatus)),
    "choices": Codec(write_choices, read_choices),
    "mutes": Codec(write_mutes, read_mutes),
}


def _profile_of(row: SubscriberRow) -> Subscriber:
    times = fields_in(row, _TIMES, needs=("hour", "weekly_on", "custom_on"))
    profile = fields_in(row, _PROFILE, needs=("status", "choices", "revision"))
    if row.service_choices:
        profile["recorded_service_choices"] = read_service_choices(row.service_choices)
    return Subscriber(times=DigestTimes(**times), **profile)
