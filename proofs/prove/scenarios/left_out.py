"""Scenarios of events that no template shows, that lapse, or that were seen."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from gazette.domain.delivery.signals import Policy
from gazette.domain.scheduling.growing import LAPSES_SOON
from gazette.domain.subscribers.frequency import Frequency

from proofs.prove.acts import (
    at,
    change_template,
    copy,
    copy_that_dies,
    during,
    give_time,
    put,
    put_again,
    see,
)
from proofs.prove.life import Life
from proofs.prove.provider import Answer, Evidence
from proofs.prove.scenario import Scenario
from proofs.prove.strikes import How

_LOST = Answer.LOST
_AT_ONCE = Frequency.IMMEDIATE


def _templates() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which a template temporarily cannot show an event that may have been
    sent.
    """
    for policy in Policy:
        for frequency, changed in ((Frequency.DAILY, 5), (_AT_ONCE, -50)):
            yield Scenario(
                name=f"no longer shown/{frequency}/{policy}",
                policy=policy,
                answers=(_LOST,) * 60,
                evidence=Evidence.NEVER,
                frequency=frequency,
                events=(),
                acts=(
                    at(put("e1"), hours=-1),
                    at(put("e2", on="e1"), hours=-1),
                    at(change_template("e1"), minutes=changed),
                    at(put("e3", on="e1"), hours=8),
                    at(change_template(), hours=20),
                    at(put_again("e1"), hours=21),
                    at(put("e4", on="e1"), hours=22),
                    at(put_again("e1"), hours=45),
                ),
                counted_from=timedelta(hours=-1, seconds=-1),
                days=3,
                hows=(How.KILLED_AFTER, How.UNANSWERED),
            )


def _lapses() -> Iterator[Scenario[Life]]:
    """Yield scenarios with an event that expires and is extended between unknown attempts.

    An immediate event that lapses soon is urgent, so it has a schedule of its own, which no later
    event shares. An event whose service shortens its life after the email stays with the thread,
    until it is a day old and goes to the daily digest. In others, the event expires while one
    worker is about to claim it and another removes it.
    """
    soon, daily = timedelta(minutes=10), timedelta(hours=23, minutes=10)
    later = tuple(at(put(f"f{day}", on="e1"), hours=24 * day + 8) for day in range(5))
    days, hours = range(1, 5), range(2, 22, 4)
    acts = {
        Frequency.DAILY.value: (
            at(put("e1", lapses_after=daily), hours=-23, minutes=-1),
            *(at(give_time("e1", daily), hours=24 * day + 1) for day in days),
        ),
        "urgent": (
            at(put("e1", lapses_after=soon), minutes=-1),
            *(at(give_time("e1", soon), hours=24 * day + 1) for day in days),
        ),
        _AT_ONCE.value: (
            at(put("e1"), minutes=-1),
            at(give_time("e1", soon), minutes=1),
            *(at(give_time("e1", 2 * LAPSES_SOON), hours=hour) for hour in hours),
            *(at(give_time("e1", soon), hours=hour, minutes=2) for hour in hours),
        ),
    }
    for policy in Policy:
        for name, own in acts.items():
            yield Scenario(
                name=f"lapses/{name}/{policy}",
                policy=policy,
                answers=(_LOST,) * 60,
                evidence=Evidence.NEVER,
                frequency=Frequency.DAILY if name == Frequency.DAILY else _AT_ONCE,
                events=(),
                acts=(*own, *later),
                counted_from=timedelta(minutes=-2),
                days=6,
                hows=(How.KILLED_AFTER,),
            )
    for policy in (Policy.RESEND, Policy.CARRY_OVER):
        yield Scenario(
            name=f"lapses/two workers/{policy}",
            policy=policy,
            answers=(_LOST,) * 60,
            evidence=Evidence.NEVER,
            events=(),
            acts=(
                at(put("e1", lapses_after=timedelta(hours=1, seconds=40)), hours=-1),
                at(put("f1"), minutes=-30),
                at(give_time("e1", timedelta(days=3)), hours=1),
            ),
            days=4,
            meanwhile=copy_that_dies("deferred_events.expire", timedelta(seconds=40)),
            hows=(),
        )


def _seen() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which the reader sees one of two things, and news about it arrives later.

    The event is also published again, and amended.
    """
    for policy in (Policy.RESEND, Policy.CARRY_OVER):
        for frequency in (Frequency.DAILY, _AT_ONCE):
            is_immediate = frequency is _AT_ONCE
            # The events of a scenario are stored 12 hours before the first digest is due.
            before = timedelta(hours=-12, seconds=98) if is_immediate else timedelta(minutes=-2)
            shared = Scenario(
                name=f"seen/{frequency}/{policy}",
                policy=policy,
                frequency=frequency,
                acts=(
                    (before, see("e1")),
                    at(put_again("e1"), minutes=5),
                    at(put("e3", on="e1"), hours=3),
                    at(give_time("e1", timedelta(days=9)), hours=4),
                ),
                counted_from=before - timedelta(minutes=1),
                days=2,
            )
            yield shared
            yield replace(
                shared,
                name=f"seen/in the middle/{frequency}/{policy}",
                acts=shared.acts[1:],
                counted_from=timedelta(hours=-13),
                meanwhile=during(see("e1")),
                hows=(),
            )
            yield replace(
                shared,
                name=f"seen/unknown/{frequency}/{policy}",
                answers=(_LOST,) * 20,
                evidence=Evidence.NEVER,
                acts=(at(see("e1"), hours=1), *shared.acts[1:]),
                hows=(How.KILLED_AFTER,),
            )
            yield replace(
                shared,
                name=f"seen/two workers/{frequency}/{policy}",
                meanwhile=copy,
                hows=(),
            )

    soon = timedelta(minutes=50)
    for policy in (Policy.RESEND, Policy.CARRY_OVER):
        yield Scenario(
            name=f"seen/urgent/{policy}",
            policy=policy,
            frequency=_AT_ONCE,
            events=(),
            acts=(
                at(put("e1", lapses_after=soon), hours=-1),
                at(put("e2", on="e1"), hours=-1),
                at(put("e3", on="e1", lapses_after=soon), hours=3),
            ),
            counted_from=timedelta(hours=-1, seconds=-1),
            meanwhile=during(see("e1")),
            hows=(),
        )


SCENARIOS = (
    *_templates(),
    *_lapses(),
    *_seen(),
)
