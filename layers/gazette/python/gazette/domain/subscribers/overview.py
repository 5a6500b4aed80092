"""The data that the preference page shows about a reader. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.model import Schedule, ScheduleState
from gazette.domain.scheduling.quiet import QuietHours
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
"""The query parameter that names the entity after which a page of follows begins."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A short summary of the frequencies of a reader's updates."""

    usual: Frequency
    """The frequency of most categories."""

    apart: tuple[tuple[Frequency, tuple[str, ...]], ...] = ()
    """The categories with different frequencies, from the most to the least frequent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The data that the preference page shows about one reader.

    A reader who is dormant by date is shown as dormant, even if the status is not stored yet.
    """

    subscriber: Subscriber
    now: datetime
    defaults: Frequencies
    follows: tuple[Follow, ...] = ()
    """The active follows that the page shows."""

    follows_after: str = ""
    """The entity after which this page of follows begins; empty on the first page."""

    more_follows: str = ""
    """The entity after which the next page of follows begins; empty on the last page."""

    next_due_at: datetime | None = None
    """The due time of the next digest; None if there is none."""

    schedules: tuple[Schedule, ...] = ()
    """All schedules of the reader."""

    critical: tuple[str, ...] = ()
    """The categories that are sent regardless of the reader's choice."""

    queried_categories: tuple[str, ...] = ()
    """The categories of queried content sources, which are never sent as immediate email."""

    default_quiet_hours: QuietHours | None = None
    """The quiet hours of readers without their own choice."""

    @property
    def quiet_hours(self) -> QuietHours | None:
        """The quiet hours in force, in the reader's time zone; None if there are none."""
        return self.subscriber.quiet_hours_in_force(self.default_quiet_hours)

    @property
    def follow_count(self) -> int:
        """The number of follows that the page shows."""
        return len(self.follows)

    @property
    def has_all_follows(self) -> bool:
        """Return True if `follows` contains all active follows."""
        return not (self.follows_after or self.more_follows)

    @property
    def is_paused(self) -> bool:
        """Return True if the reader's email is paused today."""
        pause = self.subscriber.pause
        return pause is not None and pause.holds_at(self.now)

    def gets(self, categories: Iterable[str]) -> Summary:
        """Return a summary of the current frequencies of these categories."""
        return _summary(categories, self.subscriber.chosen, self.defaults, self.queried_categories)

    def recommended(self, categories: Iterable[str]) -> Summary:
        """Return a summary of the default frequencies of these categories."""
        return _summary(categories, (), self.defaults, self.queried_categories)

    def default_of(self, category: str) -> Frequency:
        """Return the frequency of the category if the reader makes no choice for the category."""
        own = tuple(each for each in self.subscriber.chosen if each[0] == EVERYTHING)
        often = frequency_for(category, chosen=own, defaults=self.defaults)
        return in_digest(often) if category in self.queried_categories else often


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
    """Return the due time of the next digest that may show an event; None if there is none.

    None while the reader is dormant. An idle schedule counts as if an event arrived now. A digest
    that no category or follow uses does not count, even if it is still scheduled. If `follows` is
    incomplete (`are_all` is False), every armed digest counts, because a missing follow may use it.
    """
    if subscriber.status is not SubscriberStatus.ACTIVE:
        return None
    used = _wanted(subscriber, follows, defaults, asked)
    pause = subscriber.pause
    if Frequency.IMMEDIATE in used and pause and pause.holds_at(now):
        used.add(Frequency.DAILY)
    counted = (
        each
        for each in schedules
        if each.name in used or (each.state is ScheduleState.ARMED and not are_all)
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
    """Return a summary of the frequencies of these categories.

    `usual` is the frequency of all other categories, or else of most of these categories.
    """
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
