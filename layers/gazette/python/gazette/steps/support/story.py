"""The words of the story of a stage."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.console.levels import Level, Line
from gazette.domain.console.story import Measures, Part, Story
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.streams import Streams
from gazette.domain.scheduling.instants import in_units
from gazette.steps.support.words.commands import to_run
from gazette.steps.support.words.lines import (
    dead_letters,
    held_by_day,
    level_of,
    quarantined,
    stopped_streams,
)

ON_TIME, STUCK, READERS = "On time", "Stuck", "Readers"
"""The titles of the parts, as in the picture of the dashboard."""

_MOST_BOUNCES, _MOST_COMPLAINTS = 0.05, 0.001
"""The shares of sent emails from which bounces and complaints need attention (docs/metrics.md)."""

_MANY = 1000
"""The number of emails in a day from which a share is a problem. Below, it is a warning."""

_NO_METRICS = "The metrics cannot be read, so the counts of the last 24 hours are unknown."
_NO_QUEUES = "These queues cannot be read: {names}."
_NO_STREAMS = "The table `pace` cannot be read, so it is unknown whether email is stopped."


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """The readings of a stage. None means that a reading is not possible."""

    measures: Measures | None
    streams: Streams[PaceReading] | None

    # The number of messages by dead-letter queue.
    dead: Mapping[str, int | None]

    # The number of events in quarantine.
    quarantine: int | None


def story_of(readings: Readings, *, stage: str, at: datetime, ticks: bool) -> Story:
    """Return the story of a stage. `ticks` is False if the stage's clock is turned off."""
    return Story(
        stage,
        at,
        (
            _on_time(readings.measures, stage=stage, ticks=ticks),
            _stuck(readings, stage=stage),
            _readers(readings.measures),
        ),
    )


def _on_time(measures: Measures | None, *, stage: str, ticks: bool) -> Part:
    if measures is None:
        return Part(ON_TIME, unread=(_NO_METRICS,))
    counts = measures.counts
    sent, skipped = counts["run_sent"], counts["run_skipped"]
    flow = (
        f"In the last 24 hours, {_number(counts['due'], 'digest')} became due. "
        f"{_number(sent, 'email')} {_were(sent)} sent, including immediate emails, and "
        f"{_number(skipped, 'run')} ended without an email."
    )
    lines = (
        *_clock(measures, stage=stage, ticks=ticks),
        *_late(measures.oldest, stage=stage),
        *held_by_day(measures.held_by_day, stage=stage),
    )
    return Part(ON_TIME, (flow, _oldest(measures.oldest)), lines)


def _oldest(age: timedelta | None) -> str:
    if age is None:
        return "The age of the oldest due email is unknown, because no sweep has reported."
    if not age:
        return "No email that is due waits to be sent."
    return f"The oldest due email that is not sent has waited for {_duration(age)}."


def _clock(measures: Measures, *, stage: str, ticks: bool) -> Iterator[Line]:
    if not ticks:
        text = "it is turned off by the `ticks` setting, so no digest starts"
        yield Line(Level.WARNING, "clock", text)
        return
    command = to_run("doctor", stage=stage)
    if not measures.is_ticking:
        text = "no tick in the last 25 minutes, so no digest starts"
        yield Line(Level.PROBLEM, "clock", text, command)
    if measures.oldest is None:
        text = "no sweep in the last 25 minutes, so stuck emails do not recover"
        yield Line(Level.PROBLEM, "clock", text, command)


def _late(age: timedelta | None, *, stage: str) -> Iterator[Line]:
    if age is not None and (level := level_of(age)) is not Level.OK:
        text = f"due for {_duration(age)} and not sent"
        yield Line(level, "oldest email", text, to_run("overview", stage=stage))


def _stuck(readings: Readings, *, stage: str) -> Part:
    unread: list[str] = []
    lines: list[Line] = []
    sentences: list[str] = []
    if readings.streams is None:
        unread.append(_NO_STREAMS)
    else:
        lines += stopped_streams(readings.streams, stage=stage)
    if readings.measures is None:
        unread.append(_NO_METRICS)
    else:
        counts = readings.measures.counts
        failed, unknown = counts["run_failed"], counts["run_unknown"]
        lines += _failed(failed, unknown)
        sentences.append(
            f"In the last 24 hours, {_number(failed, 'email')} failed, and "
            f"{_number(unknown, 'attempt')} had an unknown outcome."
        )
    counted = {name: number for name, number in readings.dead.items() if number is not None}
    lines += dead_letters(counted, stage=stage)
    lines += quarantined(readings.quarantine or 0, stage=stage)
    missing = [name for name, number in readings.dead.items() if number is None]
    missing += ["quarantine"] if readings.quarantine is None else []
    if missing:
        unread.append(_NO_QUEUES.format(names=", ".join(missing)))
    if not any((*counted.values(), readings.quarantine)):
        read = "All" if not missing else "All other"
        sentences.append(f"{read} queues that must be empty are empty.")
    return Part(STUCK, sentences, lines, unread)


def _failed(failed: int, unknown: int) -> Iterator[Line]:
    if failed:
        text = f"{_number(failed, 'email')} in the last 24 hours"
        yield Line(Level.PROBLEM, "failed", text, "see docs/runbook/emails-failed.md")
    if unknown:
        text = f"{_number(unknown, 'attempt')} in the last 24 hours may have sent an email"
        yield Line(Level.WARNING, "unknown", text, "see docs/unknown-outcomes.md")


def _readers(measures: Measures | None) -> Part:
    if measures is None:
        return Part(READERS, unread=(_NO_METRICS,))
    counts = measures.counts
    sent = counts["mail_sent"]
    if not sent and counts["run_sent"]:
        first = "In the last 24 hours, no delivery event was counted, so deliveries are unknown."
    else:
        first = (
            f"In the last 24 hours, {counts['mail_delivered']:,} of {_number(sent, 'email')} "
            f"{_were(counts['mail_delivered'])} reported as delivered. "
            f"{_number(counts['mail_bounced'], 'email')} bounced, and "
            f"{_number(counts['mail_complained'], 'complaint')} arrived."
        )
    second = f"{_number(counts['unsubscribed'], 'reader')} unsubscribed from all email."
    lines = [
        line
        for area, number, most in (
            ("bounces", counts["mail_bounced"], _MOST_BOUNCES),
            ("complaints", counts["mail_complained"], _MOST_COMPLAINTS),
        )
        for line in _share(area, number, sent, most)
    ]
    return Part(READERS, (first, second), lines)


def _share(area: str, number: int, sent: int, most: float) -> Iterator[Line]:
    if number and sent and number >= most * sent:
        level = Level.PROBLEM if sent >= _MANY else Level.WARNING
        text = f"{number:,} of {_number(sent, 'email')} in the last 24 hours, {most:.1%} or more"
        yield Line(level, area, text, f"see docs/runbook/{_PAGES[area]}")


_PAGES = {"bounces": "bounce-rate.md", "complaints": "complaint-rate.md"}


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _duration(age: timedelta) -> str:
    """Describe a duration by its two largest units."""
    units = [*in_units(int(age.total_seconds()))][:2]
    return " and ".join(units) or "less than a second"
