"""The line items of the dashboards and of the support page."""

from collections.abc import Iterator

from gazette_cli.cost.assumptions import (
    A_LOOK,
    DASHBOARDS,
    FREE_DASHBOARDS,
    LOOK_CALLS,
    LOOK_METRICS,
    MEMORY,
    MONTH,
)
from gazette_cli.cost.item import Item
from gazette_cli.cost.usage import Usage


def dashboards(usage: Usage) -> Iterator[Item]:
    """Yield the items of a stage with dashboards. Only dashboards beyond the free ones cost."""
    if not usage.dashboard:
        return
    paid = min(max(usage.other_dashboards + DASHBOARDS - FREE_DASHBOARDS, 0), DASHBOARDS)
    months = usage.days / MONTH
    what = f"dashboards: {DASHBOARDS - paid} of {DASHBOARDS} are free"
    yield Item("CloudWatch", what, "cloudwatch.dashboards", paid * months, fixed=True)
    looks = usage.looks * usage.days
    if looks:
        seconds = A_LOOK * MEMORY["support"] / 1024
        what = "support page and story"
        for service, name, price, each in (
            ("CloudWatch", what, "cloudwatch.metric_reads", LOOK_METRICS),
            ("SQS", what, "sqs.requests", LOOK_CALLS),
            ("Lambda", f"requests of {what}", "lambda.requests", 1),
            ("Lambda", what, "lambda.gb_seconds", seconds),
        ):
            yield Item(service, name, price, looks * each, fixed=True)
