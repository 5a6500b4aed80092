"""Which slots a report is of: those of a batch, a week, or an experiment. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from gazette.domain.feedback.experiment import ExperimentPeriod
from gazette.domain.scheduling.calendar import SLOT, slot_id, slot_of

from cli.shared.console import NotPossible, printable

_WEEK = re.compile(r"([12][0-9]{3})-W([0-9]{2})")

_BEFORE = timedelta(days=1)
"""How long before it was sent an email of an experiment may have been due."""


@dataclass(frozen=True, slots=True)
class Span:
    """The slots from `since` on and before `until`; of `experiment` alone, where it has a name."""

    title: str
    since: datetime
    until: datetime
    experiment: str = ""

    @property
    def slots(self) -> list[datetime]:
        """Each by its beginning."""
        return [self.since + number * SLOT for number in range((self.until - self.since) // SLOT)]


def of_batch(text: str) -> Span:
    """The slot that an instant lies in; its zone must be there. Raises NotPossible."""
    try:
        instant = datetime.fromisoformat(text)
        slot = slot_of(instant)
    except (ValueError, OverflowError):
        instant = None
    if instant is None or instant.tzinfo is None:
        raise NotPossible(
            f"--batch {printable(text)!r} is no batch: write its slot in UTC, such as "
            "2026-11-22T06:10Z, as `gazette batch list` does."
        )
    return Span(f"Emails due in the slot {slot_id(slot)}", slot, slot + SLOT)


def of_week(text: str | None, *, now: datetime) -> Span:
    """A week of ISO 8601 in UTC, up to now; None: that of now. Raises NotPossible."""
    this_week = "{:04d}-W{:02d}".format(*now.astimezone(UTC).isocalendar())
    wanted = this_week if text is None else text
    monday = _monday(wanted)
    if monday is None:
        raise NotPossible(
            f"--week {printable(wanted)!r} is no week: write it as ISO 8601 does, such as 2026-W47."
        )
    since = datetime.combine(monday, time(), UTC)
    end = since + timedelta(days=7)
    if since > now:
        raise NotPossible(f"--week {wanted} has not begun: choose one up to {this_week}.")
    until = min(end, slot_of(now) + SLOT)
    so_far = " so far" if until < end else ""
    return Span(f"Emails due in the week {wanted}{so_far} (UTC)", since, until)


def of_experiment(name: str, periods: Mapping[str, ExperimentPeriod], *, now: datetime) -> Span:
    """From a day before it began, for what was due then and late. Raises NotPossible."""
    if name not in periods:
        known = ", ".join(sorted(periods)) or "none yet"
        raise NotPossible(
            f"--experiment {printable(name)!r} never ran: there was {known}. "
            "`gazette experiment start` starts one."
        )
    period = periods[name]
    ended = f"until {period.until:%Y-%m-%d %H:%M}" if period.until else "and still runs"
    return Span(
        f"Experiment {name}, since {period.since:%Y-%m-%d %H:%M} {ended} (UTC)",
        slot_of(period.since - _BEFORE),
        slot_of(min(now, (period.until or now) + SLOT)) + SLOT,
        name,
    )


def _monday(week: str) -> date | None:
    found = _WEEK.fullmatch(week)
    try:
        return date.fromisocalendar(int(found[1]), int(found[2]), 1) if found else None
    except ValueError:
        return None
