"""`gazette simulate`: simulate a day of a stage."""

import json
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from gazette.bootstrap.parts.clock import now

from gazette_cli.cost.prices import OURS, read_prices
from gazette_cli.cost.regions import note_unknown_prices, region_of
from gazette_cli.shared.answers import answer, give, grid
from gazette_cli.shared.console import NotPossible, say, wants_json
from gazette_cli.shared.deployed import StageName
from gazette_cli.shared.stages import stage_of
from gazette_cli.simulate.answer import (
    ceiling_rows,
    document,
    figures,
    last_line,
    queue_rows,
    sentences,
)
from gazette_cli.simulate.engine.service import ServicePlan
from gazette_cli.simulate.forecast import simulate as forecast
from gazette_cli.simulate.inputs import WORLD, Account, Question, Traffic
from gazette_cli.simulate.outcome import outcome
from gazette_cli.simulate.page import page
from gazette_cli.simulate.stage import installation_of, usage_of
from gazette_cli.statistics.files import check_writable, write

_MOST_DAYS = 14
_MOST_EVENTS = 10_000
_MOST_A_SECOND = 1_000_000
_A_DAY = 86_400
_YEARS = range(2000, 2101)


def simulate(
    readers: Annotated[int, typer.Option(min=1, help="The number of readers with a daily digest.")],
    events: Annotated[
        float,
        typer.Option(
            min=0, max=_MOST_EVENTS, help="The average number of events per reader per day."
        ),
    ] = 3,
    immediate: Annotated[
        float,
        typer.Option(min=0, max=1, help="The share of events that are sent as immediate email."),
    ] = 0,
    score: Annotated[
        float,
        typer.Option(
            "--event-score",
            min=0.01,
            max=10_000,
            help=(
                "The average score of an event, for a stage with digest_worth. 3 is a new event of "
                "a category without a weight."
            ),
        ),
    ] = 3,
    burst: Annotated[
        int,
        typer.Option(
            min=1,
            max=1000,
            help="The number of immediate events about one entity that a reader gets within an "
            "hour. Such events share emails.",
        ),
    ] = 1,
    seen: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help=(
                "The share of events that readers see in your product before their email, if your "
                "services publish entity.seen."
            ),
        ),
    ] = 0,
    hour: Annotated[
        int, typer.Option(min=0, max=23, help="The hour of the digest in the reader's time zone.")
    ] = 8,
    on_the_hour: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help=(
                "The share of readers who chose minute 0 of the hour. All other readers chose "
                "only the hour."
            ),
        ),
    ] = 0,
    zone: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ZONE=PARTS",
            help=(
                "A time zone and its share of the readers, such as Europe/Berlin=3. Repeat the "
                "option for each zone."
            ),
            show_default="the world",
        ),
    ] = None,
    quota: Annotated[
        float,
        typer.Option(
            min=0.01,
            max=_MOST_A_SECOND,
            help="The SES sending rate quota of the account, in emails per second.",
        ),
    ] = 14,
    daily_quota: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The daily SES quota of the account, in emails per 24 hours.",
            show_default="no limit",
        ),
    ] = None,
    instead: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SETTING=VALUE",
            help=(
                "A setting to override, such as emails_per_second=450. Repeat the option for "
                "more settings."
            ),
        ),
    ] = None,
    service: Annotated[
        float,
        typer.Option(
            min=0,
            max=_MOST_A_SECOND,
            help=(
                "The number of requests per second that one instance of your recommendation "
                "service can answer. Each digest causes one request. Specify 0 to simulate no "
                "service."
            ),
        ),
    ] = 0,
    service_least: Annotated[
        int, typer.Option(min=1, help="The minimum number of instances of the service.")
    ] = 2,
    service_most: Annotated[
        int, typer.Option(min=1, help="The maximum number of instances of the service.")
    ] = 100,
    service_boots: Annotated[
        float,
        typer.Option(
            min=0, max=_A_DAY, help="The time that a new instance needs to start, in seconds."
        ),
    ] = 120,
    days: Annotated[
        int, typer.Option(min=1, max=_MOST_DAYS, help="The number of days to simulate.")
    ] = 1,
    begin: Annotated[
        str, typer.Option(metavar="DATE", help="The first day, in UTC.", show_default="today")
    ] = "",
    seed: Annotated[int, typer.Option(help="The seed of the random numbers.")] = 1,
    plan: Annotated[
        str, typer.Option(help="The SES price plan: none, essentials, pro or enterprise.")
    ] = "none",
    prices: Annotated[
        Path,
        typer.Option(help="The path of the price file.", show_default="the file of this package"),
    ] = OURS,
    stage: StageName = "prod",
    to_html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Also write an HTML page with plots."),
    ] = None,
) -> None:
    """Simulate a day of a stage: the delays of digests, the cost, and the limit that is reached
    first.

    The simulation runs Gazette's own code for the calendar, the stagger, the rate limiter and
    retries. docs/forecast.md lists the assumptions.
    """
    began = time.monotonic()
    check_writable("--html", to_html)
    charged = read_prices(prices)
    if plan not in charged.plans:
        raise NotPossible(
            f"--plan {plan!r} does not exist. Specify one of {', '.join(charged.plans)}."
        )
    if service and service_least > service_most:
        raise NotPossible(
            f"--service-least {service_least} is greater than --service-most {service_most}. "
            "Lower --service-least or raise --service-most."
        )
    settings = settings_in(instead or [])
    note_unknown_prices(charged, region_of(stage_of(stage, overrides=settings).region))
    question = Question(
        traffic=Traffic(
            readers=readers,
            events=events,
            immediate=immediate,
            score=score,
            burst=burst,
            seen=seen,
            hour=hour,
            on_the_hour=on_the_hour,
            zones=zones_in(zone) if zone else WORLD,
        ),
        account=Account(rate=quota, daily=daily_quota),
        installation=installation_of(stage, settings),
        begin=_day(begin),
        days=days,
        service=ServicePlan(
            each=service, least=service_least, most=service_most, boots=service_boots
        )
        if service
        else None,
        seed=seed,
    )
    simulated = forecast(question)
    usage = usage_of(stage, settings, plan=plan)
    result = outcome(simulated, usage, charged, wall_s=time.monotonic() - began)
    give(document(result))
    if not wants_json():
        for sentence in sentences(result):
            say(sentence)
        for rows in (figures(result), ceiling_rows(result), queue_rows(result)):
            answer(
                {},
                lines=rows if isinstance(rows, list) else rows.lines,
                picture=lambda rows=rows: grid(rows) if isinstance(rows, list) else rows.table(),  # type: ignore[misc]
            )
    if to_html:
        write("--html", to_html, page(result, made_at=now()))
    say(last_line(result))


