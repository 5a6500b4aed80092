"""The fields of the preference page: their values, and the parser of its form. Pure.

A field that was not submitted is unchanged. A field that was submitted with the value shown on the
page is also unchanged, even if the stored value has changed since. Saving an unchanged page
therefore never undoes a later choice and never counts as a choice.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import StrEnum
from urllib.parse import parse_qs, urlencode

from gazette.domain.links import entity_mark
from gazette.domain.muting.mutes import Mute, in_force
from gazette.domain.scheduling.calendar import LONGEST_PAUSE, Days, week_number, zone_of
from gazette.domain.scheduling.quiet_form import (
    QUIET,
    QUIET_FIELDS,
    QUIET_FROM,
    QUIET_UNTIL,
    SOME_HOURS,
    TIMES_OF_DAY,
    leaves_an_hour,
    offered_quiet,
    quiet_choice,
    quiet_fields,
)
from gazette.domain.stored import is_known
from gazette.domain.subscribers.choices import NOTHING, Choice
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import (
    EVERYTHING,
    MOST_CATEGORIES,
    Frequency,
    difference,
    in_digest,
)
from gazette.domain.subscribers.overview import Overview
from gazette.domain.subscribers.subscriber import Subscriber

Fields = Mapping[str, Sequence[str]]
"""The submitted values, by field name."""

UNFOLLOW = "unfollow"
"""The value of a follow's field that ends the follow."""

FOLLOW_FIELD = "follow-"
"""The prefix of the names of follow fields."""

PAUSE_FOR = "pause_for"
"""The name of the buttons that pause email for a number of weeks. They act as the pause button."""

PAUSE_WEEKS = (1, 2, 4)
"""The numbers of weeks that these buttons offer."""

_MOST_FIELDS = 1000

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


UNMUTE = "unmute"
"""The name of the checkboxes that end mutes."""


def unmute_value(mute: Mute) -> str:
    """Return the value of a mute's checkbox, which identifies the entity and the mute.

    A page that shows an earlier mute of the entity does not end a later one.
    """
    return f"{entity_mark(mute.entity)}.{mute.at.isoformat()}"


def follow_field(entity: str) -> str:
    """Return the name of a follow's form field, which is short and ASCII for every key."""
    return f"{FOLLOW_FIELD}{hashlib.sha256(entity.encode()).hexdigest()[:16]}"


class Act(StrEnum):
    """The actions that the buttons of the page perform."""

    SAVE = "save"
    PAUSE = "pause"
    RESUME = "resume"
    UNSUBSCRIBE = "unsubscribe"
    START = "start"
    WAKE = "wake"


class Problem(StrEnum):
    """An error in the value of a form field."""

    NOT_OFFERED = "not_offered"
    NO_DAYS = "no_days"
    NO_DATE = "no_date"
    TOO_EARLY = "too_early"
    TOO_LATE = "too_late"
    TOO_MANY = "too_many"
    SAME_TIMES = "same_times"


@dataclass(frozen=True, slots=True)
class Submission:
    """A reader's submission of the preference page.

    If there are any `problems`, by field, no part of the submission may be applied.
    """

    act: Act
    choice: Choice = NOTHING
    follows: tuple[tuple[str, FollowState], ...] = ()
    unmuted: tuple[Mute, ...] = ()
    """The ends of the mutes that the reader ended."""

    problems: Mapping[str, Problem] = field(default_factory=dict)
    leave_mark: str | None = None
    """The value of the form field `left` when a reader resubscribes; None if the form lacks this
    field."""


def mark_of_leave(reader: Subscriber) -> str:
    """Return the value of the form field `left`, which identifies one unsubscription of this
    reader."""
    return reader.last_left_at.isoformat() if reader.last_left_at else ""


