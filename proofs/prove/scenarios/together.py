"""Scenarios of messages that one invocation of ingest processes together."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from gazette.domain.subscribers.frequency import Frequency

from proofs.prove.acts import (
    Act,
    at,
    choose,
    erase,
    follow,
    happen,
    put,
    retract,
)
from proofs.prove.life import Life
from proofs.prove.scenario import Scenario

_AT_ONCE = Frequency.IMMEDIATE


def _together() -> Iterator[Scenario[Life]]:
    """Yield scenarios with messages that reach one invocation of ingest at the same time.

    They include events that are routed together and events that must keep their order.
    """
    others = (put("e3", "bo"), put("e4", "bo"))
    between: dict[str, Sequence[Act]] = {
        "nothing": (put("e3"), *others, put("e4"), put("e3")),
        "a profile": (put("e3"), others[0], choose(Frequency.WEEKLY), put("e4"), others[1]),
        "muting": (put("e3", in_vain=True), choose(Frequency.NEVER), others[0]),
        "an erasure": (put("e3", in_vain=True), erase, others[0], put("e4", in_vain=True)),
        "a retraction": (
            *(put("e3", in_vain=True), put("b3", "bo"), retract("e3")),
            *(put("e4"), put("b4", "bo")),
        ),
        "an activity": (put("e3"), others[0], happen("p1", "ann", "bo"), put("e4"), others[1]),
    }
    for what, acts in between.items():
        for frequency in (Frequency.DAILY, _AT_ONCE):
            follows = (follow("p1"), follow("p1", "bo")) if what == "an activity" else ()
            yield Scenario(
                name=f"together/{what}/{frequency}",
                readers=("ann", "bo"),
                events=(),
                frequency=frequency,
                acts=(
                    *(at(each, hours=-3) for each in follows),
                    *(at(each, hours=-1) for each in acts),
                ),
                counted_from=timedelta(hours=-2),
                days=8 if what == "a profile" else 1,
            )


SCENARIOS = (*_together(),)
