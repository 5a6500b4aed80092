"""Read the form of the preference page. Pure.

A field that was not sent stays as it is. A field that was sent unchanged is no choice: saving the
page without changing anything leaves everything to the service.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from gazette.domain.scheduling.calendar import LONGEST_PAUSE, Days, week_number, zone_of
from gazette.domain.subscribers.choices import NOTHING, Choice
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import (
    EVERYTHING,
    MOST_CATEGORIES,
    Frequency,
    difference,
)
from gazette.domain.subscribers.overview import Overview

Fields = Mapping[str, Sequence[str]]
"""The values that were sent, by name of the field."""

UNFOLLOW = "unfollow"
"""The value of a follow's field that ends the follow."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def follow_field(entity: str) -> str:
    """The name of a follow's field: short and ASCII, whatever the entity's key contains."""
    return f"follow-{hashlib.sha256(entity.encode()).hexdigest()[:16]}"


class Act(StrEnum):
    """The buttons."""

    SAVE = "save"
    PAUSE = "pause"
    RESUME = "resume"
    UNSUBSCRIBE = "unsubscribe"
    START = "start"
    WAKE = "wake"


class Problem(StrEnum):
    """What is wrong with the value of a field."""

    NOT_OFFERED = "not_offered"
    NO_DAYS = "no_days"
    NO_DATE = "no_date"
    TOO_EARLY = "too_early"
    TOO_LATE = "too_late"
    TOO_MANY = "too_many"


@dataclass(frozen=True, slots=True)
class Submission:
    """What the reader asks for. If there are `problems`, by field, none of it may be done."""

    act: Act
    choice: Choice = NOTHING
    follows: tuple[tuple[str, FollowState], ...] = ()
    problems: Mapping[str, Problem] = field(default_factory=dict)


def asked(
    sent: Fields, overview: Overview, *, categories: Collection[str], zones: Collection[str]
) -> Submission:
    """Read the form of a reader who was shown `overview` and offered these values."""
    act = next((act for act in Act if act in sent.get("act", ())), Act.SAVE)
    if act in {Act.UNSUBSCRIBE, Act.START, Act.WAKE}:
        return Submission(act)
    return _Reading(sent, overview, act).read(categories, zones)


class _Reading:
    """Reads one form, and collects the problems of its fields."""

    def __init__(self, sent: Fields, overview: Overview, act: Act) -> None:
        self._sent = sent
        self._overview = overview
        self._now = overview.subscriber
        self._act = act
        self._problems: dict[str, Problem] = {}

    def read(self, categories: Collection[str], zones: Collection[str]) -> Submission:
        """Everything, in the order of the page."""
        own = dict(self._now.chosen)
        frequency = self._frequency("frequency", own.pop(EVERYTHING, None))
        time_zone = self._one_of("time_zone", {*zones, self._now.time_zone}, self._now.time_zone)
        by_category = {
            category: chosen
            for category in sorted({*categories, *own})
            if (chosen := self._of_category(category, own.get(category)))
        }
        if len(by_category) > MOST_CATEGORIES:
            self._problems[f"category-{next(iter(by_category))}"] = Problem.TOO_MANY
        hour = self._number("hour", range(24), self._now.times.hour)
        weekly_on = self._number("weekly_on", range(1, 8), self._now.times.weekly_on)
        follows = tuple(self._follows())
        wanted = {frequency, *by_category.values(), *(state.frequency for _, state in follows)}
        today = self._overview.now.astimezone(zone_of(time_zone)).date()
        choice = Choice(
            frequency=frequency if frequency != dict(self._now.chosen).get(EVERYTHING) else None,
            frequencies=difference(own, by_category) or None,
            clock=(hour, None) if hour != self._now.times.hour else None,
            weekly_on=weekly_on if weekly_on != self._now.times.weekly_on else None,
            custom_on=self._days(today, needed=Frequency.CUSTOM in wanted),
            paused_until=self._pause(today),
            time_zone=time_zone if time_zone != self._now.time_zone else None,
        )
        if self._problems:
            return Submission(self._act, problems=self._problems)
        return Submission(self._act, choice, follows)

    def _follows(self) -> Iterator[tuple[str, FollowState]]:
        for follow in self._overview.follows:
            name = follow_field(follow.entity)
            if self._sent.get(name, ("",))[0] == UNFOLLOW:
                yield follow.entity, FollowState(False)
                continue
            now = follow.latest.frequency
            often = self._frequency(name, now)
            if often != now:
                yield follow.entity, FollowState(True, often, follow.title)

    def _of_category(self, category: str, now: Frequency | None) -> Frequency | None:
        """What is asked of a content source has no email of its own: that is not offered."""
        is_asked = category in self._overview.asked
        offered = {*Frequency} - ({Frequency.IMMEDIATE} - {now} if is_asked else set())
        return self._frequency(f"category-{category}", now, offered)

    def _frequency(
        self, name: str, now: Frequency | None, offered: Collection[Frequency] = tuple(Frequency)
    ) -> Frequency | None:
        """The frequency of a field; None if the reader leaves it to the default."""
        said = self._one_of(name, {"", *offered}, now or "")
        return Frequency(said) if said else None

    def _number(self, name: str, offered: range, now: int) -> int:
        return int(self._one_of(name, set(map(str, offered)), str(now)))

    def _one_of(self, name: str, offered: Collection[str], now: str) -> str:
        said = self._sent.get(name, (now,))[0]
        if said in offered:
            return said
        self._problems[name] = Problem.NOT_OFFERED
        return now

    def _days(self, today: date, *, needed: bool) -> Days | None:
        """The days that were ticked, every so many weeks from this one; None if unchanged.

        Browsers do not send boxes that are not ticked; the field `weeks` shows that there were any.
        """
        if "weeks" not in self._sent:
            return None
        now = self._now.times.custom_on
        weeks = self._number("weeks", range(1, 5), now.every)
        ticked = set(self._sent.get("days", ()))
        if not ticked <= set(map(str, range(1, 8))):
            self._problems["days"] = Problem.NOT_OFFERED
            return None
        if not ticked:
            if needed and now.month_day is None:
                self._problems["days"] = Problem.NO_DAYS
            return None
        weekdays = frozenset(map(int, ticked))
        if now.month_day is None and (now.weekdays, now.every) == (weekdays, weeks):
            return None
        return Days(weekdays, weeks, week_number(today) % weeks)

    def _pause(self, today: date) -> date | None:
        """The new end of a pause; `today` ends one; None if unchanged."""
        paused = self._now.times.paused_until if self._overview.is_paused else None
        said = self._sent.get("paused_until", (paused.isoformat() if paused else "",))[0].strip()
        if self._act is Act.RESUME or (not said and self._act is Act.SAVE):
            return today if paused else None
        if paused and said == paused.isoformat():
            return None
        until = _date(said)
        if until is None:
            self._problems["paused_until"] = Problem.NO_DATE
        elif until <= today:
            self._problems["paused_until"] = Problem.TOO_EARLY
        elif until > today + LONGEST_PAUSE:
            self._problems["paused_until"] = Problem.TOO_LATE
        else:
            return until
        return None


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None
