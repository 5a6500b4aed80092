"""What is seen: counted, never listed, so that it does not grow with the number of readers."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import ceil

from cli.simulate.engine.cohorts import Cohort

_TENTH = 10
_MINUTE = 60
_SOON = 600
"""Seconds after an hour in which a digest is hardly late: a slot."""


@dataclass(slots=True)
class Lateness:
    """How long emails were late, by tenths of a second."""

    tenths: Counter[int] = field(default_factory=Counter)
    number: int = 0

    def add(self, seconds: float, number: int) -> None:
        """Count so many emails."""
        self.tenths[ceil(seconds * _TENTH)] += number
        self.number += number

    def percentile(self, share: float) -> float:
        """Return the seconds within which this share of the emails went out; 0 of none."""
        left = share * self.number
        for tenth, number in sorted(self.tenths.items()):
            left -= number
            if left <= 0:
                return tenth / _TENTH
        return 0.0


@dataclass(slots=True)
class Tally:
    """Counts of emails by stream, and of digests by the instant at which they were due.

    `in_time`: digests within the hour that their readers chose,
    `soon_after` those within ten minutes after it. `skipped`: by reason. `requeued`:
    by stream, and `unread` those for which nothing was read. `by_minute`: emails, by stream and
    minute. `billed`: seconds of invocations, by queue; `invocations`: their number, `sending`: of
    those that sent. `waited`: the longest that a worker waited for a permit, in seconds. `last_at`:
    the last digest.
    """

    sent: Counter[str] = field(default_factory=Counter)
    in_time: int = 0
    soon_after: int = 0
    by_due: Counter[float] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    requeued: Counter[str] = field(default_factory=Counter)
    unread: int = 0
    late: dict[str, Lateness] = field(
        default_factory=lambda: {"digest": Lateness(), "immediate": Lateness()}
    )
    by_minute: dict[str, Counter[int]] = field(
        default_factory=lambda: {"digest": Counter(), "immediate": Counter()}
    )
    billed: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    invocations: Counter[str] = field(default_factory=Counter)
    sending: Counter[str] = field(default_factory=Counter)
    waited: float = 0.0
    last_at: float = 0.0

    def emails(self, cohort: Cohort, number: int, at: float) -> None:
        """Count emails that the provider accepted."""
        stream = cohort.stream
        self.sent[stream] += number
        self.late[stream].add(at - cohort.due, number)
        self.by_minute[stream][int(at // _MINUTE)] += number
        if stream == "digest":
            self.by_due[cohort.due] += number
            after = at - cohort.wanted_until
            self.in_time += number if after <= 0 else 0
            self.soon_after += number if 0 < after <= _SOON else 0
            self.last_at = max(self.last_at, at)