def shown_fields(overview: Overview, categories: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the fields that a browser submits if the reader does not change the page."""
    own, times = dict(overview.subscriber.chosen), overview.subscriber.times
    pause = times.paused_until if overview.is_paused else None
    days = () if times.custom_on.month_day else map(str, sorted(times.custom_on.weekdays))
    by_category = {
        f"category-{name}": _offered(
            in_digest(own[name])
            if name in own and name in overview.queried_categories
            else own.get(name)
        )
        for name in sorted(categories)
    }
    follows = {
        follow_field(each.entity): _offered(each.latest.frequency) for each in overview.follows
    }
    single = {
        "frequency": own.get(EVERYTHING, ""),
        "weekly_on": str(times.weekly_on),
        "weeks": str(times.custom_on.every),
        "hour": str(times.hour),
        "time_zone": overview.subscriber.time_zone,
        **quiet_fields(overview.subscriber.quiet_hours, overview.default_quiet_hours),
        "paused_until": pause.isoformat() if pause else "",
        **by_category,
        **follows,
    }
    return {**{name: (value,) for name, value in single.items()}, "days": tuple(days)}


def _offered(often: Frequency | None) -> str:
    """Return the value that is selected in the list: the stored value, or else the first value."""
    return often.value if often is not None and is_known(often) else ""


def written_fields(shown: Fields) -> str:
    """Return the value of the form field `was`: the shown values, without empty fields.

    Its size depends on the number of choices and follows, not on the categories of the stage.
    """
    return urlencode({name: values for name, values in shown.items() if any(values)}, doseq=True)


def asked(
    sent: Fields, overview: Overview, *, categories: Collection[str], zones: Collection[str]
) -> Submission:
    """Parse the form that a reader submitted.

    `categories` and `zones` are the values that the page offered, and `overview` is the stored
    state.
    """
    act = next((act for act in Act if act in sent.get("act", ())), Act.SAVE)
    if PAUSE_FOR in sent:
        act = Act.PAUSE
    if act is Act.START:
        return Submission(act, leave_mark=sent.get("left", (None,))[0])
    if act in {Act.UNSUBSCRIBE, Act.WAKE}:
        return Submission(act)
    was = _was(sent)
    changed = sent if was is None else _changed(sent, was, act)
    return _Reading(changed, overview, act, was).read(categories, zones)


def _was(sent: Fields) -> Fields | None:
    """Return the fields as the page showed them; None if the previous version of Gazette made the
    page.

    The fields are not signed, because readers who alter them change only their own choices.
    """
    try:
        return parse_qs(sent["was"][0], keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except (KeyError, ValueError):
        return None


def _changed(sent: Fields, was: Fields, act: Act) -> Fields:
    """Return `sent` without the fields that the reader did not change.

    The checkboxes of the days and the number of weeks are one field, and so are the three fields of
    quiet hours. The pause button submits its date, changed or not.
    """
    same = {name for name in sent if [*sent[name]] == [*was.get(name, ("",))]}
    same -= {"days", "weeks", *QUIET_FIELDS}
    days = [{*fields.get("days", ())} for fields in (sent, was)]
    weeks = [[*fields.get("weeks", ())] for fields in (sent, was)]
    if days[0] == days[1] and weeks[0] == weeks[1]:
        same |= {"days", "weeks"}
    if quiet_choice(sent) == quiet_choice(was):
        same |= {*QUIET_FIELDS}
    if act is Act.PAUSE:
        same -= {"paused_until"}
    return {name: values for name, values in sent.items() if name not in same}


class _Reading:
    """A parser of one form, which collects the errors in its fields."""

    def __init__(self, sent: Fields, overview: Overview, act: Act, was: Fields | None) -> None:
        self._sent = sent
        self._was = was
        self._overview = overview
        self._now = overview.subscriber
        self._act = act
        self._problems: dict[str, Problem] = {}

    def read(self, categories: Collection[str], zones: Collection[str]) -> Submission:
        """Parse the whole form, in the order of the page."""
        own = dict(self._now.chosen)
        frequency = self._frequency("frequency", own.pop(EVERYTHING, None))
        time_zone = self._one_of("time_zone", {*zones, self._now.time_zone}, self._now.time_zone)
        by_category = {
            category: chosen
            for category in sorted({*categories, *own})
            if (chosen := self._of_category(category, own.get(category)))
        }
        by_category_changed = difference(own, by_category)
        if by_category_changed and len(by_category) > MOST_CATEGORIES:
            self._problems[f"category-{next(iter(by_category))}"] = Problem.TOO_MANY
        hour = self._number("hour", range(24), self._now.times.hour)
        weekly_on = self._number("weekly_on", range(1, 8), self._now.times.weekly_on)
        follows = tuple(self._follows())
        used = {frequency, *by_category.values(), *(state.frequency for _, state in follows)}
        today = self._overview.now.astimezone(zone_of(time_zone)).date()
        choice = Choice(
            frequency=frequency if frequency != dict(self._now.chosen).get(EVERYTHING) else None,
            frequencies=by_category_changed or None,
            clock=(hour, None) if hour != self._now.times.hour else None,
            weekly_on=weekly_on if weekly_on != self._now.times.weekly_on else None,
            custom_on=self._days(today, needed=Frequency.CUSTOM in used),
            paused_until=self._pause(today),
            time_zone=time_zone if time_zone != self._now.time_zone else None,
            quiet_hours=self._quiet_hours(),
        )
        if self._problems:
            return Submission(self._act, problems=self._problems)
        return Submission(self._act, choice, follows, self._unmuted())

    def _unmuted(self) -> tuple[Mute, ...]:
        """Return the ends of the mutes that the reader ticked. Mutes that have ended since are
        ignored.
        """
        ticked = set(self._sent.get(UNMUTE, ()))
        return tuple(
            mute.ended for mute in in_force(self._now.mutes) if unmute_value(mute) in ticked
        )

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
        """Return the frequency of a category.

        Immediate email is not offered for queried content sources.
        """
        is_asked = category in self._overview.queried_categories
        offered = {*Frequency} - ({Frequency.IMMEDIATE} - {now} if is_asked else set())
        return self._frequency(f"category-{category}", now, offered)

    def _frequency(
        self, name: str, now: Frequency | None, offered: Collection[Frequency] = tuple(Frequency)
    ) -> Frequency | None:
        """Return the frequency in a form field; None if the reader chose the default."""
        value = self._one_of(name, {"", *offered}, now or "")
        return Frequency(value) if value else None

    def _number(self, name: str, offered: range, now: int) -> int:
        return int(self._one_of(name, set(map(str, offered)), str(now)))

    def _one_of(self, name: str, offered: Collection[str], now: str) -> str:
        value = self._sent.get(name, (now,))[0]
        if name not in self._sent or value in offered:  # a value that another version stored stays
            return value
        self._problems[name] = Problem.NOT_OFFERED
        return now

    def _days(self, today: date, *, needed: bool) -> Days | None:
        """Return the ticked weekdays and their interval in weeks; None if unchanged.

        The interval starts this week. Browsers do not send unticked checkboxes. The field `weeks`
        proves that the form had checkboxes.
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

    def _quiet_hours(self) -> str | None:
        """Return the new quiet hours, in the format of a choice; None if unchanged."""
        if QUIET not in self._sent:
            return None
        default = self._overview.default_quiet_hours
        stored = quiet_fields(self._now.quiet_hours, default)
        read = {QUIET: self._one_of(QUIET, offered_quiet(default), stored[QUIET])}
        if read[QUIET] == SOME_HOURS:
            for name in (QUIET_FROM, QUIET_UNTIL):
                read[name] = self._one_of(name, TIMES_OF_DAY, stored[name])
            is_wrong = not leaves_an_hour(f"{read[QUIET_FROM]}-{read[QUIET_UNTIL]}")
            if is_wrong and QUIET_FROM not in self._problems:
                self._problems.setdefault(QUIET_UNTIL, Problem.SAME_TIMES)
        before, after = (
            quiet_choice({name: (value,) for name, value in fields.items()})
            for fields in (stored, read)
        )
        return after if after != before else None

    def _pause(self, today: date) -> date | None:
        """Return the new end date of a pause; `today` to end a pause; None if unchanged."""
        paused = self._now.times.paused_until if self._overview.is_paused else None
        value = self._sent.get("paused_until", (paused.isoformat() if paused else "",))[0].strip()
        if self._act is Act.RESUME:
            return today if paused and self._is_shown(paused) else None
        if PAUSE_FOR in self._sent:
            weeks = self._one_of(PAUSE_FOR, {*map(str, PAUSE_WEEKS)}, "")
            if not weeks:
                return None
            value = (today + timedelta(weeks=int(weeks))).isoformat()
        if not value and self._act is Act.SAVE:
            return today if paused else None
        if paused and value == paused.isoformat():
            return None
        until = _date(value)
        if until is None:
            self._problems["paused_until"] = Problem.NO_DATE
        elif until <= today:
            self._problems["paused_until"] = Problem.TOO_EARLY
        elif until > today + LONGEST_PAUSE:
            self._problems["paused_until"] = Problem.TOO_LATE
        else:
            return until
        return None

    def _is_shown(self, pause: date) -> bool:
        """Return True if this pause is the pause that the page shows. The page's button must not
        end a later pause."""
        return self._was is None or [*self._was.get("paused_until", ())] == [pause.isoformat()]


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None