def zones_in(arguments: Sequence[str]) -> Mapping[str, float]:
    """Parse the shares of readers by time zone. Raises NotPossible."""
    from zoneinfo import available_timezones

    known, zones = available_timezones(), {}
    for each in arguments:
        name, separator, parts = each.partition("=")
        if name not in known:
            raise NotPossible(
                f"--zone {each!r}: time zone {name!r} does not exist. Specify a zone such as "
                "Europe/Berlin=3."
            )
        if name in zones:
            raise NotPossible(f"--zone {each!r}: {name} occurs twice. Specify each zone once.")
        try:
            zones[name] = float(parts) if separator else 1.0
        except ValueError as err:
            raise NotPossible(
                f"--zone {each!r}: {parts!r} is not a number. Specify the share of the readers in "
                f"the zone, such as {name}=3."
            ) from err
        if not 0 < zones[name] < float("inf"):
            raise NotPossible(f"--zone {each!r}: the share must be greater than 0.")
    return zones


def settings_in(arguments: Sequence[str]) -> Mapping[str, object]:
    """Parse settings of a stage. Values are JSON or text. Raises NotPossible."""
    settings: dict[str, object] = {}
    for each in arguments:
        name, separator, value = each.partition("=")
        if not separator:
            raise NotPossible(
                f"--set {each!r} has no value. Use the form SETTING=VALUE, such as spread=300. "
                "See docs/configuration.md for the settings."
            )
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


def _day(given: str) -> date:
    if not given:
        return now().date()
    try:
        day = date.fromisoformat(given)
    except ValueError as err:
        raise NotPossible(
            f"--begin {given!r} is not a date. Specify a date such as 2026-11-24."
        ) from err
    if day.year not in _YEARS:
        raise NotPossible(f"--begin {given} must have a year from {_YEARS[0]} to {_YEARS[-1]}.")
    return day
