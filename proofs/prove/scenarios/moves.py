"""Scenarios of events that move, and of idle schedules."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from gazette.domain.subscribers.frequency import Frequency

from proofs.prove.acts import (
    at,
    choose,
    during,
    put,
    retract,
)
from proofs.prove.life import Life
from proofs.prove.provider import Answer
from proofs.prove.scenario import EVERY_WAY, Scenario
from proofs.prove.strikes import How

_NOW = Answer.REFUSES_NOW
_AT_ONCE = Frequency.IMMEDIATE


def _moves() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which an event moves while the runs of both schedules are due or fail."""
    held_up = (How.HELD_UP, How.KILLED_AFTER, How.UNANSWERED)
    day, shortly_before = timedelta(days=1), {"hours": 23, "minutes": 59, "seconds": 40}
    weekly = Scenario(
        name="moved late/weekly, daily instead",
        events=(),
        frequency=Frequency.WEEKLY,
        acts=(
            at(put("e1"), hours=1),
            at(put("d1", category="like"), hours=1),
            at(choose(Frequency.DAILY), **shortly_before),
        ),
        counted_from=day - timedelta(seconds=30),
        hows=held_up,
        days=3,
    )
    yield weekly
    yield replace(
        weekly,
        name="moved late/weekly, daily instead/nothing else",
        acts=(weekly.acts[0], weekly.acts[2]),
    )
    yield Scenario(
        name="moved late/daily, at once instead",
        events=(),
        acts=(
            at(put("e1"), hours=1),
            at(choose(_AT_ONCE), hours=2),
            at(put("e2", on="e1"), hours=2, seconds=2),
            at(put("e3", on="e1"), hours=2, seconds=50),
        ),
        counted_from=timedelta(hours=2, seconds=-1),
        hows=held_up,
    )
    yield Scenario(
        name="moved late/at once, daily instead/failed and redriven",
        events=(),
        frequency=_AT_ONCE,
        answers=(_NOW,) * 6,
        acts=(
            at(put("e1"), hours=1),
            at(put("e2", on="e1"), hours=1, seconds=2),
            at(choose(Frequency.DAILY), hours=17, minutes=36, seconds=40),
        ),
        redriven_after=timedelta(hours=6),
        counted_from=timedelta(hours=17, minutes=36),
        hows=held_up,
        days=2,
    )


def _idle() -> Iterator[Scenario[Life]]:
    """Yield scenarios with an action on a schedule that has no events and is idle or going idle."""
    nothing = Scenario(
        name="idle/an event meanwhile",
        acts=(at(retract("e0"), hours=-1),),
        events=("e0",),
        meanwhile=during(put("e1")),
        hows=(),
        days=3,
    )
    yield nothing
    shortly_before = at(put("e2"), hours=23, minutes=59, seconds=45)
    for name, events in {"idle": (), "armed": ("e1",)}.items():
        yield replace(
            nothing,
            name=f"idle/an event at the hour of one that is {name}",
            events=events,
            meanwhile=None,
            acts=(shortly_before,),
            counted_from=timedelta(hours=23, minutes=59),
            hows=EVERY_WAY,
        )


SCENARIOS = (
    *_moves(),
    *_idle(),
)
