"""Scenarios of threads, and of runs that collect for long."""

from collections.abc import Iterator
from datetime import timedelta

from gazette.domain.delivery.signals import Policy
from gazette.domain.subscribers.frequency import Frequency

from proofs.prove.acts import (
    at,
    choose,
    put,
    retract,
)
from proofs.prove.life import Life
from proofs.prove.provider import Answer, Evidence
from proofs.prove.scenario import Scenario
from proofs.prove.strikes import How

_NOW = Answer.REFUSES_NOW
_LOST = Answer.LOST
_YES = Answer.ACCEPTS
_AT_ONCE = Frequency.IMMEDIATE


def _threads() -> Iterator[Scenario[Life]]:
    """Yield scenarios with several events of an entity, inside and outside the collapse window."""
    for policy in Policy:
        for answers in ((), (_NOW,), (_LOST,)):
            yield Scenario(
                name=f"thread/{'/'.join(answers) or 'accepts'}/{policy}",
                policy=policy,
                answers=answers,
                evidence=Evidence.LATER,
                events=(),
                frequency=_AT_ONCE,
                acts=tuple(
                    at(put(f"e{number}", on="post"), hours=1, seconds=after)
                    for number, after in enumerate((0, 7, 31, 160))
                ),
                counted_from=timedelta(hours=1, seconds=-1),
                hows=(How.HELD_UP, How.KILLED_AFTER),
            )


def _waits() -> Iterator[Scenario[Life]]:
    """Yield scenarios with a run that collects for longer than a message can be delayed.

    The events after the third join this run, are urgent, move, or are retracted. The sweep is out
    of order for a while, or a redrive waits for the run.
    """
    first = tuple(
        at(put(f"e{number}", on="post"), hours=1, minutes=minutes)
        for number, minutes in enumerate((0, 3, 15))
    )
    acts = {
        "joined": (at(put("e3", on="post"), hours=1, minutes=50),),
        "urgent": (at(put("e3", on="post", lapses_after=timedelta(hours=1)), hours=1, minutes=30),),
        "daily instead": (at(choose(Frequency.DAILY), hours=1, minutes=50),),
        "retracted": (
            at(put("e3", on="post", in_vain=True), hours=1, minutes=40),
            at(retract("e3"), hours=1, minutes=50),
        ),
        "late": (at(put("e3", on="post"), hours=2, minutes=12, seconds=10),),
    }
    for name, others in acts.items():
        for policy, answers in ((Policy.RESEND, ()), (Policy.CARRY_OVER, (_YES, _YES, _LOST))):
            yield Scenario(
                name=f"waits/{name}/{policy}",
                policy=policy,
                answers=answers,
                evidence=Evidence.LATER,
                events=(),
                frequency=_AT_ONCE,
                acts=(*first, *others),
                counted_from=timedelta(hours=1, minutes=14),
                hows=(How.HELD_UP, How.KILLED_AFTER),
                days=2,
            )
    yield Scenario(
        name="waits/without a sweep",
        events=(),
        frequency=_AT_ONCE,
        acts=first,
        counted_from=timedelta(hours=1, minutes=14),
        hows=(How.KILLED_AFTER,),
        sweeps_from=timedelta(hours=5),
    )


SCENARIOS = (
    *_threads(),
    *_waits(),
)
