"""Scenarios of slow workers, foreign events, missing evidence and late writes."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from gazette.domain.delivery.signals import Policy
from gazette.domain.subscribers.frequency import Frequency

from proofs.prove.acts import (
    at,
    cap,
    copy,
    hold_category,
    put,
    roll_back,
)
from proofs.prove.life import Life
from proofs.prove.provider import Answer, Evidence
from proofs.prove.scenario import SLOW, Scenario, skews
from proofs.prove.strikes import How

_NOW = Answer.REFUSES_NOW
_LOST = Answer.LOST
_NEITHER = Answer.NEITHER
_AT_ONCE = Frequency.IMMEDIATE


def _foreign() -> Iterator[Scenario[Life]]:
    """Yield scenarios with rows of a newer version in the same partitions as the other rows."""
    for policy in Policy:
        for answers in ((), (_NOW,), (_LOST,)):
            yield Scenario(
                name=f"foreign rows/{'/'.join(answers) or 'accepts'}/{policy}",
                policy=policy,
                answers=answers,
                evidence=Evidence.LATER if answers == (_LOST,) else Evidence.SOON,
                readers=("ann", "bo"),
                acts=(at(roll_back("cy"), hours=-2),),
            )


def _held_up() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which the daily cap or a held category delays a weekly digest too long."""
    for frequency in (Frequency.WEEKLY, Frequency.DAILY):
        capped = Scenario(
            name=f"cap/{frequency}",
            readers=("ann", "bo"),
            events=("e1",),
            frequency=frequency,
            acts=(at(cap(1), minutes=-1),),
            counted_from=timedelta(hours=16, minutes=45),
            days=2,
        )
        yield capped
        yield replace(
            capped,
            name=f"cap/{frequency}/two workers",
            meanwhile=copy,
            hows=(),
            events=("e1", "e2"),
        )
    expiring = Scenario(
        name="expiry",
        acts=(at(hold_category("comment"), hours=-1),),
        counted_from=timedelta(days=34, hours=20),
        days=38,
        hows=(How.KILLED_AFTER, How.UNANSWERED),
    )
    yield expiring
    late = at(put("e3", category="like"), days=34)
    yield replace(
        expiring,
        name="expiry/and more to send",
        acts=(*expiring.acts, late),
        meanwhile=copy,
        hows=(),
    )


def _unheard() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which every provider answer is lost and evidence is late or missing."""
    more = (at(put("e3"), hours=20), at(put("e4"), hours=44))
    for policy in Policy:
        for evidence in (Evidence.NEVER, Evidence.NEXT_DAY):
            for answer in (_LOST, _NEITHER):
                yield Scenario(
                    name=f"always {answer}/{evidence}/{policy}",
                    policy=policy,
                    answers=(answer,) * 60,
                    evidence=evidence,
                    acts=more,
                    days=3,
                    hows=(How.KILLED_AFTER, How.UNANSWERED),
                )
        yield Scenario(
            name=f"at once/always lost/{policy}",
            policy=policy,
            answers=(_LOST,) * 60,
            evidence=Evidence.NEVER,
            frequency=_AT_ONCE,
            events=("e1",),
            counted_from=timedelta(hours=-13),
        )


def _late() -> Iterator[Scenario[Life]]:
    """Yield scenarios with a worker that stalls between stamping and writing an event."""
    for slow in (SLOW, frozenset({"generate", "resend"})):
        for policy in Policy:
            yield Scenario(
                name=f"written late/{'ingest' if slow is SLOW else 'generate'} slow/{policy}",
                policy=policy,
                acts=(at(put("e3"), seconds=-20), at(put("e4"), seconds=4)),
                counted_from=timedelta(seconds=-30),
                hows=(How.HELD_UP, How.KILLED_AFTER, How.UNANSWERED),
                skews=skews(slow),
                days=2,
            )
    yield Scenario(
        name="written late/and nothing else",
        events=(),
        acts=(at(put("e3"), seconds=-20),),
        counted_from=timedelta(seconds=-30),
        hows=(How.HELD_UP, How.KILLED_AFTER, How.UNANSWERED),
        days=2,
    )
    yield Scenario(
        name="written late/at once",
        frequency=_AT_ONCE,
        events=("e1",),
        counted_from=timedelta(hours=-13),
        hows=(How.HELD_UP,),
    )


SCENARIOS = (
    *_foreign(),
    *_held_up(),
    *_unheard(),
    *_late(),
)
