"""What a reader sees of themself on the preference page. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.model import Schedule
from gazette.domain.subscribers.following import Follow
from gazette.domain.subscribers.frequency import EVERYTHING, Frequencies, Frequency, frequency_for
from gazette.domain.subscribers.subscriber import Subscriber


class Told(StrEnum):
    """What became of what a reader asked for."""

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
    """A reader as they are stored.

    `next_due_at` is their next digest, if any; `follows` are some of those that hold, of
    `follow_count`.
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
        """How often anything is wanted: of these categories, and of those known besides."""
        return _wanted(categories, self.subscriber, self.follows, self.defaults)


def next_digest(
    subscriber: Subscriber,
    schedules: Iterable[Schedule],
    follows: Iterable[Follow],
    *,
    defaults: Frequencies,
    now: datetime,
) -> datetime | None:
    """When the next digest is due that anything of what they want may be in; None where none is.

    A digest that nothing goes into any more may still be scheduled: it is no promise.
    """
    wanted = _wanted((), subscriber, follows, defaults)
    pause = subscriber.pause
    if Frequency.IMMEDIATE in wanted and pause and pause.holds_at(now):
        wanted.add(Frequency.DAILY)
    return min(
        (each.next_due_at for each in schedules if each.listed and each.name in wanted),
        default=None,
    )


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
