"""Scenarios of lost messages, superseded runs and stops."""

from collections.abc import Iterator
from datetime import timedelta

from gazette.domain.delivery.signals import Policy
from gazette.domain.subscribers.frequency import Frequency

from proofs.prove.acts import (
    Overtake,
    at,
    bury_messages,
    cancel,
    choose,
    copy,
    during,
    erase,
    leave,
    lose_messages,
    move_hour,
    mute_behind_an_open_page,
    old_message,
    put,
    retract,
)
from proofs.prove.life import Life
from proofs.prove.provider import Answer, Evidence
from proofs.prove.scenario import Scenario

_NOW = Answer.REFUSES_NOW
_ACCOUNT = Answer.REFUSES_ACCOUNT
_LOST = Answer.LOST
_NEITHER = Answer.NEITHER
_SPREAD = timedelta(minutes=1)
"""The delivery delay of a message that leaves time for another action before it."""

_STOPS: dict[str, Overtake] = {
    "cancel": during(cancel),
    "unsubscribe": during(leave),
    "retract": during(retract("e1")),
    "retract all": during(retract("e1"), retract("e2")),
    "mute": during(choose(Frequency.NEVER)),
    "at once instead": during(choose(Frequency.IMMEDIATE)),
    "weekly instead": during(choose(Frequency.WEEKLY)),
    "later hour": during(move_hour(11)),
    "erase": during(erase),
    "another event": during(put("e3")),
}


def _messages() -> Iterator[Scenario[Life]]:
    """Yield scenarios with lost, dead, redriven, duplicated and concurrent messages."""
    old = [at(old_message(), minutes=10), at(old_message(), hours=2), at(old_message(), hours=25)]
    for policy in Policy:
        for answers in ((), (_NOW,), (_LOST,), (_ACCOUNT,)):
            label = f"{'/'.join(answers) or 'accepts'}/{policy}"
            evidence = Evidence.LATER if answers == (_LOST,) else Evidence.SOON
            yield Scenario(
                name=f"redrive/{label}",
                policy=policy,
                answers=answers,
                evidence=evidence,
                acts=tuple(old),
                days=2,
            )
            yield Scenario(
                name=f"duplicate message/{label}",
                policy=policy,
                answers=answers,
                evidence=evidence,
                copies=2,
            )
            yield Scenario(
                name=f"two workers/{label}",
                policy=policy,
                answers=answers,
                evidence=Evidence.LATER,
                meanwhile=copy,
                hows=(),
            )
    yield Scenario(
        name="message lost",
        acts=(at(lose_messages, seconds=10), at(put("e3"), hours=1)),
        spread=_SPREAD,
    )
    yield Scenario(
        name="dead letter",
        acts=(at(bury_messages, seconds=10), at(put("e3"), hours=1)),
        spread=_SPREAD,
    )


def _supersede() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which the first run is still open when the second is due."""
    for policy in Policy:
        for answers in ((), (_LOST,), (_NEITHER,), (_NOW,)):
            yield Scenario(
                name=f"supersede/still on its way/{'/'.join(answers) or 'accepts'}/{policy}",
                policy=policy,
                answers=answers,
                evidence=Evidence.LATE,
                acts=(
                    at(bury_messages, seconds=10),
                    at(put("e3"), hours=23, minutes=59, seconds=42),
                ),
                days=2,
                spread=_SPREAD,
                lateness=timedelta(days=60),
                redriven_after=timedelta(hours=23, minutes=59, seconds=40),
                sweeps_from=timedelta(hours=24, minutes=30),
            )
        yield Scenario(
            name=f"supersede/{policy}",
            policy=policy,
            answers=(_ACCOUNT,) * 4,
            evidence=Evidence.LATER,
            acts=(
                at(put("e3"), hours=3),
                at(old_message(), hours=25),
                at(old_message(2), hours=49),
            ),
            days=2,
        )
        yield Scenario(
            name=f"supersede/while refused/{policy}",
            policy=policy,
            answers=(_NOW,) * 4 + (_LOST,),
            evidence=Evidence.NEXT_DAY,
            acts=(at(put("e3"), hours=20), at(old_message(), hours=25)),
            days=2,
        )


def _stops() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which an action interrupts a worker's calls."""
    for name, overtake in _STOPS.items():
        yield Scenario(name=f"stop/{name}", meanwhile=overtake, hows=())
    yield Scenario(
        name="stop/mute/open page",
        acts=(at(mute_behind_an_open_page, minutes=-30), at(put("e3", in_vain=True), hours=1)),
        counted_from=timedelta(minutes=-31),
        days=2,
    )
    for policy in Policy:
        for name in ("cancel", "unsubscribe", "retract", "at once instead", "mute"):
            yield Scenario(
                name=f"stop/{name}/unknown/{policy}",
                policy=policy,
                answers=(_LOST,),
                evidence=Evidence.LATER,
                meanwhile=_STOPS[name],
                hows=(),
            )
    for name, when in {"before": -0.5, "due": 10, "after": 120.0}.items():
        yield Scenario(
            name=f"cancel/{name}",
            readers=("ann", "bo"),
            answers=(_NOW, _LOST),
            acts=(at(cancel, seconds=when),),
            spread=_SPREAD,
        )


SCENARIOS = (
    *_messages(),
    *_supersede(),
    *_stops(),
)
