"""Which slots a report is of: those of a batch, a week, an experiment or a rollout. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from gazette.domain.feedback.experiment import ExperimentPeriod
from gazette.domain.feedback.experiment_readers import Compared
from gazette.domain.scheduling.calendar import SLOT, slot_id, slot_of
from gazette.domain.scheduling.instants import read_instant
from gazette.domain.templates.history import last_rollout
from gazette.domain.templates.versions import Change
from gazette.steps.support import statistics as steps
from gazette.steps.support.statistics import ArmOf

from cli.shared.console import NotPossible, printable

_WEEK = re.compile(r"([12][0-9]{3})-W([0-9]{2})")

_BEFORE = timedelta(days=1)
"""How long before it was sent an email of an experiment may have been due."""


@dataclass(frozen=True, slots=True)
class Span:
    """The slots from `since` on and before `until`.

    `arm_of`: of which emails alone, and what of them is compared; `base`: the variation or version
    that the others are compared with, if it is not that of the lowest number.
    """

    title: str
    since: datetime
    until: datetime
    arm_of: ArmOf | None = None
    compared: Compared = Compared.VARIATION
    base: int | None = None

    @property
    def slots(self) -> list[datetime]:
        """Each by its beginning."""
        return [self.since + number * SLOT for number in range((self.until - self.since) // SLOT)]


def of_batch(text: str) -> Span:
    """The slot that an instant lies in; its zone must be there. Raises NotPossible."""
    try:
        instant = read_instant(text)
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
        steps.of_experiment(name),
    )


def of_rollout(number: int, changes: Sequence[Change], *, now: datetime) -> Span:
    """The last rollout of a version, as long as some readers had it and others had not.

    Raises NotPossible.
    """
    found = last_rollout(number, changes)
    if found is None:
        raise NotPossible(
            f"--rollout {number}: that version was never given to a part of the readers alone, so "
            "there is nothing to compare it with. `gazette templates list --log` shows what was."
        )
    ended = f"until {found.until:%Y-%m-%d %H:%M}" if found.until else "and still goes on"
    against = f"version {found.current}" if found.current else "what was deployed"
    return Span(
        f"Version {number} beside {against}, since {found.since:%Y-%m-%d %H:%M} {ended} (UTC)",
        slot_of(found.since - _BEFORE),
        slot_of(min(now, (found.until or now) + SLOT)) + SLOT,
        steps.of_versions(number, found.current),
        Compared.VERSION,
        found.current,
    )


def _monday(week: str) -> date | None:
    found = _WEEK.fullmatch(week)
    try:
        return date.fromisocalendar(int(found[1]), int(found[2]), 1) if found else None
    except ValueError:
        return None
