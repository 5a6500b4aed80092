"""The lines of an overview, each with the command to run next."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from gazette.domain.console.levels import Level, Line
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.run import Status
from gazette.domain.errors import UnreadableRow
from gazette.domain.scheduling.calendar import slot_id, slot_of
from gazette.domain.scheduling.instants import moment
from gazette.domain.withdrawing.withdrawals import MOST_WITHDRAWN
from gazette.steps.support.words.lines import (
    dead_letters,
    held_by_day,
    level_of,
    quarantined,
    stopped_streams,
)

from gazette_cli.batches.views import BatchProgress, left_text
from gazette_cli.overview.alarms import Alarm
from gazette_cli.shared.console import printable
from gazette_cli.shared.next_commands import to_run
from gazette_cli.shared.pace import rate_text
from gazette_cli.templates.listing import is_deployed_since
from gazette_cli.templates.stage import in_words_of
from gazette_support.steps.overview import Overview


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of a stage, as shown in the overview."""

    stage: str
    tables: Overview

    # The number of messages by queue.
    queues: Mapping[str, int]

    # The number of messages by dead-letter queue.
    dead: Mapping[str, int]

    # The number of messages in quarantine.
    quarantine: int

    alarms: Sequence[Alarm]

    # The ARNs of the layers of the function generate.
    layers: Collection[str]

    def to_run(self, words: str) -> str:
        """Return a command for the stage of the overview."""
        return to_run(words, stage=self.stage)


def lines(seen: Seen) -> list[Line]:
    """Return all lines, sorted with the worst level first."""
    unsorted = [
        *_alarms(seen),
        *_stops(seen),
        *_withdrawals(seen),
        *_stuck(seen),
        *_unknown(seen),
        *_going_out(seen),
        *_upcoming(seen),
        *_rates(seen),
        *_templates(seen),
        *_queues(seen),
    ]
    return sorted(unsorted, key=lambda line: line.level.rank)


def _alarms(seen: Seen) -> Iterator[Line]:
    for alarm in seen.alarms:
        text = f"{alarm.name}, since {moment(alarm.since)}"
        yield Line(Level.PROBLEM, "alarm", text, f"see {alarm.page}")
    if not seen.alarms:
        yield Line(Level.OK, "alarm", "no raised alarm")


def _stops(seen: Seen) -> Iterator[Line]:
    for line in stopped_streams(seen.tables.streams, stage=seen.stage):
        yield replace(line, text=printable(line.text))
    if source := seen.tables.source:
        level = Level.WARNING if source.by_hand else Level.PROBLEM
        how = "manually" if source.by_hand else "automatically"
        text = f"recommendations: stopped {how} since {moment(source.since)}: {source.why}"
        yield Line(level, "stopped", printable(text), seen.to_run("sources status"))
    for hold in seen.tables.category_holds:
        text = f"category {hold.category}, since {moment(hold.since)}: {hold.why}"
        yield Line(Level.WARNING, "held", printable(text), seen.to_run("sending status"))


def _withdrawals(seen: Seen) -> Iterator[Line]:
    """Yield a line if withdrawals apply. It is a warning if the list takes no more."""
    withdrawals = seen.tables.withdrawals
    if withdrawals:
        number = len(withdrawals)
        oldest = min(each.at for each in withdrawals)
        text = (
            f"{number:,} of at most {MOST_WITHDRAWN} withdrawals, the oldest for "
            f"{_whole(seen.tables.at - oldest)}"
        )
        level = Level.OK if number < MOST_WITHDRAWN else Level.WARNING
        yield Line(level, "withdrawn", text, seen.to_run("withdraw list"))


def _stuck(seen: Seen) -> Iterator[Line]:
    yield from dead_letters(seen.dead, stage=seen.stage)
    yield from quarantined(seen.quarantine, stage=seen.stage)
    standing = seen.tables.standing
    yield from held_by_day(standing.held_by_day, stage=seen.stage)
    waits, due = standing.age, standing.due_at
    if due is None:
        yield Line(Level.OK, "oldest run", "no run is waiting to be sent")
        return
    level = level_of(waits)
    text = f"due at {moment(due)}, open for {_whole(waits)}"
    yield Line(level, "oldest run", text, seen.to_run(f"batch show {slot_id(slot_of(due))}"))


def _whole(duration: timedelta) -> timedelta:
    """Return a duration in whole seconds."""
    return timedelta(seconds=round(duration.total_seconds()))


def _unknown(seen: Seen) -> Iterator[Line]:
    for view in seen.tables.unknown:
        name, number = slot_id(view.batch.slot), view.number(Status.UNKNOWN)
        noun = "email" if number == 1 else "emails"
        text = f"{number:,} {noun} of batch {name} may have been sent"
        yield Line(Level.WARNING, "unknown", text, seen.to_run(f"batch show {name}"))


def _going_out(seen: Seen) -> Iterator[Line]:
    for view in seen.tables.going_out:
        progress = BatchProgress.first(view, seen.tables.streams.digest)
        name = slot_id(view.batch.slot)
        text = f"batch {name}: {view.ended:,} of {view.expected:,}, {left_text(progress.left)} left"
        yield Line(Level.OK, "current batch", text, seen.to_run(f"batch show {name}"))
    if not seen.tables.going_out:
        yield Line(Level.OK, "current batch", "no batch", seen.to_run("batch list"))


def _upcoming(seen: Seen) -> Iterator[Line]:
    counts = [f"{each.slot:%H:%M} {each.digests:,}" for each in seen.tables.upcoming]
    first = next((each.slot for each in seen.tables.upcoming if each.digests), None)
    command = seen.to_run(f"batch show {slot_id(first)}") if first else ""
    yield Line(Level.OK, "due (UTC)", f"digests at {', '.join(counts)}", command)


def _rates(seen: Seen) -> Iterator[Line]:
    streams = seen.tables.streams
    for name, pace in (("digests", streams.digest), ("immediate", streams.immediate)):
        level = Level.WARNING if _is_used_up(pace) else Level.OK
        yield Line(level, f"{name} rate", rate_text(pace), seen.to_run("sending status"))


def _is_used_up(pace: PaceReading) -> bool:
    spent = pace.cap is not None and pace.taken >= pace.cap
    return spent or bool(pace.quota and pace.quota.left == 0)


def _templates(seen: Seen) -> Iterator[Line]:
    in_force, command = seen.tables.templates, seen.to_run("templates list")
    if isinstance(in_force, UnreadableRow):
        yield Line(Level.PROBLEM, "templates", printable(str(in_force)), command)
        return
    text = in_words_of(in_force)
    if is_deployed_since(in_force, seen.tables.pushed, seen.layers):
        text = f"{text}; the stage was deployed after the push"
        yield Line(Level.WARNING, "templates", text, command)
    else:
        yield Line(Level.OK, "templates", text, command)


def _queues(seen: Seen) -> Iterator[Line]:
    counts = ", ".join(f"{name} {messages:,}" for name, messages in seen.queues.items())
    yield Line(Level.OK, "queues", counts, seen.to_run("dlq list"))
