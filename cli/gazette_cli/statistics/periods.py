"""The slots of a report: a batch, a week, an experiment or a rollout. No I/O."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from gazette.domain.feedback.experiment import ExperimentPeriod
from gazette.domain.scheduling.calendar import SLOT, slot_id, slot_of
from gazette.domain.scheduling.instants import read_instant
from gazette.domain.templates.versions import Change

from gazette_cli.shared.console import NotPossible, printable
from gazette_support.domain.experiment_readers import Compared
from gazette_support.domain.templates.history import last_rollout
from gazette_support.steps import statistics as steps
from gazette_support.steps.statistics import ArmOf

_WEEK = re.compile(r"([12][0-9]{3})-W([0-9]{2})")

_BEFORE = timedelta(days=1)
"""The maximum time between the due time and the sending of an email in an experiment."""


@dataclass(frozen=True, slots=True)
class Span:
    """The slots of a report, and the comparison to make."""

    title: str

    # The start of the first slot.
    since: datetime

    # The end of the last slot.
    until: datetime

    # Returns the arm of an email, or None for an email outside the comparison.
    arm_of: ArmOf | None = None

    compared: Compared = Compared.VARIATION

    # The number of the arm that is compared with the other arms, or None for the lowest number.
    base: int | None = None

    @property
    def slots(self) -> list[datetime]:
        """The start of each slot."""
        return [self.since + number * SLOT for number in range((self.until - self.since) // SLOT)]


def of_batch(text: str) -> Span:
    """Return the slot that contains an instant with a time zone. Raises NotPossible."""
    try:
        instant = read_instant(text)
        slot = slot_of(instant)
    except (ValueError, OverflowError):
        instant = None
    if instant is None or instant.tzinfo is None:
        raise NotPossible(
            f"--batch {printable(text)!r} is not a batch. Specify the slot of a batch in UTC, "
            "such as 2026-11-22T06:10Z. To see the slots, run `gazette batch list`."
        )
    return Span(f"Emails due in the slot {slot_id(slot)}", slot, slot + SLOT)


def of_week(text: str | None, *, now: datetime) -> Span:
    """Return the slots of an ISO 8601 week in UTC, up to now. None means this week. Raises
    NotPossible.
    """
    this_week = "{:04d}-W{:02d}".format(*now.astimezone(UTC).isocalendar())
    week = this_week if text is None else text
    monday = _monday(week)
    if monday is None:
        raise NotPossible(
            f"--week {printable(week)!r} is not an ISO 8601 week. Specify a week such as 2026-W47."
        )
    since = datetime.combine(monday, time(), UTC)
    end = since + timedelta(days=7)
    if since > now:
        raise NotPossible(f"--week {week} is in the future. Specify a week up to {this_week}.")
    until = min(end, slot_of(now) + SLOT)
    so_far = " so far" if until < end else ""
    return Span(f"Emails due in the week {week}{so_far} (UTC)", since, until)


def of_experiment(name: str, periods: Mapping[str, ExperimentPeriod], *, now: datetime) -> Span:
    """Return the slots of an experiment and of the day before. Emails that were due on the day
    before may have been sent during the experiment.

    Raises NotPossible.
    """
    if name not in periods:
        known = ", ".join(sorted(periods)) or "none"
        raise NotPossible(
            f"--experiment {printable(name)!r} never ran. Past experiments: {known}. To start a "
            "new experiment, run `gazette experiment start`."
        )
    period = periods[name]
    ended = f"until {period.until:%Y-%m-%d %H:%M}" if period.until else "and still running"
    return Span(
        f"Experiment {name}, since {period.since:%Y-%m-%d %H:%M} {ended} (UTC)",
        slot_of(period.since - _BEFORE),
        slot_of(min(now, (period.until or now) + SLOT)) + SLOT,
        steps.of_experiment(name),
    )


def of_rollout(number: int, changes: Sequence[Change], *, now: datetime) -> Span:
    """Return the slots of a version's last rollout. The rollout ends when all readers or no readers
    get the version.

    Raises NotPossible.
    """
    rollout = last_rollout(number, changes)
    if rollout is None:
        raise NotPossible(
            f"--rollout {number}: this version was never rolled out to only some readers, so "
            "there is no comparison. To see all rollouts, run `gazette templates list --log`."
        )
    ended = f"until {rollout.until:%Y-%m-%d %H:%M}" if rollout.until else "and still running"
    current = f"version {rollout.current}" if rollout.current else "the deployed templates"
    return Span(
        f"Version {number} compared with {current}, since {rollout.since:%Y-%m-%d %H:%M} {ended} "
        "(UTC)",
        slot_of(rollout.since - _BEFORE),
        slot_of(min(now, (rollout.until or now) + SLOT)) + SLOT,
        steps.of_versions(number, rollout.current),
        Compared.VERSION,
        rollout.current,
    )


def _monday(week: str) -> date | None:
    match = _WEEK.fullmatch(week)
    try:
        return date.fromisocalendar(int(match[1]), int(match[2]), 1) if match else None
    except ValueError:
        return None
