"""`gazette cost`: estimate the AWS cost of a stage."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from gazette.domain.scheduling.quiet import QuietHours

from gazette_cdk.concurrency import MOST_REPORTS
from gazette_cli.cost.bill import Line, bill
from gazette_cli.cost.prices import OURS, read_prices
from gazette_cli.cost.regions import how_to_add, note_unknown_prices, region_of
from gazette_cli.cost.routes import ROUTES
from gazette_cli.cost.usage import Sending, Usage, digests_at
from gazette_cli.shared.answers import Rows, Shown
from gazette_cli.shared.console import NotPossible, note, say
from gazette_cli.shared.deployed import StageName
from gazette_cli.shared.stages import Stage, stage_of

COLUMNS = {
    "service": "service",
    "what": "item",
    "quantity": "quantity",
    "unit": "unit",
    "dollars": "dollars",
    "fixed": "",
}
_DAY = timedelta(days=1)

FIXED = "fixed"
"""The mark next to each item whose cost does not depend on usage."""


def cost(
    readers: Annotated[int, typer.Option(min=1, help="The number of readers who get email.")],
    events: Annotated[
        float, typer.Option(min=0, help="The number of events per reader per day.")
    ] = 10,
    digests: Annotated[
        float,
        typer.Option(
            min=0,
            help="The number of digests per reader per day, such as 0.14 for weekly digests.",
        ),
    ] = 1,
    quiet: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="The share of digests for which the previous day had no events."
        ),
    ] = 0,
    immediate: Annotated[
        float,
        typer.Option(min=0, max=1, help="The share of events that are sent as immediate email."),
    ] = 0,
    listed: Annotated[
        int,
        typer.Option(
            "--list",
            min=1,
            help=(
                "The number of events per published list. Specify 1 if events are published "
                "individually."
            ),
        ),
    ] = 100,
    size: Annotated[
        int, typer.Option("--bytes", min=100, help="The size of an event as JSON, in bytes.")
    ] = 400,
    items: Annotated[
        float,
        typer.Option(
            min=0,
            max=20,
            help=(
                "The number of new items from content sources per digest. Specify 0 if there "
                "are none."
            ),
        ),
    ] = 0,
    categories: Annotated[
        float, typer.Option(min=1, help="The average number of categories in an email.")
    ] = 1,
    signs: Annotated[
        float,
        typer.Option(
            min=0,
            help="The number of activity events (subscriber.active) per reader per month.",
        ),
    ] = 4,
    visits: Annotated[
        float,
        typer.Option(
            min=0,
            help=(
                "The number of visits (entity.seen) per reader per month, each published "
                "individually."
            ),
        ),
    ] = 0,
    seen: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help=(
                "The share of events that readers see before their email. The number of emails "
                "is unchanged."
            ),
        ),
    ] = 0,
    mutes: Annotated[
        float,
        typer.Option(
            min=0,
            help="The number of mutes of one thing (preferences.chosen) per reader per month.",
        ),
    ] = 0,
    looks: Annotated[
        float,
        typer.Option(min=0, help="The number of times per day that people look at the dashboards."),
    ] = 20,
    other_dashboards: Annotated[
        int,
        typer.Option(
            min=0,
            help="The number of other dashboards in the account, such as two for each other stage.",
        ),
    ] = 0,
    requests: Annotated[
        list[str] | None,
        typer.Option(
            "--requests",
            help=(
                "The number of requests to the API for services per reader per month, by route, "
                "such as getSubscriber=2. Repeat the option for each route."
            ),
        ),
    ] = None,
    days: Annotated[
        float, typer.Option(min=0.01, help="The number of days that the estimate covers.")
    ] = 30,
    together: Annotated[
        int,
        typer.Option(
            min=1,
            max=10,
            help=(
                "The average number of messages per invocation of ingest. For low traffic, "
                "specify 1."
            ),
        ),
    ] = 10,
    reports_together: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_REPORTS,
            help=(
                "The average number of delivery events per invocation of feedback. The default is "
                "the maximum of the stage. For low traffic, specify 1."
            ),
        ),
    ] = None,
    plan: Annotated[
        str, typer.Option(help="The SES price plan: none, essentials, pro or enterprise.")
    ] = "none",
    region: Annotated[
        str,
        typer.Option(
            help=(
                "The AWS region. Without --prices, only the prices of us-east-1 are known. Without "
                "this option, the estimate of a stage in another region uses them, and says so."
            ),
            show_default="the stage's region",
        ),
    ] = "",
    prices: Annotated[
        Path,
        typer.Option(help="The path of the price file.", show_default="the file of this package"),
    ] = OURS,
    stage: StageName = "prod",
) -> None:
    """Estimate the AWS cost of a stage by item, excluding taxes.

    Free tiers are excluded too, except for dashboards: the first three of an account are free, and
    a stage has two, the second for the support page.

    The estimate uses the settings of the stage, such as report_deliveries, restorable,
    category_hold and the sending rate. With quiet_hours, it assumes that events are spread evenly
    over the day, and that no reader has chosen other hours. With immediate_limit, it assumes that
    no event exceeds the limit. Tests measure the DynamoDB units. The durations and log
    sizes of functions are assumptions (cli/gazette_cli/cost/assumptions.py). The estimate excludes
    requests to readers' links, which cost about one dollar per million, and withdrawn events, which
    cost at most four dollars per million.
    """
    charged = read_prices(prices)
    if region not in {"", charged.region}:
        raise NotPossible(
            f"{prices} contains the prices of {charged.region}, not of {region}. "
            f"{how_to_add(region)}"
        )
    if plan not in charged.plans:
        raise NotPossible(
            f"Plan {plan!r} does not exist. Specify one of {', '.join(charged.plans)}."
        )
    settings = stage_of(stage)
    here = region or region_of(settings.region)
    reports = 1 + settings.report_deliveries if settings.mail_provider == "ses" else 0
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
        visits=visits,
        seen=seen,
        mutes=mutes,
        quiet_share=quiet_share(settings.quiet_hours),
        limited=bool(settings.immediate_limit),
        events_out=_events_out(settings.events_out, reports=reports),
        changes_out=_changes_out(settings.events_out, reports=reports),
        requests=tuple(map(_requests, requests or ())),
        days=days,
        together=together,
        reports_together=reports_together or settings.sizes["feedback"].batch,
        digests_sent=digests_of(settings),
        generate_memory=settings.sending_memory,
        plan=plan,
        by_ses=settings.mail_provider == "ses",
        report_deliveries=settings.report_deliveries,
        category_hold=settings.category_hold,
        dashboard=settings.dashboard,
        other_dashboards=other_dashboards,
        looks=looks,
        restorable=tuple(settings.restorable) if settings.retain else (),
        run_retention_days=settings.run_retention_days,
    )
    lines = bill(usage, charged)
    Rows("items", COLUMNS, [*map(_row, lines)]).show(
        usage=asdict(usage),
        region=charged.region,
        stage_region=here,
        oldest_price=charged.oldest(),
        sums=sums(lines),
        emails=usage.emails,
    )
    _say_sums(usage, lines)
    note_unknown_prices(charged, here)
    note(
        f"Prices of {charged.region}, excluding free tiers except dashboards. The oldest price "
        f"dates from {charged.oldest()}."
    )


def digests_of(settings: Stage) -> Sending:
    """Return how a stage sends digests in a full slot."""
    return digests_at(settings.digest_rate, settings.sizes["generate"])


def quiet_share(hours: str) -> float:
    """Return the share of the day that is in the quiet hours of a stage, a text or empty."""
    quiet = QuietHours.of(hours) if hours else None
    if quiet is None:
        return 0
    begin, end = (datetime.combine(date.min, each) for each in (quiet.begin, quiet.end))
    return (end - begin) % _DAY / _DAY


def _requests(text: str) -> tuple[str, float]:
    """Return the route and the number of requests in the value of an option."""
    route, _, number = text.partition("=")
    try:
        requests = float(number)
    except ValueError:
        requests = -1.0
    if route not in ROUTES or not 0 <= requests < math.inf:
        raise NotPossible(
            f"--requests is {text!r}. Specify ROUTE=NUMBER, where ROUTE is one of "
            f"{', '.join(ROUTES)}."
        )
    return route, requests


def _events_out(types: Sequence[str], *, reports: int) -> int:
    """Return the number of events out of an email that is sent and delivered.

    `reports` is the number of delivery events per email.
    """
    return ("email.sent" in types) + (reports > 1 and "email.delivered" in types)


def _changes_out(types: Sequence[str], *, reports: int) -> int:
    """Return the number of changes of such an email that the outbox function gets."""
    of_runs = {"email.sent", "email.skipped", "email.failed"}
    others = {each for each in types if each.startswith("email.")} - of_runs
    return (not of_runs.isdisjoint(types)) + (reports if others else 0)


def sums(lines: Sequence[Line]) -> dict[str, float]:
    """Return four costs in dollars: SES, variable items, fixed items, and the total."""
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
