"""What should have come and did not, or is still to come."""

from collections.abc import Iterator
from datetime import datetime

from gazette.domain.explanation import Due, Explanation, Outlook

from cli.explain.phrases import clock_time, local, name_of, sentence, utc


def late(outlook: Outlook, found: Explanation) -> Iterator[str]:
    """What is wrong where a schedule is behind its time."""
    due = outlook.schedule.next_due_at
    what = sentence(f"{name_of(outlook.schedule.name)} of {local(due, found.zone)}")
    if outlook.due is Due.OVERDUE:
        yield (
            f"{what} is overdue: fan-out has not started it. Look at the clock that ticks every "
            "ten minutes, and at the queues shard and shard-dead."
        )
    if outlook.due is Due.UNLISTED:
        yield (
            f"{sentence(name_of(outlook.schedule.name))} is not in the due index: look at the "
            "queues ingest and ingest-dead for a message of theirs, or put the profile again."
        )


def following(found: Explanation) -> Iterator[str]:
    """What comes next, of whichever schedule."""
    planned = [each.schedule for each in found.outlooks if each.due is Due.PLANNED]
    if planned:
        first = min(planned, key=lambda schedule: schedule.next_due_at)
        when = first.next_due_at
        yield f"Next is {name_of(first.name)} of {local(when, found.zone)} ({utc(when)})."


def expected(found: Explanation) -> Iterator[str]:
    """Why a date has no run, of somebody who is active."""
    wanted = [(each, each.on_date) for each in found.outlooks if each.on_date]
    if not wanted:
        yield "None of their schedules wants that date."
    for each, due in wanted:
        yield from _missing(each, due, found)


def _missing(outlook: Outlook, due: datetime, found: Explanation) -> Iterator[str]:
    schedule = outlook.schedule
    what = sentence(f"{name_of(schedule.name)} of {clock_time(due, found.zone)}")
    if due >= schedule.next_due_at and outlook.due is not Due.PLANNED:
        yield from late(outlook, found)
    elif due >= schedule.next_due_at:
        yield f"{what} is still to come ({utc(due)})."
    elif due > found.now:
        yield (
            f"{what} is left out: hour, days or zone were changed right before it, or that date "
            "has had its digest."
        )
    elif found.changed_at and due < found.changed_at:
        yield f"{what} was not wanted yet: the profile of now is of {utc(found.changed_at)}."
    else:
        yield (
            f"{what} has no run: they were not active then, or chose another hour; or it is longer "
            "ago than runs are kept."
        )
