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
        is_idle = outlook.schedule.is_idle
        why, again = (", although an event waits", "event") if is_idle else ("", "profile")
        yield (
            f"{sentence(name_of(outlook.schedule.name))} is not in the due index{why}: look in the "
            f"queues ingest and ingest-dead for a message about them, or put the {again} again."
        )


def following(found: Explanation) -> Iterator[str]:
    """The next digest of any schedule: one for which something waits, else one that may come."""
    for due, then in ((Due.PLANNED, ""), (Due.IDLE, ", if an event comes before: nothing waits")):
        coming = [each for each in found.outlooks if each.due is due]
        if coming:
            first = min(coming, key=lambda outlook: outlook.next[0])
            name, when = name_of(first.schedule.name), first.next[0]
            yield f"Next is {name} of {local(when, found.zone)} ({utc(when)}){then}."
            return


def quiet(found: Explanation) -> Iterator[str]:
    """For which schedules nothing waited on a date, so that they have no run on it."""
    told = {entry.run.key.schedule for entry in found.runs}
    for each in found.outlooks:
        if each.quiet and each.schedule.name not in told:
            since, until = (f"{local(at, found.zone)} ({utc(at)})" for at in each.quiet)
            name = name_of(each.schedule.name)
            yield f"Nothing was waiting for {name} between {since} and {until}."


def expected(found: Explanation) -> Iterator[str]:
    """Why an active reader has no run on a date, where it is not because nothing waited."""
    wanted = [(each, each.on_date) for each in found.outlooks if each.on_date]
    if not wanted:
        yield "No schedule of theirs is due on that date."
    for each, due in wanted:
        if not each.quiet:
            yield from _missing(each, due, found)


def _missing(outlook: Outlook, due: datetime, found: Explanation) -> Iterator[str]:
    schedule = outlook.schedule
    what = sentence(f"{name_of(schedule.name)} of {clock_time(due, found.zone)}")
    if outlook.due is Due.IDLE and due >= outlook.next[0]:
        yield f"{what} comes if an event does before ({utc(due)}): nothing waits now."
    elif due >= schedule.next_due_at and outlook.due in {Due.OVERDUE, Due.UNLISTED}:
        yield from late(outlook, found)
    elif due >= schedule.next_due_at and outlook.due is Due.PLANNED:
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
