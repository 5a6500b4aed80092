"""Digests that should have been sent and were not, and the next one."""

from collections.abc import Iterator
from datetime import datetime

from gazette.domain.explanation import Due, Explanation, Outlook

from cli.explain.phrases import clock_time, local, name_of, sentence, utc


def late(outlook: Outlook, found: Explanation) -> Iterator[str]:
    """Why a schedule is late, if it is."""
    due = outlook.schedule.next_due_at
    what = sentence(f"{name_of(outlook.schedule.name)} of {local(due, found.zone)}")
    if outlook.due is Due.OVERDUE:
        yield (
            f"{what} is overdue: fan-out has not started it. Check the clock that ticks every "
            "ten minutes, and the queues shard and shard-dead."
        )
    if outlook.due is Due.UNLISTED:
        yield (
            f"{sentence(name_of(outlook.schedule.name))} is not in the due index: look in the "
            "queues ingest and ingest-dead for a message about them, or put the profile again."
        )


def following(found: Explanation) -> Iterator[str]:
    """The next digest of any schedule."""
    planned = [each.schedule for each in found.outlooks if each.due is Due.PLANNED]
    if planned:
        first = min(planned, key=lambda schedule: schedule.next_due_at)
        when = first.next_due_at
        yield f"Next is {name_of(first.name)} of {local(when, found.zone)} ({utc(when)})."


def expected(found: Explanation) -> Iterator[str]:
    """Why an active reader has no run on a date."""
    wanted = [(each, each.on_date) for each in found.outlooks if each.on_date]
    if not wanted:
        yield "No schedule of theirs is due on that date."
    for each, due in wanted:
        yield from _missing(each, due, found)


def _missing(outlook: Outlook, due: datetime, found: Explanation) -> Iterator[str]:
    schedule = outlook.schedule
    what = sentence(f"{name_of(schedule.name)} of {clock_time(due, found.zone)}")
    if due >= schedule.next_due_at and outlook.due is not Due.PLANNED:
        yield from late(outlook, found)
    elif due >= schedule.next_due_at:
        yield f"{what} is planned ({utc(due)})."
    elif due > found.now:
        yield (
            f"{what} is left out: hour, days or time zone changed shortly before, or the date "
            "already had its digest."
        )
    elif found.changed_at and due < found.changed_at:
        yield f"{what} was not scheduled yet: the profile dates from {utc(found.changed_at)}."
    else:
        yield (
            f"{what} has no run: they were not active then, had chosen another hour, or the run "
            "is no longer stored."
        )
