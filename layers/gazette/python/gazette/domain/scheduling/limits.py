"""The time limits of the steps.

The settings of each function extend the limits of its steps (gazette/settings). The units and
ranges are in gazette/settings/ranges.py.
"""

from dataclasses import dataclass
from datetime import timedelta

EVENT_WRITE_TIMEOUT = timedelta(seconds=1.5)
"""The maximum duration of one attempt to write an event."""

COMMIT_MARGIN = timedelta(seconds=8)
"""The time that must remain in an invocation after a call to the provider, to record the
outcome."""

_ROUNDING = timedelta(seconds=1)


@dataclass(frozen=True, kw_only=True)
class LatenessLimit:
    """The limit for late digests."""

    max_lateness: timedelta
    """The maximum delay of a digest after its due time.

    A daily digest that would be later is skipped, and the next digest includes its events.
    """


@dataclass(frozen=True, kw_only=True)
class CheckLimit:
    """The limit for runs that do not end."""

    check_after: timedelta
    """The time between the due time of a run and the sweep's first check, and between checks."""


@dataclass(frozen=True, kw_only=True)
class EvidenceLimit:
    """The limit for delivery events."""

    evidence_grace: timedelta
    """The time after a claim's deadline during which delivery events are awaited."""


@dataclass(frozen=True, kw_only=True)
class SettlingLimits:
    """The limits that prevent an event from missing its window (rules 2 and 14)."""

    settle_lag: timedelta
    """The minimum time between the end of a window and the read of its events.

    It must be longer than EVENT_WRITE_TIMEOUT plus `clock_skew`.
    """

    clock_skew: timedelta
    """The maximum difference between the clocks of two functions."""

    @property
    def hold(self) -> timedelta:
        """The time after which all events that an immediate run collected can be read."""
        return self.settle_lag + self.clock_skew + _ROUNDING

    @property
    def write_bound(self) -> timedelta:
        """The maximum duration of an event write. A longer write may miss its window."""
        return self.settle_lag - self.clock_skew


@dataclass(frozen=True, kw_only=True)
class RoutingLimits(SettlingLimits, CheckLimit):
    """The limits of routing."""

    collapse: timedelta
    """The time during which an immediate run collects further events on its entity.

    The reader's template version may override this time.
    """


@dataclass(frozen=True, kw_only=True)
class FanoutLimits(LatenessLimit, CheckLimit):
    """The limits of fan-out."""

    spread: timedelta
    """The maximum random delay of a run's message."""


@dataclass(frozen=True, kw_only=True)
class DeliveryLimits(LatenessLimit, SettlingLimits, EvidenceLimit):
    """The limits that prevent a run from being sent twice."""

    send_timeout: timedelta
    """The maximum duration of a call to the provider."""


@dataclass(frozen=True, kw_only=True)
class SweepLimits(EvidenceLimit, CheckLimit):
    """The limits of the sweep."""

    longest_unknown: timedelta
    """The time after a claim's deadline for which the policy `resend` waits for proof that delivery
    events arrive."""
