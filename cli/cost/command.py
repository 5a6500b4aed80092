"""`gazette cost`: estimate the cost of a stage."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cli.cost.bill import Line, bill
from cli.cost.prices import OURS, read_prices
from cli.cost.usage import Usage
from cli.shared.answers import Rows, Shown
from cli.shared.console import NotPossible, note, say
from cli.shared.deployed import StageName
from cli.shared.stages import stage_of

_PROJECT = Path(__file__).parents[2]
COLUMNS = {
    "service": "service",
    "what": "item",
    "quantity": "quantity",
    "unit": "unit",
    "dollars": "dollars",
    "fixed": "",
}
FIXED = "fixed"
"""The mark of an item that does not depend on use."""


def cost(
    readers: Annotated[int, typer.Option(min=1, help="The number of readers who get email.")],
    events: Annotated[float, typer.Option(min=0, help="Events per reader and day.")] = 10,
    digests: Annotated[
        float,
        typer.Option(min=0, help="Digests per reader and day. For weekly digests, specify 0.14."),
    ] = 1,
    quiet: Annotated[
        float,
        typer.Option(min=0, max=1, help="The share of digests that follow a day without events."),
    ] = 0,
    immediate: Annotated[
        float,
        typer.Option(min=0, max=1, help="The share of events that are sent as immediate email."),
    ] = 0,
    listed: Annotated[
        int,
        typer.Option("--list", min=1, help="Events per published list. 1 means no lists."),
    ] = 100,
    size: Annotated[
        int, typer.Option("--bytes", min=100, help="The size of an event as JSON, in bytes.")
    ] = 400,
    items: Annotated[
        float,
        typer.Option(
            min=0, max=20, help="New items of a content source per digest. 0 means no source."
        ),
    ] = 0,
    categories: Annotated[
        float, typer.Option(min=1, help="The average number of categories in an email.")
    ] = 1,
    signs: Annotated[
        float, typer.Option(min=0, help="Activity events (subscriber.active) per reader and month.")
    ] = 4,
    days: Annotated[float, typer.Option(min=0.01, help="The number of days in the bill.")] = 30,
    together: Annotated[
        int,
        typer.Option(
            min=1,
            max=10,
            help="Messages per invocation of ingest and feedback. With little traffic, specify 1.",
        ),
    ] = 10,
    plan: Annotated[
        str, typer.Option(help="The SES price plan: none, essentials, pro or enterprise.")
    ] = "none",
    region: Annotated[
        str, typer.Option(help="The region of the prices. Other regions need a file of prices.")
    ] = "us-east-1",
    prices: Annotated[
        Path, typer.Option(help="The file with prices.", show_default="cli/cost/prices.json")
    ] = OURS,
    stage: StageName = "prod",
) -> None:
    """Estimate the AWS cost of a stage by item, without taxes and free tiers.

    The estimate uses the settings of the stage in cdk.json, such as report_deliveries, restorable,
    category_hold and the rate. Tests measure the DynamoDB units. The durations and logs of
    functions are assumptions (cli/cost/assumptions.py). Requests to readers' links, at about one
    dollar per million, are not included.
    """
    charged = read_prices(prices)
    if charged.region != region:
        raise NotPossible(
            f"{prices} has the prices of {charged.region}, not of {region}. Copy the file, enter "
            "the prices of your region from https://aws.amazon.com/pricing/, and specify the copy "
            "with --prices."
        )
    if plan not in charged.plans:
        raise NotPossible(
            f"Plan {plan!r} does not exist. Specify one of {', '.join(charged.plans)}."
        )
    settings = stage_of(stage, _PROJECT)
    usage = Usage(
        readers=readers,
        events=events,
        digests=digests,
        quiet=quiet,
        immediate=immediate,
        listed=listed,
        size=size,
        items=items,
        categories=categories,
        signs=signs,
        days=days,
        together=together,
        digests_together=settings.sizes["generate"].batch,
        immediate_together=settings.sizes["immediate"].batch,
        plan=plan,
        by_ses=settings.mail_provider == "ses",
        report_deliveries=settings.report_deliveries,
        category_hold=settings.category_hold,
        dashboard=settings.dashboard,
        restorable=tuple(settings.restorable) if settings.retain else (),
        run_retention_days=settings.run_retention_days,
    )
    lines = bill(usage, charged)
    Rows("items", COLUMNS, [*map(_row, lines)]).show(
        usage=asdict(usage),
        region=charged.region,
        oldest_price=charged.oldest(),
        sums=sums(lines),
        emails=usage.emails,
    )
    _say_sums(usage, lines)
    note(
        f"Prices of {charged.region} without free tiers. The oldest price is of {charged.oldest()}."
    )


def sums(lines: Sequence[Line]) -> dict[str, float]:
    """Return the dollars for SES, for items that grow with use, for fixed items, and in total."""
    ours = [line for line in lines if line.item.service != "SES"]
    parts = {
        "ses": sum(line.dollars for line in lines) - sum(line.dollars for line in ours),
        "grows": sum(line.dollars for line in ours if not line.item.fixed),
        "fixed": sum(line.dollars for line in ours if line.item.fixed),
    }
    return {**parts, "total": sum(parts.values())}


def _row(line: Line) -> tuple[object, ...]:
    item = line.item
    return (
        Shown(item.service, f"{item.service} ({FIXED})" if item.fixed else item.service),
        item.what,
        Shown(item.quantity, f"{item.quantity:,.2f}"),
        line.unit,
        Shown(line.dollars, f"{line.dollars:.2f}"),
        item.fixed,
    )


def _say_sums(usage: Usage, lines: Sequence[Line]) -> None:
    parts = sums(lines)
    say(
        f"Variable: ${parts['grows']:,.2f}; fixed: ${parts['fixed']:,.2f}; "
        f"SES: ${parts['ses']:,.2f}; total: ${parts['total']:,.2f}."
    )
    if usage.emails:
        each = parts["grows"] / usage.emails * 1_000_000
        say(f"{usage.emails:,.0f} emails; ${each:,.2f} per million emails, excluding SES.")
