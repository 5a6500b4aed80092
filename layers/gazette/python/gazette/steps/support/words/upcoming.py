"""Sentences about late and upcoming digests."""

from collections.abc import Iterator
from datetime import datetime

from gazette.domain.delivery.run import Status
from gazette.domain.explanation import Due, Explanation, Outlook
from gazette.steps.support.words.phrases import clock_time, listed, local, name_of, sentence, utc


def late(outlook: Outlook, found: Explanation) -> Iterator[str]:
    """Explain why a schedule is late. Yield no sentences if the schedule is on time."""
    due = outlook.schedule.next_due_at
    what = sentence(f"{name_of(outlook.schedule.name)} of {local(due, found.zone)}")
    if outlook.due is Due.OVERDUE:
        yield (
            f"{what} is overdue because fan-out has not started it. Check the ten-minute tick and "
            "the queues shard and shard-dead."
        )
    if outlook.due is Due.UNLISTED:
        is_idle = outlook.schedule.is_idle
        why, again = (", although an event is waiting", "event") if is_idle else ("", "profile")
        yield (
            f"{sentence(name_of(outlook.schedule.name))} is missing from the due index{why}. Check "
            "the queues ingest and ingest-dead for a message about the reader, or publish the "
            f"{again} again."
        )


def following(found: Explanation) -> Iterator[str]:
    """Name the next planned digest. If no digest is planned, name the digest that will be sent if
    an event arrives.
    """
    conditions = (
        (Due.PLANNED, ""),
        (Due.IDLE, ", if an event arrives before then; no event is waiting"),
    )
    for due, condition in conditions:
        coming = [each for each in found.outlooks if each.due is due]
        if coming:
            first = min(coming, key=lambda outlook: outlook.next[0])
            name, when = name_of(first.schedule.name), first.next[0]
            what, waits = _after_open_runs(first, found)
            yield f"{what}: {name} of {local(when, found.zone)} ({utc(when)}){condition}.{waits}"
            return


def _after_open_runs(outlook: Outlook, found: Explanation) -> tuple[str, str]:
    """Return the name of the next email, and the condition of an unfinished earlier run, if any."""
    earlier = {
        entry.run.status
        for entry in found.runs
        if entry.run.key.schedule == outlook.schedule.name and entry.run.is_open
    }
    if earlier & {Status.UNKNOWN, Status.SENDING}:
        return "Next planned email", " It waits until the outcome of the earlier run is known."
    if earlier:
        return "Next planned email", " It replaces the earlier run, if that has not been sent."
    return "Next email", ""


def ending(found: Explanation) -> Iterator[str]:
    """State that the reader becomes dormant soon, and which of the next digests say so."""
    with_notice = sorted(
        (at, each.schedule.name) for each in found.outlooks for at in each.with_notice
    )
    if not with_notice or not found.dormant_at:
        return
    digests = listed([f"{name_of(name)} of {local(at, found.zone)}" for at, name in with_notice])
    verb = "has" if len(with_notice) == 1 else "have"
    yield (
        f"{found.user_id} becomes dormant at {utc(found.dormant_at)} without a further activity. "
        f"If sent, {digests} {verb} a notice with links to keep the digest or make it weekly."
    )


def quiet(found: Explanation) -> Iterator[str]:
    """List the schedules that had no run on a date because no event was waiting."""
    with_run = {entry.run.key.schedule for entry in found.runs}
    for each in found.outlooks:
        if each.quiet and each.schedule.name not in with_run:
            since, until = (f"{local(at, found.zone)} ({utc(at)})" for at in each.quiet)
            name = name_of(each.schedule.name)
            yield f"No event was waiting for {name} between {since} and {until}."


def expected(found: Explanation) -> Iterator[str]:
    """Explain why an active reader has no run on a date although events were waiting."""
    due_on_date = [(each, each.on_date) for each in found.outlooks if each.on_date]
    if not due_on_date:
        yield "The reader has no schedule that is due on that date."
    for each, due in due_on_date:
        if not each.quiet:
            yield from _missing(each, due, found)


def _missing(outlook: Outlook, due: datetime, found: Explanation) -> Iterator[str]:
    schedule = outlook.schedule
    what = sentence(f"{name_of(schedule.name)} of {clock_time(due, found.zone)}")
    if outlook.due is Due.IDLE and due >= outlook.next[0]:
        yield f"{what} is sent if an event arrives before {utc(due)}. No event is waiting now."
    elif due >= schedule.next_due_at and outlook.due in {Due.OVERDUE, Due.UNLISTED}:
        yield from late(outlook, found)
    elif due >= schedule.next_due_at and outlook.due is Due.PLANNED:
        yield f"{what} is planned ({utc(due)})."
    elif due > found.now:
        yield (
            f"{what} is omitted because the hour, days or time zone changed shortly before, or "
            "because a digest was already due on that date."
        )
    elif found.changed_at and due < found.changed_at:
        yield f"{what} was not scheduled yet. The profile dates from {utc(found.changed_at)}."
    else:
        yield (
            f"{what} has no run. The reader was inactive or had chosen a different hour, or the "
            "run was deleted after its retention period."
        )
