"""Settings of clocks and margins, and switches for development."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """Advanced settings."""

    settle_lag: int = 15
    """[seconds] The delay between the end of a window and the time at which Gazette reads the
    window, so that late writes are visible.

    Must be at most 300, and more than `clock_skew` plus 1.5 seconds (the longest duration of a
    write). Too short: events could be missed.
    """

    clock_skew: int = 5
    """[seconds] The maximum difference between the clocks of two functions.

    0 to 60."""

    commit_margin: int = 8
    """[seconds] The time reserved for recording the outcome after the longest provider call.

    5 or more. Too short: more unknown outcomes."""

    check_after: int = 3600
    """[seconds] The delay between the due time of an unsent run and the first check of the run by
    the sweep.

    0 or more. Too short: unnecessary messages. Too long: a lost message is detected later.
    """

    lookback_slots: int = 6
    """[slots] The number of earlier slots that each tick also reads, because the due index is
    eventually consistent.

    1 to 144. Too few: fan-out can miss a schedule that appears late in the index.
    """

    dashboard: bool = True
    """The CloudWatch dashboard `gazette-<stage>`, which costs $3 a month.

    `false`: no dashboard.
    """

    ticks: bool = True
    """The clock, which starts digests and the sweep.

    `false`: digests do not start automatically.
    """

    host_layers: bool = False
    """Layers that are built for this machine instead of for Lambda. The embedded engine needs these
    layers.

    If `true` on a platform that differs from Lambda's, deployed functions cannot import their
    libraries.
    """
