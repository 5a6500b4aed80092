"""Scenarios of immediate emails, of streams and of held categories."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from gazette.domain.delivery.signals import Policy
from gazette.domain.subscribers.frequency import Frequency

from proofs.prove.acts import (
    at,
    choose,
    copy,
    during,
    hold_category,
    put,
    release,
    retract,
)
from proofs.prove.life import Life
from proofs.prove.provider import Answer, Evidence
from proofs.prove.scenario import Scenario
from proofs.prove.strikes import How

_NOW = Answer.REFUSES_NOW
_GOOD = Answer.REFUSES_FOR_GOOD
_LOST = Answer.LOST
_NEITHER = Answer.NEITHER
_AT_ONCE = Frequency.IMMEDIATE


def _at_once() -> Iterator[Scenario[Life]]:
    """Yield scenarios with immediate email, where no later digest includes the unsent events."""
    for policy in Policy:
        cases: dict[str, tuple[Sequence[Answer], Evidence]] = {
            "happy": ((), Evidence.SOON),
            "retry": ((_NOW,), Evidence.SOON),
            "unknown/late": ((_LOST,), Evidence.LATE),
            "unknown/never": ((_NEITHER,), Evidence.NEVER),
            "unknown twice": ((_LOST, _LOST), Evidence.NEVER),
            "refused for good": ((_GOOD,), Evidence.SOON),
        }
        for name, (answers, evidence) in cases.items():
            yield Scenario(
                name=f"at once/{name}/{policy}",
                policy=policy,
                answers=tuple(answers),
                evidence=evidence,
                frequency=_AT_ONCE,
                counted_from=timedelta(hours=-13),
            )
        yield Scenario(
            name=f"at once/two workers/{policy}",
            policy=policy,
            answers=(_LOST,),
            evidence=Evidence.NEVER,
            frequency=_AT_ONCE,
            events=("e1",),
            counted_from=timedelta(hours=-13),
            meanwhile=copy,
            hows=(),
        )
    yield Scenario(
        name="at once/daily instead",
        frequency=_AT_ONCE,
        events=("e1",),
        counted_from=timedelta(hours=-13),
        meanwhile=during(choose(Frequency.DAILY)),
        hows=(),
    )


def _streams() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which immediate email is rejected for longer than a digest may be late."""
    acts = (
        at(put("d1", category="like"), hours=-5),
        at(put("d2", "bo", category="like"), hours=-5),
        at(put("e1"), minutes=-20),
    )
    for answers in ((), (_LOST,)):
        yield Scenario(
            name=f"refused at once/{'/'.join(answers) or 'accepts'}",
            answers=answers,
            evidence=Evidence.LATER if answers == (_LOST,) else Evidence.SOON,
            readers=("ann", "bo"),
            frequency=_AT_ONCE,
            events=(),
            acts=acts,
            hows=(How.KILLED_AFTER,),
            refused_at_once=timedelta(hours=1),
            lateness=timedelta(minutes=45),
        )


def _held() -> Iterator[Scenario[Life]]:
    """Yield scenarios with a category held before or during a run and released a day later."""
    like = at(put("e2", category="like"), hours=-5)
    late = at(put("e3", category="like"), hours=12)
    off = at(release("like"), hours=30)
    for policy in Policy:
        for answers in ((), (_NOW,), (_LOST,), (_NEITHER,)):
            label = f"{'/'.join(answers) or 'accepts'}/{policy}"
            shared = Scenario[Life](
                name=f"held/{label}",
                policy=policy,
                answers=answers,
                evidence=Evidence.LATER if answers == (_LOST,) else Evidence.SOON,
                events=("e1",),
                days=3,
            )
            yield replace(shared, acts=(like, at(hold_category("like"), hours=-1), late, off))
            yield replace(
                shared,
                name=f"held/two workers/{label}",
                acts=(like, at(hold_category("like"), hours=-1), off),
                meanwhile=copy,
                hows=(),
            )
            yield replace(
                shared,
                name=f"held/in the middle/{label}",
                acts=(like, off),
                meanwhile=during(hold_category("like")),
                hows=(),
            )
    yield Scenario(
        name="held/released in the middle",
        events=("e1",),
        acts=(like, at(hold_category("like"), hours=-1), off),
        meanwhile=during(release("like")),
        hows=(),
        days=3,
    )
    yield Scenario(
        name="held/retracted",
        events=("e1",),
        acts=(like, at(hold_category("like"), hours=-1), off),
        meanwhile=during(retract("e2")),
        hows=(),
        days=3,
    )
    yield Scenario(
        name="held/nothing else",
        acts=(at(hold_category("comment"), hours=-1), at(release("comment"), hours=30)),
        days=3,
    )
    yield Scenario(
        name="held/at once",
        frequency=_AT_ONCE,
        acts=(at(hold_category("comment"), hours=-14), at(release("comment"), hours=-11)),
        counted_from=timedelta(hours=-13),
    )


SCENARIOS = (
    *_at_once(),
    *_streams(),
    *_held(),
)
