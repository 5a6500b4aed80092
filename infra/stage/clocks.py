"""Time-outs and clocks, which you should not need."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """Time-outs and clocks, which you should not need."""

    settle_lag: int = 15
    """[seconds] The time between a window's end and now, in which writes become visible.

    More than the longest write of an event (1.5 seconds) plus `clock_skew`, up to 300: otherwise an
    event could be missed."""

    clock_skew: int = 5
    """[seconds] By how much the clocks of two functions may differ.

    0 to 60."""

    commit_margin: int = 8
    """[seconds] The time kept for recording the outcome after the longest call of the provider.

    5 or more. Too short: more outcomes are unknown."""

    check_after: int = 3600
    """[seconds] When the sweep looks for the first time at a run that should have been sent.

    0 or more. Too short: useless messages. Too long: a lost message is found later."""

    lookback_slots: int = 6
    """[slots] How many earlier slots each tick reads again: the due index is eventually consistent.

    1 to 144. Too few: fan-out can overlook a schedule that the index shows late."""

    dashboard: bool = True
    """A dashboard in CloudWatch, `gazette-<stage>`.

    It costs $3 a month; `false`: none."""

    ticks: bool = True
    """The clock starts digests and the sweep.

    `false`: no digest goes out by itself."""

    host_layers: bool = False
    """Builds the layers for this machine instead of Lambda's; for the embedded engine.

    `true` on another platform than Lambda's: functions cannot import their libraries."""
