"""Scenarios of quiet hours, and of the limit of immediate emails."""

from collections.abc import Iterator
from datetime import timedelta

from gazette.domain.delivery.signals import Policy
from gazette.domain.scheduling.cap import ImmediateLimit
from gazette.domain.scheduling.quiet import QuietHours
from gazette.domain.subscribers.frequency import Frequency

from proofs.prove.acts import at, copy, during, put
from proofs.prove.life import Life
from proofs.prove.provider import Answer, Evidence
from proofs.prove.scenario import Scenario

_AT_ONCE = Frequency.IMMEDIATE
_EVENING = timedelta(hours=-13)
"""Before the events of a scenario."""

_NIGHT = QuietHours.of("18:00-07:00")
"""Quiet hours that contain the events of a scenario."""

_LATER = QuietHours.of("20:30-07:00")
"""Quiet hours that begin after the first email, and contain its next attempts."""


def _quiet() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which an email waits, or was refused or lost right before the hours."""
    for policy in Policy:
        yield Scenario(
            name=f"quiet/happy/{policy}",
            policy=policy,
            frequency=_AT_ONCE,
            counted_from=_EVENING,
            quiet_hours=_NIGHT,
        )
        for name, answer in (("retry", Answer.REFUSES_NOW), ("unknown", Answer.LOST)):
            yield Scenario(
                name=f"quiet/{name}/{policy}",
                policy=policy,
                answers=(answer,) * 2,
                evidence=Evidence.LATE,
                frequency=_AT_ONCE,
                events=("e1",),
                acts=(at(put("e2", on="e1"), hours=-10),),
                counted_from=_EVENING,
                quiet_hours=_LATER,
            )
    yield Scenario(
        name="quiet/two workers",
        frequency=_AT_ONCE,
        events=("e1",),
        counted_from=_EVENING,
        quiet_hours=_NIGHT,
        meanwhile=copy,
        hows=(),
    )
    yield Scenario(
        name="quiet/another event in the middle",
        frequency=_AT_ONCE,
        events=("e1",),
        counted_from=_EVENING,
        quiet_hours=_NIGHT,
        meanwhile=during(put("e2", on="e1")),
        hows=(),
    )


def _limited() -> Iterator[Scenario[Life]]:
    """Yield scenarios in which a second thing happens after the allowance is used up."""
    limit = ImmediateLimit(per_hour=1, per_day=1)
    other = at(put("e3", on="other"), hours=-11, minutes=-50)
    yield Scenario(
        name="limit/happy",
        frequency=_AT_ONCE,
        acts=(other,),
        counted_from=_EVENING,
        limit=limit,
    )
    yield Scenario(
        name="limit/retry",
        answers=(Answer.REFUSES_NOW,),
        frequency=_AT_ONCE,
        acts=(other,),
        counted_from=_EVENING,
        limit=limit,
    )
    yield Scenario(
        name="limit/another event in the middle",
        frequency=_AT_ONCE,
        events=("e1",),
        counted_from=_EVENING,
        limit=limit,
        meanwhile=during(put("e2", on="other")),
        hows=(),
    )


SCENARIOS = (*_quiet(), *_limited())
