"""What the preference page shows of a reader. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.model import Schedule, ScheduleState
from gazette.domain.subscribers.following import Follow
from gazette.domain.subscribers.frequency import (
    DIGESTS,
    EVERYTHING,
    Frequencies,
    Frequency,
    frequency_for,
    in_digest,
)
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus


class Notice(StrEnum):
    """The outcome of a reader's request."""

    SAVED = "saved"
    UNCHANGED = "unchanged"
    UNSUBSCRIBED = "unsubscribed"
    STARTED = "started"
    AWAKE = "awake"
    NOT_STARTED = "not_started"
    NOT_SAVED = "not_saved"
    UNSURE = "unsure"
    UNREADABLE = "unreadable"
    WRONG = "wrong"


FOLLOWS_AFTER = "follows"
"""The name in the query of the page of the entity behind which its follows begin."""


@dataclass(frozen=True, slots=True)
class Summary:
    """How often a reader gets updates: `usual`, and `apart`, the categories that differ from it.

    `apart` has the frequent first, `never` last; its categories are sorted.
    """

    usual: Frequency
    apart: tuple[tuple[Frequency, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A reader as stored, or dormant by the date.

    `next_due_at`: when their next digest is due, if any. `follows`: those that the page shows, of
    the follows in force: all of them, unless `follows_after` or `more_follows` name the entities
    behind which those of this page, and of the next one, begin. `critical`: the categories that
    come whatever the reader chose. `asked`: those of content sources that are asked, which never
    have an email of their own.
    """

    subscriber: Subscriber
    now: datetime
    defaults: Frequencies
    follows: tuple[Follow, ...] = ()
    follows_after: str = ""
    more_follows: str = ""
    next_due_at: datetime | None = None
    critical: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def follow_count(self) -> int:
        """How many follows the page shows."""
        return len(self.follows)

    @property
    def has_all_follows(self) -> bool:
        """Whether `follows` are all that are in force."""
        return not (self.follows_after or self.more_follows)

    @property
    def is_paused(self) -> bool:
        """Whether no email is wanted today."""
        pause = self.subscriber.pause
        return pause is not None and pause.holds_at(self.now)

    def gets(self, categories: Iterable[str]) -> Summary:
        """What the reader gets of these categories now."""
        return _summary(categories, self.subscriber.chosen, self.defaults, self.asked)

    def recommended(self, categories: Iterable[str]) -> Summary:
        """What a reader gets of these categories who leaves everything to the service."""
        return _summary(categories, (), self.defaults, self.asked)

    def default_of(self, category: str) -> Frequency:
        """What the category comes to without a choice of its own."""
        own = tuple(each for each in self.subscriber.chosen if each[0] == EVERYTHING)
        often = frequency_for(category, chosen=own, defaults=self.defaults)
        return in_digest(often) if category in self.asked else often


def next_digest(
    subscriber: Subscriber,
    schedules: Iterable[Schedule],
    follows: Iterable[Follow],
    *,
    defaults: Frequencies,
    now: datetime,
    asked: Collection[str] = (),
    are_all: bool = True,
) -> datetime | None:
    """When the next digest is due that may show an event; None if there is none, as in dormancy.

    An idle schedule counts as if an event came now. A digest that no category or follow uses any
    more may still be scheduled; it is not counted. If `follows` are not all (`are_all`), one for
    which something waits counts as used by another.
    """
    if subscriber.status is not SubscriberStatus.ACTIVE:
        return None
    wanted = _wanted(subscriber, follows, defaults, asked)
    pause = subscriber.pause
    if Frequency.IMMEDIATE in wanted and pause and pause.holds_at(now):
        wanted.add(Frequency.DAILY)
    counted = (
        each
        for each in schedules
        if each.name in wanted or (each.state is ScheduleState.ARMED and not are_all)
    )
    return min((each.due_after(now) for each in counted), default=None)


def _wanted(
    subscriber: Subscriber,
    follows: Iterable[Follow],
    defaults: Frequencies,
    asked: Collection[str],
) -> set[Frequency]:
    chosen = subscriber.chosen
    by_category = {
        frequency_for(category, chosen=chosen, defaults=defaults)
        for category in {EVERYTHING, *dict(defaults), *dict(chosen)} - {*asked}
    }
    by_category |= {
        in_digest(frequency_for(category, chosen=chosen, defaults=defaults)) for category in asked
    }
    own = {follow.latest.frequency for follow in follows}
    return by_category | {often for often in own if often}


def _summary(
    categories: Iterable[str],
    chosen: Frequencies,
    defaults: Frequencies,
    asked: Collection[str],
) -> Summary:
    """`usual` is what counts for all other categories, or else what most of these have."""
    by_category = {
        category: frequency_for(category, chosen=chosen, defaults=defaults)
        for category in sorted(categories)
    }
    by_category |= {
        category: in_digest(by_category[category]) for category in asked if category in by_category
    }
    usual = frequency_for(EVERYTHING, chosen=chosen, defaults=defaults)
    if by_category and usual not in by_category.values():
        ((usual, _),) = Counter(by_category.values()).most_common(1)
    apart = (
        (often, tuple(category for category, its in by_category.items() if its is often))
        for often in (Frequency.IMMEDIATE, *DIGESTS, Frequency.NEVER)
        if often is not usual
    )
    return Summary(usual, tuple(each for each in apart if each[1]))
