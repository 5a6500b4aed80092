"""The CloudWatch metrics that a stage writes, by cause.

CloudWatch charges for a metric in each hour in which it has a value: "All custom metrics charges
are prorated by the hour and metered only when you send metrics to CloudWatch"
(https://aws.amazon.com/cloudwatch/pricing/). So the cost follows the number of metrics, and how
often their causes occur.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from gazette_cli.cost.assumptions import MONTH, TICKS
from gazette_cli.cost.usage import Usage

_CLOCK, _RARE = "ticks and sweeps", "rare outcomes"

METRICS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        _CLOCK: ("ticks_done", "shards_done", "partitions_swept", "oldest_due_age"),
        "events": ("ingest_stored",),
        "reader activity": ("ingest_active",),
        "visits": ("ingest_seen",),
        "seen events": ("events_seen", "skipped_seen"),
        "digests": ("due", "slot_to_accepted"),
        "immediate emails": ("collected_to_accepted",),
        "emails": ("run_sent", "render_time", "fragments_found", "fragments_made"),
        "requeued emails": ("run_requeued", "requeued_unread"),
        "delivery events": ("mail_sent", "mail_delivered"),
        "fetches": ("source_requests", "fetch_stored", "fetch_nothing_new"),
        _RARE: (
            "audited",
            "held_by_day",
            "ingest_amended",
            "ingest_changed",
            "ingest_duplicate",
            "ingest_muted",
            "ingest_not_followed",
            "ingest_retracted",
            "mail_bounced",
            "mail_complained",
            "mail_delayed",
            "permits_unused",
            "preferences_saved",
            "preferences_unchanged",
            "returned_to_queue",
            "run_skipped",
            "run_unknown",
            "skipped_empty",
            "skipped_suppressed",
            "skipped_unsubscribed",
            "suppressed_bounced",
            "suppressed_complained",
            "swept_collected",
            "swept_due_later",
            "swept_queued",
            "unsubscribed",
        ),
    }
)
"""The metrics that each cause writes. docs/metrics.md describes all metrics.

Tests measure the metrics of a tick and a sweep of an empty stage, and of the way of an event, on
the real handlers. The rare outcomes are an assumption: the metrics that are not signs of a fault.
"""

_RARE_SHARE = 0.01
"""The number of times that each rare outcome occurs per event and email."""


def metric_months(usage: Usage) -> Iterator[tuple[str, float]]:
    """Yield each cause with the number of metric-months that CloudWatch charges for.

    Each occurrence of a cause counts as an hour of its own, until every hour is charged. If several
    occur in the same hour, the cost is lower.
    """
    signs = usage.per_month(usage.signs)
    occurrences = {
        _CLOCK: TICKS * usage.days,
        "events": usage.entries,
        "reader activity": signs,
        "visits": usage.per_month(usage.visits),
        "seen events": usage.all_events * usage.seen,
        "digests": usage.sent_digests,
        "immediate emails": usage.at_once,
        "emails": usage.emails,
        "requeued emails": usage.requeued + usage.quiet_waits,
        "delivery events": usage.reports,
        "fetches": usage.fetches,
        _RARE: _RARE_SHARE * (usage.all_events + usage.emails + signs),
    }
    hours = 24 * usage.days
    for cause, metrics in METRICS.items():
        share = min(1.0, occurrences[cause] / hours)
        yield cause, len(metrics) * share * usage.days / MONTH
