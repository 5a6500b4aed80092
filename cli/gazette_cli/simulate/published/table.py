"""Tables that compare the published figures with the simulated figures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from gazette_cli.simulate.published.pipeline import Design, Pipeline, Seen

LEFT_OVER = 0.225
"""The published share of generation events that still did nothing after the change."""

_ONE_IN_FOUR = 0.25
_TEN_MINUTES = timedelta(minutes=10)
_DAY = 86_400.0
_NEAR = 0.01
LOAD, _DAYS = 0.95, 2
"""The load as a share of one queue's limit, and the number of simulated days. The figures exclude
the first day.
"""

ONE_QUEUE = Design(name="one queue for all", rate=500, share=_ONE_IN_FOUR)
OWN_SEND = replace(ONE_QUEUE, name="separate sending queue", own_send=True)
ACTIVE = replace(OWN_SEND, name="only active readers", share=1 - LEFT_OVER)
SPREAD = replace(
    ACTIVE, name="spread over ten minutes, separate shards", spread=_TEN_MINUTES, own_shards=True
)
HALF = replace(SPREAD, name="250 events a second", rate=250)
NO_NOOPS = replace(HALF, name="no no-ops, like Gazette", share=1.0)
DESIGNS = (ONE_QUEUE, OWN_SEND, ACTIVE, SPREAD, HALF, NO_NOOPS)


@dataclass(frozen=True, slots=True)
class Played:
    """A simulated design with its counts."""

    design: Design
    seen: Seen

    # The number of counted days.
    days: int

    # Digests per day.
    digests: int

    @property
    def capacity(self) -> int:
        """The maximum number of digests per day. A busy queue processes events at its rate."""
        mine = {"generate"}
        mine |= set() if self.design.own_send else {"send"}
        mine |= set() if self.design.own_shards else {"shard"}
        events = sum(self.seen.events[kind] for kind in mine) / self.days
        return round(self.seen.digests / self.days / events * self.design.rate * _DAY)

    @property
    def generated(self) -> float:
        """The generation events per day."""
        return self.seen.events["generate"] / self.days

    @property
    def idle(self) -> float:
        """The share of the day in which generation is idle."""
        return self.seen.idle / (self.days * _DAY)

    @property
    def asked_at_most(self) -> int:
        """The requests to the service in the busiest second."""
        return self.seen.service.peak

    @property
    def acts(self) -> float:
        """The actions of the service's autoscaler per day."""
        return (self.seen.service.ups + self.seen.service.downs) / self.days


@dataclass(frozen=True, slots=True)
class Row:
    """A figure with its published value, its simulated value, and an explanation."""

    what: str
    published: str
    simulated: str
    why: str


def holds(design: Design, digests: int, *, step: float = 60.0) -> bool:
    """Return True if the design can process a day's digests within the day."""
    waiting = Pipeline(design, digests, days=3, step=step).run().waiting
    return waiting[-1] - waiting[-2] < _NEAR * digests


def play(*, load: float = LOAD, step: float = 10.0) -> list[Played]:
    """Simulate every design. `load` is the number of digests as a share of the first design's
    limit.
    """
    digests = round(load * ONE_QUEUE.rate * _DAY / (1 / ONE_QUEUE.share + 1))
    return [
        Played(design, Pipeline(design, digests, days=_DAYS, step=step).run(), _DAYS - 1, digests)
        for design in DESIGNS
    ]


def rows(played: Sequence[Played]) -> Iterator[Row]:
    """Yield each published figure with the simulated figure."""
    by_name = {each.design.name: each for each in played}
    one, own, active, spread, half, none = (by_name[design.name] for design in DESIGNS)
    events = one.seen.events
    yield Row(
        "share of send events on the single queue",
        "about 20 %",
        f"{events['send'] / events.total():.0%}".replace("%", " %"),
        "a digest has four generation events and one send event",
    )
    yield Row(
        "generation events without inactive readers",
        "−70 %",
        f"{active.generated / own.generated - 1:+.0%}".replace("-", "−").replace("%", " %"),
        "with the remaining 22.5 % no-ops, a digest needs 1.29 generation events instead of 4 "
        "(−68 %, published as −70 %)",
    )
    yield Row(
        "digests a day, compared with the limit of the single queue",
        "3.8 times (282 % more)",
        f"{active.capacity / one.capacity:.2f} times",
        "at 500 events a second and with 22.5 % no-ops, a digest needs 1.29 events instead of 5",
    )
    yield Row(
        "… at 250 events a second",
        "not published",
        f"{half.capacity / one.capacity:.2f} times",
        "half the rate gives half the capacity. A capacity of 3.8 times needs the full rate",
    )
    yield Row(
        "remaining no-ops",
        "22.5 %",
        f"{1 - none.design.share:.0%}".replace("%", " %"),
        "Gazette's due index does not contain readers without waiting events, so they cause no "
        f"events. This allows {none.capacity / half.capacity:.2f} times the digests at the same "
        "rate",
    )
    yield Row(
        "requests to the service in its busiest second",
        "about three times as many",
        f"{active.asked_at_most / own.asked_at_most:.1f} times",
        f"the requests increase from {own.asked_at_most} to {active.asked_at_most} a second, "
        "because no-ops made no requests",
    )
    yield Row(
        "scaling actions of its autoscaler in a day",
        "thrashed, then calm",
        f"{own.acts:.0f}; {active.acts:.0f}; {spread.acts:.0f}; {half.acts:.0f}",
        "in this order: with no-ops, without no-ops, spread over ten minutes, at 250 events a "
        "second. The autoscaler's rules are assumed",
    )
    yield Row(
        "idle time of generation in a day",
        "none at the limit",
        f"{one.idle:.0%}; {own.idle:.0%}; {active.idle:.0%}".replace("%", " %"),
        "in this order: at 95 % of the limit of one queue, with a separate sending queue, "
        "without inactive readers",
    )
