"""The counts of a simulation. The memory usage does not depend on the number of readers."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import ceil

from gazette_cli.simulate.engine.cohorts import Cohort

_TENTH = 10
_MINUTE = 60
_SOON = 600
"""The length of a slot in seconds. A digest that is sent within one slot after the chosen hour is
only slightly late.
"""


@dataclass(slots=True)
class Lateness:
    """The distribution of email delays, in tenths of a second."""

    tenths: Counter[int] = field(default_factory=Counter)
    number: int = 0

    def add(self, seconds: float, number: int) -> None:
        """Count emails with a delay."""
        self.tenths[ceil(seconds * _TENTH)] += number
        self.number += number

    def percentile(self, share: float) -> float:
        """Return a percentile of the delays in seconds, or 0 if no emails are counted."""
        remaining = share * self.number
        for tenth, number in sorted(self.tenths.items()):
            remaining -= number
            if remaining <= 0:
                return tenth / _TENTH
        return 0.0


@dataclass(slots=True)
class Tally:
    """The counts of a simulation."""

    # Emails sent by stream.
    sent: Counter[str] = field(default_factory=Counter)

    # Digests sent in the chosen hour, and digests sent in the ten minutes after that hour.
    in_time: int = 0
    soon_after: int = 0

    # Digests sent by due time.
    by_due: Counter[float] = field(default_factory=Counter)

    # Skipped emails by reason.
    skipped: Counter[str] = field(default_factory=Counter)

    # Temporary rejections.
    refused: int = 0

    # Requeues by stream, and requeues before a run was read.
    requeued: Counter[str] = field(default_factory=Counter)
    unread: int = 0

    # Delays by stream.
    late: dict[str, Lateness] = field(
        default_factory=lambda: {"digest": Lateness(), "immediate": Lateness()}
    )

    # Emails sent by stream and minute.
    by_minute: dict[str, Counter[int]] = field(
        default_factory=lambda: {"digest": Counter(), "immediate": Counter()}
    )

    # Seconds of invocations by queue.
    billed: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    # Invocations by queue, and invocations that sent email.
    invocations: Counter[str] = field(default_factory=Counter)
    sending: Counter[str] = field(default_factory=Counter)

    # The longest time that a worker waited for a permit, in seconds.
    waited: float = 0.0

    # The time of the last digest.
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
