"""Readers who click by a known rule, so that the true difference is known.

Each reader has an own rate, drawn from a beta distribution. Some click almost always, most rarely.
The emails of one reader therefore say less than as many readers. A variation's effect adds a click
to each email with the probability `lift`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import prod
from random import Random

from gazette.domain.feedback.delivery_events import Engagement, EngagementEvent
from gazette.domain.feedback.experiment import Experiment, Variant, experiment, variant_of
from gazette.domain.model import RunKey

from gazette_cli.statistics.comparisons import Verdict, compare
from gazette_support.domain.experiment_readers import Arm
from gazette_support.domain.statistics import Dimension, Measure
from gazette_support.steps.statistics import Statistics, collect_statistics, of_experiment

_BEGIN = datetime(2026, 11, 2, 7, 0, tzinfo=UTC)
_DAY = timedelta(days=1)
_ALIKE, _APART = 0.3, 2.7
"""Parameters of the beta distribution: a tenth of all emails are clicked, and readers differ
much."""


@dataclass(frozen=True, slots=True)
class Town:
    """A number of readers, each of whom gets an email on 1 to `days` days."""

    readers: int = 240
    days: int = 8
    lift: float = 0.0
    variations: int = 2

    @property
    def slots(self) -> list[datetime]:
        """One slot a day."""
        return [_BEGIN + day * _DAY for day in range(self.days)]

    def share(self, lift: float) -> float:
        """Return the true share of readers who click at least once."""
        return (
            1
            - sum(
                (1 - lift) ** emails
                * prod((_APART + each) / (_ALIKE + _APART + each) for each in range(emails))
                for emails in range(1, self.days + 1)
            )
            / self.days
        )

    @property
    def difference(self) -> float:
        """The true difference between variation 2 and variation 1."""
        return self.share(self.lift) - self.share(0)

    def run(self, number: int) -> "Run":
        """Run experiment `number`, with the same readers assigned anew, and their emails."""
        running = experiment(
            f"trial-{number}", dict.fromkeys(range(1, self.variations + 1), 1), _BEGIN
        )
        return Run(self, running, Emails(self, running, Random(number)))


class Emails:
    """The methods of the port `Engagements` that a report calls."""

    def __init__(self, town: Town, running: Experiment, random: Random) -> None:
        self._by_slot: dict[datetime, list[Engagement]] = {slot: [] for slot in town.slots}
        for number in range(town.readers):
            reader = f"reader{number}"
            variant = variant_of(reader, running)
            rate = random.betavariate(_ALIKE, _APART)
            lift = town.lift if variant.variation == 2 else 0.0
            for slot in town.slots[: random.randint(1, town.days)]:
                is_clicked = random.random() < rate or random.random() < lift
                self._by_slot[slot].append(_email(reader, slot, variant, is_clicked))

    def record(self, *_: object) -> bool:
        """Raise, because a report does not write."""
        raise AssertionError("a report does not write")

    def of_slot(self, slot: datetime) -> Iterator[Engagement]:
        """Yield the engagements of a slot like the adapter."""
        return iter(self._by_slot[slot])


@dataclass(frozen=True, slots=True)
class Run:
    """One experiment."""

    town: Town
    running: Experiment
    emails: Emails

    def report(self, days: int | None = None) -> Statistics:
        """Return the report, as the command makes it, after a number of days."""
        slots = self.town.slots[:days]
        arm_of = of_experiment(self.running.name)
        return collect_statistics(slots, engagements=self.emails, arm_of=arm_of)

    def verdicts(self, days: int | None = None) -> Sequence[Verdict]:
        """Return the verdicts on clicks."""
        return clicked(self.report(days).readers.arms())

    def naive_verdicts(self) -> Sequence[Verdict]:
        """Return the verdicts as if each email had a separate reader."""
        counts = self.report().counts

        def number(variation: int, measure: Measure) -> int:
            return counts[Dimension.VARIATION, f"{self.running.name} {variation}", measure]

        return clicked(
            [
                Arm(
                    variation,
                    number(variation, Measure.SENT),
                    {act: number(variation, act) for act in Measure},
                )
                for variation in range(1, self.town.variations + 1)
            ]
        )


def clicked(arms: Sequence[Arm]) -> Sequence[Verdict]:
    """Return the verdicts on clicks; none if there were none."""
    return compare(arms).get(Measure.CLICKED, ())


def _email(reader: str, slot: datetime, variant: Variant, is_clicked: bool) -> Engagement:
    event = EngagementEvent.CLICKED if is_clicked else EngagementEvent.DELIVERED
    return Engagement(
        RunKey(reader, "daily", slot.day), slot, "en", variant, ("comment",), {event: slot}
    )
