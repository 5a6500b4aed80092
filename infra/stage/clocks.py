"""Clocks, margins and switches for development."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """Advanced settings."""

    settle_lag: int = 15
    """[seconds] The time after a window's end in which late writes become visible, before the
    window is read.

    More than the longest write of an event (1.5 seconds) plus `clock_skew`, up to 300. Too short:
    an event could be missed."""

    clock_skew: int = 5
    """[seconds] The maximum difference between the clocks of two functions.

    0 to 60."""

    commit_margin: int = 8
    """[seconds] The time reserved for recording the outcome after the longest provider call.

    5 or more. Too short: more unknown outcomes."""

    check_after: int = 3600
    """[seconds] The time after which the sweep first checks a run that should have been sent.

    0 or more. Too short: unnecessary messages. Too long: a lost message is found later."""

    lookback_slots: int = 6
    """[slots] The number of earlier slots that each tick reads again, because the due index is
    eventually consistent.

    1 to 144. Too few: fan-out can miss a schedule that the index shows late."""

    dashboard: bool = True
    """A dashboard in CloudWatch, `gazette-<stage>`.

    It costs $3 a month. `false`: no dashboard."""

    ticks: bool = True
    """The clock starts digests and the sweep.

    `false`: no digest starts by itself."""

    host_layers: bool = False
    """Build the layers for this machine instead of Lambda, for the embedded engine.

    `true` on a platform other than Lambda's: functions cannot import their libraries."""
