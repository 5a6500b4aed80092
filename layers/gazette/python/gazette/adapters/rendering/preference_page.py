"""The preference page: a form without scripts, accessible by keyboard and screen reader."""

from collections.abc import Mapping
from datetime import time, timedelta
from pathlib import Path
from typing import Any

from gazette.adapters.rendering.fragments import OTHER
from gazette.adapters.rendering.language import Language
from gazette.adapters.rendering.places import regions
from gazette.adapters.rendering.sheets import Sheets
from gazette.adapters.rendering.texts import masked, one_line
from gazette.domain.muting.mutes import in_force, name_of
from gazette.domain.scheduling.calendar import LONGEST_PAUSE, zone_of
from gazette.domain.scheduling.quiet_form import (
    QUIET,
    QUIET_FROM,
    QUIET_UNTIL,
    SOME_HOURS,
    TIMES_OF_DAY,
    offered_quiet,
)
from gazette.domain.subscribers.following import Follow
from gazette.domain.subscribers.frequency import (
    ASKED_CATEGORIES,
    EVERYTHING,
    Frequency,
)
from gazette.domain.subscribers.overview import FOLLOWS_AFTER, Notice, Overview, Summary
from gazette.domain.subscribers.preference_form import (
    PAUSE_WEEKS,
    Fields,
    Problem,
    follow_field,
    mark_of_leave,
    shown_fields,
    unmute_value,
    written_fields,
)

_FREQUENCIES = (Frequency.DAILY, Frequency.WEEKLY, Frequency.CUSTOM, Frequency.IMMEDIATE)
"""The frequencies that a reader can choose for all categories together. To stop all email, readers
unsubscribe."""

_TITLE = 120


