"""The lines about email that is late, stopped or stuck, each with the command to run next.

`gazette overview` and the story of the dashboard state the same facts with the same words.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta

from gazette.domain.console.levels import Level, Line
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.streams import Streams
from gazette.steps.support.words.commands import to_run
from gazette.steps.support.words.stops import stopped_text

LATE, STUCK = timedelta(minutes=15), timedelta(hours=1)
"""The ages from which an open run is reported as a warning and as a problem."""


def level_of(age: timedelta) -> Level:
    """Return the level of an open run of this age."""
    return Level.PROBLEM if age > STUCK else Level.WARNING if age > LATE else Level.OK


def stopped_streams(streams: Streams[PaceReading], *, stage: str) -> Iterator[Line]:
    """Yield a line for each stopped stream. An automatic stop is a problem."""
    for name, pace in (("digests", streams.digest), ("immediate", streams.immediate)):
        if pace.breaker:
            level = Level.WARNING if pace.breaker.by_hand else Level.PROBLEM
            command = "sending resume" if pace.breaker.by_hand else "sending status"
            text = f"{name}: {stopped_text(pace.breaker)}"
            yield Line(level, "stopped", text, to_run(command, stage=stage))


def dead_letters(dead: Mapping[str, int], *, stage: str) -> Iterator[Line]:
    """Yield a line for each dead-letter queue with messages."""
    for name, messages in dead.items():
        if messages:
            text = f"{messages:,} in {name}"
            yield Line(Level.PROBLEM, "dead letters", text, to_run(f"dlq show {name}", stage=stage))


def quarantined(number: int, *, stage: str) -> Iterator[Line]:
    """Yield a line if there are events in quarantine."""
    if number:
        text = f"{number:,} events do not match the contract"
        yield Line(Level.PROBLEM, "quarantine", text, to_run("quarantine list", stage=stage))


def held_by_day(number: int, *, stage: str) -> Iterator[Line]:
    """Yield a line if emails wait for the next day."""
    if number:
        text = (
            f"{number:,} emails are waiting for the next day because the daily cap or quota is "
            "used up"
        )
        yield Line(Level.WARNING, "daily limit", text, to_run("sending status", stage=stage))
