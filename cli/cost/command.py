"""`gazette cost`: what a stage costs with an adopter's own numbers."""

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
    "what": "what",
    "quantity": "quantity",
    "unit": "unit",
    "dollars": "dollars",
    "fixed": "",
}
FIXED = "fixed"
"""Beside a service: a line that is due whatever happens."""


def cost(
    readers: Annotated[int, typer.Option(min=1, help="Readers who get email.")],
    events: Annotated[
        float, typer.Option(min=0, help="Events that each reader hears of in a day.")
    ] = 10,
    digests: Annotated[
        float, typer.Option(min=0, help="Digests that each reader gets in a day; weekly: 0.14.")
    ] = 1,
    quiet: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of digests that come after a day without news."),
    ] = 0,
    immediate: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of events that go out at once, as one email each."),
    ] = 0,
    listed: Annotated[
        int,
        typer.Option("--list", min=1, help="Events that services put in one list; 1: no lists."),
    ] = 100,
    size: Annotated[int, typer.Option("--bytes", min=100, help="Bytes of an event as JSON.")] = 400,
    items: Annotated[
        float,
        typer.Option(
            min=0, max=20, help="New items of a content source for each digest; 0: none is asked."
        ),
    ] = 0,
    categories: Annotated[
        float, typer.Option(min=1, help="Categories that an email shows, on average.")
    ] = 1,
    signs: Annotated[
        float, typer.Option(min=0, help="Signs of life of each reader in a month.")
    ] = 4,
    days: Annotated[float, typer.Option(min=0.01, help="Days that the bill covers.")] = 30,
    together: Annotated[
        int,
        typer.Option(
            min=1,
            max=10,
            help="Messages in an invocation of ingest and feedback: 1 where little happens.",
        ),
    ] = 10,
    plan: Annotated[
        str, typer.Option(help="Price plan of SES: none, essentials, pro or enterprise.")
    ] = "none",
    region: Annotated[
        str, typer.Option(help="The region; another one needs its own file of prices.")
    ] = "us-east-1",
    prices: Annotated[
        Path, typer.Option(help="The file of prices.", show_default="cli/cost/prices.json")
    ] = OURS,
    stage: StageName = "prod",
) -> None:
    """Estimate what a stage costs in AWS, item by item, without taxes and free tiers.

    The settings of the stage in cdk.json count: what is reported, restored and held, and how many
    emails an invocation sends at its rate.

    The units of DynamoDB are those that tests measure; how long functions take and what they log
    are assumptions (cli/cost/assumptions.py). Readers' links are left out: a dollar for a million
    requests.
    """
    charged = read_prices(prices)
    if charged.region != region:
        raise NotPossible(
            f"{prices} has the prices of {charged.region}, not of {region}: copy it, put in what "
            "https://aws.amazon.com/pricing/ says of yours, and name it with --prices."
        )
    if plan not in charged.plans:
        raise NotPossible(f"There is no plan {plan!r}: {', '.join(charged.plans)}.")
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
    note(f"Prices of {charged.region}, the oldest of {charged.oldest()}; without free tiers.")


def sums(lines: Sequence[Line]) -> dict[str, float]:
    """Dollars: of SES, of all else that grows with use, of what is fixed, and of everything."""
    ours = [line for line in lines if line.item.service != "SES"]
    found = {
        "ses": sum(line.dollars for line in lines) - sum(line.dollars for line in ours),
        "grows": sum(line.dollars for line in ours if not line.item.fixed),
        "fixed": sum(line.dollars for line in ours if line.item.fixed),
    }
    return {**found, "total": sum(found.values())}


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
    found = sums(lines)
    say(
        f"Grows with use: ${found['grows']:,.2f}; fixed: ${found['fixed']:,.2f}; "
        f"SES: ${found['ses']:,.2f}; in all ${found['total']:,.2f}."
    )
    if usage.emails:
        each = found["grows"] / usage.emails * 1_000_000
        say(f"{usage.emails:,.0f} emails; beside SES ${each:,.2f} for a million of them.")
