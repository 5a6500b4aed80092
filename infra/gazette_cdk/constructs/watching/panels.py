"""The dashboard's panels as plain data, grouped by question, each with a reason to worry.

docs/metrics.md contains the same table.

All panels together show at most `MOST` metrics. A dashboard with more metrics is never free.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

MOST = 50
"""The number of metrics up to which an account's first three dashboards are free: "3 Custom
Dashboards referencing up to 50 metrics each per month".
https://aws.amazon.com/cloudwatch/pricing/
"""


class Measured(StrEnum):
    """The groups of AWS metrics that a panel can show, with one line for each queue or status, and
    the alarms, with one tile for each.
    """

    ALARMS = "the state of every alarm"
    AGES = "age of the oldest message by queue"
    NUMBERS = "messages by queue"
    API = "responses by status"


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A graph of the dashboard."""

    title: str

    # Metrics of docs/metrics.md, each with the statistics to show.
    own: tuple[tuple[str, tuple[str, ...]], ...] = ()

    # What to show instead.
    measured: Measured | None = None

    # The reason to worry.
    worry: str

    # True if the panel is only for a stage that tracks opens or clicks.
    tracked: bool = False

    # True if the panel is only for a stage with a content source.
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
            title="Immediate email: from collected to accepted (s)",
            own=(("collected_to_accepted", ("p50", "p99")),),
            worry="`p99` stays above 40; the alarm fires when one email in ten takes longer than "
            "261",
        ),
        Panel(
            title="Oldest due email (s)",
            own=(("oldest_due_age", ("p75", "Maximum")),),
            worry="the age grows from hour to hour",
        ),
        Panel(
            title="Beats of the clock",
            own=_sums("ticks_done", "shards_done", "partitions_swept"),
            worry="a line stops",
        ),
        Panel(
            title="Age of the oldest message (s)",
            measured=Measured.AGES,
            worry="a line rises and does not fall; `resend` may reach 13 hours",
        ),
    ),
    "Is anything stuck?": (
        Panel(
            title="Alarms",
            measured=Measured.ALARMS,
            worry="an alarm fires: queues that must be empty, errors and throttles of functions, "
            "and all others",
        ),
        Panel(
            title="Waiting messages",
            measured=Measured.NUMBERS,
            worry="a queue grows from one half-hour to the next",
        ),
        Panel(
            title="Failed, unknown, stopped",
            own=_sums("run_failed", "run_unknown", "breaker_opened", "failed"),
            worry="any of these recurs",
        ),
        Panel(
            title="Recommendations",
            own=_sums("source_requests", "fetch_stored", "fetch_failed", "fetch_breaker_open"),
            worry="`fetch_failed` or `fetch_breaker_open` approach `source_requests`",
            asks_source=True,
        ),
        Panel(
            title="Responses of the API",
            measured=Measured.API,
            worry="there are any 5xx responses, or 4xx responses approach the number of requests",
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
            worry="a sudden rise, especially after a change of templates",
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
    """Return the panels as the table in docs/metrics.md."""
    rows = ["| question | graph | shows | worry when |", "| --- | --- | --- | --- |"]
    for question, panels in PANELS.items():
        for panel in panels:
            own = ", ".join(f"`{name}`" for name, _ in panel.own)
            metrics = own + (" (if the stage tracks them)" if panel.tracked else "")
            metrics += " (if the stage has a content source)" if panel.asks_source else ""
            row = (question, panel.title, panel.measured or metrics, panel.worry)
            rows.append(f"| {' | '.join(row)} |")
    return "\n".join(rows)
