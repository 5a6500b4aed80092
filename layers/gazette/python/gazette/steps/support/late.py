"""Recognise events that wait for the daily digest instead of an immediate email. Pure."""

from collections.abc import Collection
from datetime import datetime, timedelta

from gazette.domain.model import DAILY, StoredEvent
from gazette.domain.subscribers.following import Follow, effective_frequency
from gazette.domain.subscribers.frequency import Frequencies, Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.routing.target import LATE_AFTER


def may_be_late(stored: StoredEvent, now: datetime, critical: Collection[str]) -> bool:
    """Return True if an event may be late or over the limit, so that its follows must be read.

    Critical events are neither.
    """
    is_old = now - stored.event.counts_at > LATE_AFTER
    is_for_later = is_old or stored.is_capped
    return stored.schedule == DAILY and is_for_later and stored.event.category not in critical


def is_late(
    stored: StoredEvent,
    reader: Subscriber,
    follows: tuple[Follow | None, ...],
    *,
    defaults: Frequencies,
    sunset: timedelta | None,
) -> bool:
    """Return True if an event that may be late would be in an immediate email otherwise.

    `follows` are the follows of `event.via`, in that order. An event from a pause or a dormant
    period waits for the digest for that reason, so it is not late.
    """
    event = stored.event
    frequency = effective_frequency(
        event,
        choices=reader.choices,
        follows=follows,
        defaults=defaults,
        paused_or_dormant=reader.paused_or_dormant_at(event.counts_at, sunset=sunset),
    )
    return frequency is Frequency.IMMEDIATE
