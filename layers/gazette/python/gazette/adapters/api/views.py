"""Conversion of domain values into the models of the answers."""

from datetime import datetime

from gazette.adapters.api import models
from gazette.adapters.api.cursors import cursor_of
from gazette.adapters.aws.bus import custom_days
from gazette.domain.api.answers import EmailPage, ReaderEmail, ReaderState
from gazette.domain.api.choices import EffectiveChoice
from gazette.domain.export import ExportPage
from gazette.domain.model import entity_reference
from gazette.domain.muting.mutes import Mute, in_force
from gazette.domain.receipts.receipt import ActivityReceipt, Receipt, ReceiptEmail
from gazette.domain.scheduling.calendar import Days, minute_of
from gazette.domain.stored import is_known
from gazette.domain.subscribers.following import Follow
from gazette.domain.subscribers.frequency import EVERYTHING, Frequency
from gazette.domain.subscribers.subscriber import Subscriber


def subscriber_answer(state: ReaderState) -> models.Subscriber:
    """Return the answer with the present state of a reader."""
    overview = state.overview
    reader = overview.subscriber
    choices = {each.category: each for each in state.choices}
    everything = choices.pop(EVERYTHING)
    return models.Subscriber(
        user_id=reader.user_id,
        status=str(reader.status),
        paused_until=reader.times.paused_until if overview.is_paused else None,
        time_zone=reader.time_zone,
        quiet_hours=str(hours) if (hours := overview.quiet_hours) else None,
        digest=_digest(reader, overview.now),
        everything=models.Choice(
            frequency=_frequency(everything.frequency), because=everything.because
        ),
        categories=tuple(map(_choice, choices.values())),
        follows=tuple(map(_follow, overview.follows)),
        next_follows=cursor_of(reader.user_id, overview.more_follows),
        muted=tuple(map(_muted, in_force(reader.mutes))),
        next_digest=overview.next_due_at,
        waiting=tuple(
            models.Waiting(
                schedule=each.schedule,
                category=each.category,
                events=each.events,
                oldest=each.oldest,
            )
            for each in state.waiting
        ),
        has_more_waiting=state.has_more_waiting,
        revision=reader.revision,
    )


def email_page_answer(user_id: str, page: EmailPage) -> models.EmailPage:
    """Return the answer with a page of emails."""
    return models.EmailPage(
        emails=tuple(map(_email, page.emails)), next=cursor_of(user_id, page.next)
    )


def receipt_answer(receipt: Receipt) -> models.Receipt:
    """Return the answer with a receipt."""
    return models.Receipt(
        user_id=receipt.user_id,
        id=receipt.id,
        state=receipt.state,
        because=receipt.because,
        why=receipt.why or None,
        at=receipt.at,
        category=receipt.category or None,
        schedule=receipt.schedule or None,
        next_digest=receipt.next_digest,
        is_held=receipt.is_held,
        shown_as=receipt.shown_as or None,
        known_since=receipt.known_since,
        emails=tuple(map(_receipt_email, receipt.emails)),
    )


def activity_answer(receipt: ActivityReceipt) -> models.ActivityReceipt:
    """Return the answer with the receipt of an activity."""
    return models.ActivityReceipt(
        entity=entity_of(receipt.entity),
        id=receipt.id,
        stored=receipt.stored,
        retracted=receipt.retracted,
        distributed=receipt.distributed,
        expires_at=receipt.expires_at,
    )


def export_answer(page: ExportPage) -> models.Export:
    """Return the answer with a page of an export."""
    return models.Export(
        user_id=page.user_id,
        rows=tuple(
            models.ExportedRow(table=each.table, row=dict(each.values)) for each in page.rows
        ),
        not_included=tuple(
            models.NotIncludedData(what=each, meaning=each.meaning) for each in page.not_included
        ),
        next=page.next.text() if page.next else None,
    )


def entity_of(key: str) -> models.Entity:
    """Return the entity with this key."""
    kind, entity_id = entity_reference(key)
    return models.Entity(type=kind, id=entity_id)


def _muted(mute: Mute) -> models.MutedEntity:
    return models.MutedEntity(
        entity=entity_of(mute.entity), title=mute.title or None, muted_at=mute.at
    )


def _digest(reader: Subscriber, now: datetime) -> models.DigestTimes:
    times = reader.times
    minute = minute_of(reader.user_id) if times.minute is None else times.minute
    return models.DigestTimes(
        hour=times.hour,
        minute=minute,
        weekly=models.WEEKDAYS[times.weekly_on - 1],
        custom=_custom(times.custom_on, now),
    )


def _custom(days: Days, now: datetime) -> models.CustomDays:
    """Return the days of custom digests, as a choice at `now` would specify them."""
    none = {"days": (), "every_weeks": 1, "starting": None, "day_of_month": None}
    return models.CustomDays.model_validate(none | custom_days(days, now))


def _frequency(often: Frequency) -> Frequency:
    """Return a known frequency. Events with an unknown one, of a newer version, are sent daily."""
    return often if is_known(often) else Frequency.DAILY


def _choice(choice: EffectiveChoice) -> models.CategoryChoice:
    return models.CategoryChoice(
        category=choice.category, frequency=_frequency(choice.frequency), because=choice.because
    )


def _follow(follow: Follow) -> models.Follow:
    often = follow.latest.frequency
    return models.Follow(
        entity=entity_of(follow.entity),
        title=follow.title or None,
        frequency=_frequency(often) if often else None,
    )


def _email(email: ReaderEmail) -> models.Email:
    run = email.run
    return models.Email(
        email=email.email,
        schedule=run.key.schedule,
        due_at=run.due_at,
        status=str(run.status),
        reason=str(run.reason),
        certainty=email.certainty,
        sent_at=run.sent_at,
        events=run.events,
        categories=run.categories,
        outcomes={str(event): at for event, at in email.outcomes.items()},
    )


def _receipt_email(email: ReceiptEmail) -> models.ReceiptEmail:
    return models.ReceiptEmail(
        email=email.email,
        sent_at=email.sent_at,
        certainty=email.certainty,
        events=email.events,
        outcomes={str(event): at for event, at in email.outcomes.items()},
    )
