"""Scenarios of digests: provider answers, versions, content sources and unknown outcomes."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from gazette.domain.delivery.signals import Policy
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.templates.settings import SourcePolicy

from proofs.prove.acts import (
    at,
    follow,
    happen,
    import_all,
    push_version,
    put,
    retract,
)
from proofs.prove.life import Life
from proofs.prove.provider import Answer, Evidence
from proofs.prove.scenario import Scenario

_NOW = Answer.REFUSES_NOW
_ACCOUNT = Answer.REFUSES_ACCOUNT
_GOOD = Answer.REFUSES_FOR_GOOD
_LOST = Answer.LOST
_NEITHER = Answer.NEITHER
_AT_ONCE = Frequency.IMMEDIATE
_BEFORE = timedelta(days=-2)
_SPREAD = timedelta(minutes=1)
"""The delivery delay of a message that leaves time for another action before it."""


def _plain() -> Iterator[Scenario[Life]]:
    for policy in Policy:
        for evidence in Evidence:
            yield Scenario(name=f"happy/{policy}/{evidence}", policy=policy, evidence=evidence)
        yield Scenario(name=f"retry/{policy}", policy=policy, answers=(_NOW, _NOW))
    yield Scenario(name="empty", events=(), days=2)
    yield Scenario(
        name="empty/retracted",
        acts=(at(retract("e1"), seconds=10), at(retract("e2"), seconds=10)),
        spread=_SPREAD,
    )
    yield Scenario(name="retry/to the end", answers=(_NOW,) * 6)
    yield Scenario(name="retry/to the end/twice", answers=(_NOW,) * 12)
    yield Scenario(name="retry/to the end/copies", answers=(_NOW,) * 6, copies=2)
    yield Scenario(
        name="retry/to the end/at the hour",
        answers=(_NOW,) * 6,
        redriven_after=timedelta(hours=13, minutes=24),
    )
    yield Scenario(
        name="retry/to the end/at once",
        answers=(_NOW,) * 6,
        frequency=_AT_ONCE,
        counted_from=timedelta(hours=-13),
    )
    yield Scenario(name="refused for good", answers=(_GOOD,))
    yield Scenario(name="refused account", answers=(_ACCOUNT,) * 3)
    yield Scenario(name="arrival", counted_from=_BEFORE)
    yield Scenario(
        name="arrival/activity",
        counted_from=_BEFORE,
        events=(),
        readers=("ann", "cy"),
        acts=(
            at(follow("p1"), hours=-5),
            at(follow("p1", "cy"), hours=-5),
            at(happen("p1", "ann", "cy"), hours=-4),
        ),
    )
    yield Scenario(
        name="arrival/lists",
        counted_from=timedelta(hours=-6),
        events=(),
        readers=("ann", "cy"),
        acts=(
            at(import_all(_AT_ONCE, "ann", "cy", follows="p1"), hours=-5),
            at(happen("p1", "ann", "cy"), hours=-4),
        ),
    )
    yield Scenario(name="fan-out/three readers", readers=("ann", "bo", "cy"), events=("e1",))
    yield Scenario(name="weekly", frequency=Frequency.WEEKLY, days=8)


def _versions() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which the templates change between a claim and its retry."""
    for first, second in ((7, 8), (7, 0), (0, 7)):
        pushes = (at(push_version(first), hours=-1), at(push_version(second), seconds=50))
        yield Scenario(
            name=f"version/refused/{first} then {second}", answers=(_NOW, _NOW), acts=pushes
        )
        yield Scenario(
            name=f"version/unknown/{first} then {second}",
            answers=(_NEITHER,),
            evidence=Evidence.NEXT_DAY,
            acts=pushes,
            days=2,
        )
    yield Scenario(
        name="version/in between",
        acts=(at(push_version(7), hours=-1), at(push_version(8), seconds=30)),
        spread=_SPREAD,
    )


def _content() -> Iterator[Scenario[Life]]:
    """Yield scenarios with a content source that is available, or unavailable for a while."""
    asking = Scenario[Life](name="content", asks=True, days=2, settling=4)
    for down in (0, 3, 8):
        for events in (("e1",), ()):
            has = "events" if events else "none"
            yield replace(
                asking, name=f"content/down {down}/{has}", source_down=down, events=events, days=3
            )
    yield replace(asking, name="content/copies", copies=2)
    yield replace(asking, name="content/spread", spread=_SPREAD)
    yield replace(asking, name="content/waits", source_down=12, source_policy=SourcePolicy.WAIT)
    yield replace(asking, name="content/retry", answers=(_NOW, _NOW))
    yield replace(asking, name="content/unknown", answers=(_LOST,), evidence=Evidence.LATER)
    yield replace(asking, name="content/event comes", acts=(at(put("e3"), seconds=1),), days=3)


def _unknown() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which the provider's answer is lost once or twice, with later evidence."""
    for policy in Policy:
        for answer in (_LOST, _NEITHER):
            for evidence in Evidence:
                yield Scenario(
                    name=f"unknown/{answer}/{evidence}/{policy}",
                    policy=policy,
                    answers=(answer,),
                    evidence=evidence,
                )
        for evidence in (Evidence.SOON, Evidence.LATER, Evidence.NEXT_DAY, Evidence.NEVER):
            yield Scenario(
                name=f"unknown twice/{evidence}/{policy}",
                policy=policy,
                answers=(_LOST, _LOST),
                evidence=evidence,
                days=2,
            )
        yield Scenario(
            name=f"unknown, then refused/{policy}",
            policy=policy,
            answers=(_LOST, _NOW, _ACCOUNT, _GOOD),
            evidence=Evidence.NEXT_DAY,
            acts=(at(put("e3"), hours=30),),
            days=3,
        )
        yield Scenario(
            name=f"unknown, then retried/{policy}",
            policy=policy,
            answers=(_LOST, _NOW, _NOW, _NOW, _NOW),
            evidence=Evidence.NEXT_DAY,
            acts=(at(put("e3"), hours=20),),
            days=2,
        )
        yield Scenario(
            name=f"unknown, and more to send/{policy}",
            policy=policy,
            answers=(_NEITHER,),
            evidence=Evidence.NEVER,
            acts=(at(put("e3"), hours=2),),
            days=2,
        )
        yield Scenario(
            name=f"unknown, retracted/{policy}",
            policy=policy,
            answers=(_LOST,),
            evidence=Evidence.NEVER,
            acts=(at(retract("e1"), minutes=4), at(retract("e2"), minutes=4)),
        )


SCENARIOS = (
    *_plain(),
    *_versions(),
    *_content(),
    *_unknown(),
)
