"""What the preference page shows of a reader. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.model import Schedule
from gazette.domain.subscribers.following import Follow
from gazette.domain.subscribers.frequency import EVERYTHING, Frequencies, Frequency, frequency_for
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus


class Notice(StrEnum):
    """The outcome of a reader's request."""

    SAVED = "saved"
    UNCHANGED = "unchanged"
    UNSUBSCRIBED = "unsubscribed"
    STARTED = "started"
    NOT_STARTED = "not_started"
    NOT_SAVED = "not_saved"
    UNSURE = "unsure"
    UNREADABLE = "unreadable"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A reader as stored, or dormant by the date.

    `next_due_at`: when their next digest is due, if any. `follows`: some of their `follow_count`
    follows that are in force.
    """

    subscriber: Subscriber
    now: datetime
    defaults: Frequencies
    follows: tuple[Follow, ...] = ()
    follow_count: int = 0
    next_due_at: datetime | None = None

    @property
    def is_paused(self) -> bool:
        """Whether no email is wanted today."""
        pause = self.subscriber.pause
        return pause is not None and pause.holds_at(self.now)

    def wanted(self, categories: Iterable[str]) -> set[Frequency]:
        """All frequencies of the reader, for these categories and all others that are known."""
        return _wanted(categories, self.subscriber, self.follows, self.defaults)


def next_digest(
    subscriber: Subscriber,
    schedules: Iterable[Schedule],
    follows: Iterable[Follow],
    *,
    defaults: Frequencies,
    now: datetime,
) -> datetime | None:
    """When the next digest is due that may show an event; None if there is none, as in dormancy.

    An idle schedule counts as if an event came now. A digest that no category or follow uses any
    more may still be scheduled; it is not counted.
    """
    if subscriber.status is not SubscriberStatus.ACTIVE:
        return None
    wanted = _wanted((), subscriber, follows, defaults)
    pause = subscriber.pause
    if Frequency.IMMEDIATE in wanted and pause and pause.holds_at(now):
        wanted.add(Frequency.DAILY)
    return min((each.due_after(now) for each in schedules if each.name in wanted), default=None)


def _wanted(
    categories: Iterable[str],
    subscriber: Subscriber,
    follows: Iterable[Follow],
    defaults: Frequencies,
) -> set[Frequency]:
    chosen = subscriber.chosen
    by_category = {
        frequency_for(category, chosen=chosen, defaults=defaults)
        for category in {EVERYTHING, *dict(defaults), *dict(chosen), *categories}
    }
    own = {follow.latest.frequency for follow in follows}
    return by_category | {often for often in own if often}
