"""What the dashboard shows, as plain data: three questions, and when to worry about each answer.

docs/metrics.md repeats it as a table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Measured(StrEnum):
    """What AWS measures of each part of the stack, which a panel shows by the part's name."""

    AGES = "ages of queues"
    NUMBERS = "numbers of queues"
    DEAD = "numbers of queues that must be empty"
    ERRORS = "errors of functions"
    THROTTLES = "throttles of functions"
    API = "answers of the API"


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A graph. `own`: metrics of docs/metrics.md, each with the statistics that are shown.

    `measured`: what AWS measures, if it shows that instead. `tracked`: only where a stage tracks
    opens or clicks. `asks_source`: only where it asks a content source.
    """

    title: str
    own: tuple[tuple[str, tuple[str, ...]], ...] = ()
    measured: Measured | None = None
    worry: str
    tracked: bool = False
    asks_source: bool = False


def _sums(*names: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((name, ("Sum",)) for name in names)


PANELS: Mapping[str, tuple[Panel, ...]] = {
    "Are digests on time?": (
        Panel(
            title="Due and sent",
            own=_sums("due", "run_sent", "run_skipped"),
            worry="`run_sent` stays far below `due` minus `run_skipped`",
        ),
        Panel(
            title="Digests: from due to accepted (s)",
            own=(("slot_to_accepted", ("p50", "p99")),),
            worry="`p99` grows towards `max_lateness`",
        ),
        Panel(
            title="Immediate email: from stored to accepted (s)",
            own=(("stored_to_accepted", ("p50", "p99")),),
            worry="`p99` stays above 60; the alarm waits until one in ten takes above 281",
        ),
        Panel(
            title="The oldest email that is due (s)",
            own=(("oldest_due_age", ("p75", "Maximum")),),
            worry="it grows from one hour to the next",
        ),
        Panel(
            title="Beats of the clock",
            own=_sums("ticks_done", "shards_done", "partitions_swept"),
            worry="a line ends",
        ),
        Panel(
            title="Age of the oldest message (s)",
            measured=Measured.AGES,
            worry="a line climbs and does not fall; `resend` may reach 13 hours",
        ),
    ),
    "Is anything stuck?": (
        Panel(
            title="Messages that wait",
            measured=Measured.NUMBERS,
            worry="a queue grows from one half-hour to the next",
        ),
        Panel(title="Queues that must be empty", measured=Measured.DEAD, worry="anything is there"),
        Panel(
            title="Failed, unknown, stopped",
            own=_sums("run_failed", "run_unknown", "breaker_opened", "failed"),
            worry="anything comes again and again",
        ),
        Panel(
            title="Recommendations",
            own=_sums("source_requests", "fetch_stored", "fetch_failed", "fetch_breaker_open"),
            worry="`fetch_failed` or `fetch_breaker_open` come near `source_requests`",
            asks_source=True,
        ),
        Panel(
            title="Errors of functions",
            measured=Measured.ERRORS,
            worry="a function fails for more than a few minutes",
        ),
        Panel(
            title="Throttles", measured=Measured.THROTTLES, worry="any for more than a few minutes"
        ),
        Panel(
            title="Answers of the API",
            measured=Measured.API,
            worry="any 5xx; 4xx near the number of requests",
        ),
    ),
    "What do readers think of us?": (
        Panel(
            title="Sent and delivered",
            own=_sums("mail_sent", "mail_delivered"),
            worry="`mail_delivered` stays below `mail_sent`",
        ),
        Panel(
            title="Bounces and complaints",
            own=_sums("mail_bounced", "mail_complained", "mail_refused_by_policy"),
            worry="bounces reach 5 %, or complaints 0.1 %, of `mail_sent`",
        ),
        Panel(
            title="Readers who leave",
            own=_sums("unsubscribed", "suppressed_complained"),
            worry="a sudden rise, above all after a change of templates",
        ),
        Panel(
            title="Opens and clicks",
            own=_sums("mail_opened", "mail_clicked"),
            worry="clicks fall from week to week",
            tracked=True,
        ),
    ),
}


def table() -> str:
    """The panels as docs/metrics.md has them."""
    rows = ["| question | graph | shows | worry when |", "| --- | --- | --- | --- |"]
    for question, panels in PANELS.items():
        for panel in panels:
            own = ", ".join(f"`{name}`" for name, _ in panel.own)
            shown = own + (" (where a stage tracks them)" if panel.tracked else "")
            shown += " (where a stage asks a content source)" if panel.asks_source else ""
            row = (question, panel.title, panel.measured or shown, panel.worry)
            rows.append(f"| {' | '.join(row)} |")
    return "\n".join(rows)
