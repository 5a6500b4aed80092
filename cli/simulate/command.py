"""`gazette simulate`: a day of a stage, before it comes."""

import json
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from gazette.bootstrap.parts.clock import now

from cli.cost.prices import OURS, read_prices
from cli.shared.answers import answer, give, grid
from cli.shared.console import NotPossible, say, wants_json
from cli.shared.deployed import StageName
from cli.simulate.answer import (
    ceiling_rows,
    document,
    figures,
    last_line,
    queue_rows,
    sentences,
)
from cli.simulate.engine.service import ServicePlan
from cli.simulate.forecast import simulate as forecast
from cli.simulate.inputs import WORLD, Account, Question, Traffic
from cli.simulate.outcome import outcome
from cli.simulate.page import page
from cli.simulate.stage import installation_of, usage_of
from cli.statistics.files import check_writable, write

_MOST_DAYS = 14
_MOST_EVENTS = 10_000
_MOST_A_SECOND = 1_000_000
_A_DAY = 86_400
_YEARS = range(2000, 2101)


def simulate(
    readers: Annotated[int, typer.Option(min=1, help="Readers with a daily digest.")],
    events: Annotated[
        float,
        typer.Option(
            min=0, max=_MOST_EVENTS, help="Events that each reader hears of in a day, on average."
        ),
    ] = 3,
    immediate: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of events that go out at once, as one email each."),
    ] = 0,
    hour: Annotated[int, typer.Option(min=0, max=23, help="The hour of the digest.")] = 8,
    on_the_hour: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Share of readers who chose the first minute, not just the hour."
        ),
    ] = 0,
    zone: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ZONE=PARTS",
            help="Where readers live, such as Europe/Berlin=3; give it once for each zone.",
            show_default="the world",
        ),
    ] = None,
    quota: Annotated[
        float,
        typer.Option(
            min=0.01, max=_MOST_A_SECOND, help="Emails a second that SES lets the account send."
        ),
    ] = 14,
    daily_quota: Annotated[
        int | None,
        typer.Option(min=1, help="Emails that SES lets it send in 24 hours.", show_default="any"),
    ] = None,
    instead: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SETTING=VALUE",
            help="Another value of a setting of the stage, such as emails_per_second=450.",
        ),
    ] = None,
    service: Annotated[
        float,
        typer.Option(
            min=0,
            max=_MOST_A_SECOND,
            help="Requests a second of one instance of a service that each digest asks once; "
            "0: none.",
        ),
    ] = 0,
    service_least: Annotated[int, typer.Option(min=1, help="Its fewest instances.")] = 2,
    service_most: Annotated[int, typer.Option(min=1, help="Its most instances.")] = 100,
    service_boots: Annotated[
        float, typer.Option(min=0, max=_A_DAY, help="Seconds until a new instance answers.")
    ] = 120,
    days: Annotated[int, typer.Option(min=1, max=_MOST_DAYS, help="Days to simulate.")] = 1,
    begin: Annotated[
        str, typer.Option(metavar="DATE", help="The first day, in UTC.", show_default="today")
    ] = "",
    seed: Annotated[int, typer.Option(help="Another seed, other random numbers.")] = 1,
    plan: Annotated[
        str, typer.Option(help="Price plan of SES: none, essentials, pro or enterprise.")
    ] = "none",
    prices: Annotated[
        Path, typer.Option(help="The file of prices.", show_default="cli/cost/prices.json")
    ] = OURS,
    stage: StageName = "prod",
    to_html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write a page with plots.")
    ] = None,
) -> None:
    """Simulate a day: does everyone get their digest in time, what does it cost, what breaks first?

    The calendar, the stagger, the rate limiter and the retries are those of Gazette itself; the
    settings are those of the stage in cdk.json. What it assumes is in docs/forecast.md.
    """
    began = time.monotonic()
    check_writable("--html", to_html)
    charged = read_prices(prices)
    if plan not in charged.plans:
        raise NotPossible(f"There is no --plan {plan!r}: {', '.join(charged.plans)}.")
    if service and service_least > service_most:
        raise NotPossible(
            f"--service-least {service_least} is more than --service-most {service_most}: "
            "lower the one or raise the other."
        )
    settings = settings_in(instead or [])
    question = Question(
        traffic=Traffic(
            readers=readers,
            events=events,
            immediate=immediate,
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
    found = forecast(question)
    usage = usage_of(stage, settings, plan=plan)
    told = outcome(found, usage, charged, wall_s=time.monotonic() - began)
    give(document(told))
    if not wants_json():
        for sentence in sentences(told):
            say(sentence)
        for rows in (figures(told), ceiling_rows(told), queue_rows(told)):
            answer(
                {},
                lines=rows if isinstance(rows, list) else rows.lines,
                picture=lambda rows=rows: grid(rows) if isinstance(rows, list) else rows.table(),  # type: ignore[misc]
            )
    if to_html:
        write("--html", to_html, page(told, made_at=now()))
    say(last_line(told))


def zones_in(given: Sequence[str]) -> Mapping[str, float]:
    """Parts of the readers by zone. Raises NotPossible."""
    from zoneinfo import available_timezones

    known, found = available_timezones(), {}
    for each in given:
        name, is_there, parts = each.partition("=")
        if name not in known:
            raise NotPossible(
                f"--zone {each!r}: there is no time zone {name!r}. Write one such as "
                "Europe/Berlin=3."
            )
        if name in found:
            raise NotPossible(f"--zone {each!r}: {name} is there twice. Name each zone once.")
        try:
            found[name] = float(parts) if is_there else 1.0
        except ValueError as err:
            raise NotPossible(
                f"--zone {each!r}: {parts!r} is no number. Write how many parts of the readers "
                f"live there, such as {name}=3."
            ) from err
        if not 0 < found[name] < float("inf"):
            raise NotPossible(f"--zone {each!r}: the parts must be more than 0.")
    return found


def settings_in(given: Sequence[str]) -> Mapping[str, object]:
    """Settings of a stage, their values as JSON or as text. Raises NotPossible."""
    found: dict[str, object] = {}
    for each in given:
        name, is_there, value = each.partition("=")
        if not is_there:
            raise NotPossible(
                f"--set {each!r} has no value. Write SETTING=VALUE, such as spread=300; "
                "docs/configuration.md lists the settings."
            )
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _day(given: str) -> date:
    if not given:
        return now().date()
    try:
        day = date.fromisoformat(given)
    except ValueError as err:
        raise NotPossible(f"--begin {given!r} is no date such as 2026-11-24.") from err
    if day.year not in _YEARS:
        raise NotPossible(f"--begin {given} is in no year from {_YEARS[0]} to {_YEARS[-1]}.")
    return day