class PreferencePages:
    """A renderer of the preference page, which lists each category that has a template folder."""

    def __init__(self, sheets: Sheets, templates: Path) -> None:
        self._sheets = sheets
        self._categories = frozenset(
            folder.name for folder in (templates / "categories").iterdir() if folder.is_dir()
        ) - {OTHER, "__pycache__"}

    def categories(self, overview: Overview) -> frozenset[str]:
        """Return the categories that have templates, a default frequency, or a choice by the
        reader.

        Critical categories are excluded, because choices do not apply to them. Categories of
        content sources that the stage lacks are excluded unless the reader has chosen a frequency
        for them.
        """
        known = {*dict(overview.defaults), *dict(overview.subscriber.chosen)}
        templates = self._categories - (ASKED_CATEGORIES - {*overview.queried_categories})
        return (templates | (known - {EVERYTHING})) - {*overview.critical}

    def page(
        self,
        overview: Overview,
        *,
        notice: Notice | None = None,
        problems: Mapping[str, Problem] | None = None,
        sent: Fields | None = None,
    ) -> str:
        """Return the page with the current choices, or with the submitted fields `sent`.

        `notice` is the result of a request. `problems` contains the errors in `sent`, by field.
        """
        language = self._sheets.languages.of(overview.subscriber.locale)
        reader = overview.subscriber
        pause = reader.times.paused_until if overview.is_paused else None
        today = overview.now.astimezone(zone_of(reader.time_zone)).date()
        categories = self.categories(overview)
        form = self._shown(overview, language, sent or {})
        gets = overview.gets(categories)
        values: dict[str, Any] = {
            "address": masked(reader.email),
            "reader": reader,
            "overview": overview,
            "follows_after": FOLLOWS_AFTER,
            "zone": zone_of(reader.time_zone),
            "notice": notice,
            "problems": dict(problems or {}),
            "form": form,
            "labels": {each[0]: each[1] for each in (*form["categories"], *form["follows"])},
            "pause": pause,
            "gets": self._in_words(gets, language),
            "held": overview.quiet_hours if _has_immediate(gets, overview) else None,
            "recommended": self._in_words(overview.recommended(categories), language),
            "days": [
                language.weekday(day)
                for day in language.weekdays()
                if day in reader.times.custom_on.weekdays
            ],
            "own_types": len(dict(reader.chosen).keys() - {EVERYTHING, *overview.critical}),
            "critical": language.named(
                [self._sheets.name_of(each, language) for each in overview.critical]
            )
            if overview.critical
            else "",
            "own_follows": sum(bool(each.latest.frequency) for each in overview.follows),
            "always": {overview.default_of(category) for category in categories}
            if "" in form["frequencies"]
            else set(),
            "hour": time(reader.times.hour),
            "last_day": today + LONGEST_PAUSE,
            "first": (today + timedelta(days=1)).isoformat(),
            "last": (today + LONGEST_PAUSE).isoformat(),
        }
        return self._sheets.render("settings.html", language, **values)

    def _shown(self, overview: Overview, language: Language, sent: Fields) -> dict[str, Any]:
        """Return the value of each form field, from `sent` if submitted, otherwise from the current
        choices.

        Categories and follows are lists of name, label and value. Categories also have their
        default.
        """
        own, times = dict(overview.subscriber.chosen), overview.subscriber.times
        categories = sorted(self.categories(overview))
        current = shown_fields(overview, categories)

        def value(name: str) -> str:
            return sent.get(name, current[name])[0]

        recommended = overview.recommended(categories)
        # The option without a choice has the same effect as this frequency, so only one is shown.
        same = None if EVERYTHING in own or recommended.apart else recommended.usual
        zone = value("time_zone")
        offered = regions(language, zone)
        names = {name for _, _, places in offered for name, _ in places}
        return {
            "was": sent["was"][0] if "was" in sent else written_fields(current),
            "left": mark_of_leave(overview.subscriber),
            "frequency": value("frequency"),
            "frequencies": [
                *([] if EVERYTHING in own else [""]),
                *(each for each in _FREQUENCIES if each != same or each == value("frequency")),
                *([Frequency.NEVER] if own.get(EVERYTHING) is Frequency.NEVER else []),
            ],
            "weekly_on": value("weekly_on"),
            "days": set(sent.get("days", ()) if "weeks" in sent else current["days"]),
            "weeks": value("weeks"),
            "month_day": times.custom_on.month_day,
            "in_digests": {f"category-{category}" for category in overview.queried_categories},
            "hour": value("hour"),
            "time_zone": zone,
            "hours": [(str(hour), language.hour(time(hour))) for hour in range(24)],
            "quiet": value(QUIET),
            "quiet_offered": offered_quiet(overview.default_quiet_hours),
            "quiet_times": [
                (name, value(name), _times(value(name), language))
                for name in (QUIET_FROM, QUIET_UNTIL)
            ],
            "is_quiet_shown": SOME_HOURS in {value(QUIET), current[QUIET][0]}
            or not overview.has_all_follows,
            "regions": offered,
            "elsewhere": "" if zone in names else zone,
            "paused_until": value("paused_until"),
            "pause_weeks": PAUSE_WEEKS,
            "categories": [
                (
                    f"category-{category}",
                    self._sheets.name_of(category, language),
                    value(f"category-{category}"),
                    overview.default_of(category),
                )
                for category in categories
            ],
            "follows": [
                (name, _title(follow), value(name))
                for follow in overview.follows
                for name in [follow_field(follow.entity)]
            ],
            "muted": [
                (unmute_value(mute), one_line(mute.name, _TITLE))
                for mute in sorted(
                    in_force(overview.subscriber.mutes), key=lambda mute: mute.name.casefold()
                )
            ],
        }

    def _in_words(self, summary: Summary, language: Language) -> dict[str, Any]:
        """Return the values with which the template summarises the reader's choices.

        In `apart`, the categories' readable names are joined into one text. In `within`, the names
        have the form for the middle of a sentence.
        """
        apart = [
            (often, [self._sheets.name_of(each, language) for each in categories])
            for often, categories in summary.apart
        ]
        return {
            "usual": summary.usual,
            "apart": [(often, language.named(names)) for often, names in apart],
            "within": [
                (often, language.named(list(map(language.inside, names)))) for often, names in apart
            ],
        }


def _title(follow: Follow) -> str:
    """Return the title of the followed entity, or its type and id."""
    return one_line(follow.title, _TITLE) or one_line(name_of(follow.entity), _TITLE)


def _times(selected: str, language: Language) -> list[tuple[str, str]]:
    """Return the full hours as values and words, and the selected time if it has minutes."""
    times = {f"{hour:02}:00" for hour in range(24)} | ({selected} & TIMES_OF_DAY)
    return [(each, language.hour(time.fromisoformat(each))) for each in sorted(times)]


def _has_immediate(gets: Summary, overview: Overview) -> bool:
    """Return True if the reader gets some updates immediately, as far as the page shows."""
    own = {each.latest.frequency for each in overview.follows}
    return Frequency.IMMEDIATE in {gets.usual, *own, *(often for often, _ in gets.apart)}
