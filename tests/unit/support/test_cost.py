"""`gazette cost`: the bill is the sum of its items, and says where its prices are from."""

import json
import re
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

import pytest
from gazette.domain.console.story import METRICS as STORY
from gazette.domain.dead_letters import KNOWN
from typer.testing import CliRunner, Result

from gazette_cdk.concurrency import sending
from gazette_cli.cost.assumptions import LOOK_CALLS, LOOK_METRICS, MONTH
from gazette_cli.cost.bill import bill
from gazette_cli.cost.command import COLUMNS, _changes_out, _events_out, digests_of, sums
from gazette_cli.cost.metrics import METRICS, metric_months
from gazette_cli.cost.page import ALONE, MILLION, PAGE, README, REST, dollars, page, readme
from gazette_cli.cost.prices import OURS, Price, read_prices
from gazette_cli.cost.usage import ALONE_SENDING, Usage, chunks, digests_at
from gazette_cli.main import app
from gazette_cli.shared.stages import stage_of

PRICES = read_prices()


def run(*options: str) -> Result:
    return CliRunner().invoke(app, ["cost", *options])


def costs(usage: Usage, service: str, what: str = "") -> float:
    return sum(
        line.dollars
        for line in bill(usage, PRICES)
        if line.item.service == service and line.item.what.startswith(what)
    )


def test_cost_page_matches_the_generated_text() -> None:
    assert PAGE.read_text() == page(PAGE.read_text()), "run `make docs`"


def test_readme_has_the_generated_cost_sums() -> None:
    assert README.read_text() == readme(README.read_text()), "run `make docs`"
    assert f"${dollars(MILLION):.0f} in AWS, excluding SES, if" in README.read_text()


@pytest.mark.parametrize("name", PRICES.of)
def test_every_price_has_a_date_and_a_source(name: str) -> None:
    price = PRICES.of[name]
    assert date(2024, 1, 1) < date.fromisoformat(price.as_of) < date(2027, 1, 1)
    assert "https://" in price.source


def test_dynamodb_prices_are_per_unit_and_gigabyte() -> None:
    """The writes of a million daily digests of ten events: 34 units each, two of them shared."""
    alone = replace(MILLION, together=1, reports_together=1, digests_sent=ALONE_SENDING)
    assert costs(alone, "DynamoDB", "writes: ") == pytest.approx(34 * 0.625, abs=0.2)
    assert costs(MILLION, "DynamoDB", "writes: ") == pytest.approx(32.3 * 0.625, abs=0.1)
    assert costs(MILLION, "DynamoDB", "storage: events") == pytest.approx(3.56, abs=0.01)


def test_million_events_out_cost_about_a_dollar() -> None:
    """Half a million emails, each sent and delivered; and a stage without them pays nothing."""
    half = replace(MILLION, readers=MILLION.readers / 2)
    publishing = replace(half, events_out=2, changes_out=3)
    assert publishing.published == pytest.approx(1_000_000)
    more = (dollars(publishing) - dollars(half)) / 2  # of a million emails, two events each
    assert costs(publishing, "EventBridge", "events out") == pytest.approx(1.00)
    assert more == pytest.approx(1.08, abs=0.01)
    assert costs(half, "EventBridge", "events out") == 0
    many = replace(publishing, together=1)
    assert costs(many, "Lambda", "requests of events out") == pytest.approx(0.30)


@pytest.mark.parametrize(
    ("types", "reports", "events", "changes"),
    [
        ([], 2, 0, 0),
        (["subscriber.left", "address"], 2, 0, 0),
        (["email.sent"], 2, 1, 1),
        (["email.failed"], 2, 0, 1),
        (["email.bounced"], 2, 0, 2),
        (["email.sent", "email.delivered"], 2, 2, 3),
        (["email.sent", "email.delivered"], 1, 1, 2),
        (["email.sent", "email.delivered"], 0, 1, 1),
    ],
)
def test_events_out_per_email_follow_the_listed_types(
    types: list[str], reports: int, events: int, changes: int
) -> None:
    assert _events_out(types, reports=reports) == events
    assert _changes_out(types, reports=reports) == changes


def test_price_is_charged_per_number_of_units() -> None:
    assert Price(0.4, 1_000_000, "request", "2026-01-01", "").of(2_500_000) == 1.0


def test_ses_plans_have_tiered_prices() -> None:
    essentials = PRICES.plans["essentials"]
    assert PRICES.plans["none"].of(1e6) == pytest.approx(100)
    assert essentials.of(1e6) == pytest.approx(160)
    assert essentials.of(20e6) == pytest.approx(10e6 * 0.00016 + 10e6 * 0.00014)
    assert essentials.of(200e6) == pytest.approx(1600 + 90e6 * 0.00014 + 100e6 * 0.00011)


def test_monthly_fee_of_a_ses_plan_is_charged_without_email() -> None:
    pro = bill(replace(MILLION, plan="pro"), PRICES)
    assert sum(line.dollars for line in pro if line.item.what == "plan fee") == pytest.approx(
        105, rel=0.02
    )


def test_variable_costs_are_proportional_to_readers() -> None:
    one, two = (sums(bill(replace(MILLION, readers=n), PRICES)) for n in (1000, 2000))
    assert two["grows"] == pytest.approx(2 * one["grows"])
    assert one["fixed"] <= two["fixed"] <= one["fixed"] + 25 * 0.30, "at most the rare metrics"
    assert two["ses"] == pytest.approx(2 * one["ses"])
    assert one["total"] == pytest.approx(one["grows"] + one["fixed"] + one["ses"])


def test_visits_and_mutes_have_their_own_items() -> None:
    """Each of 100 readers makes three visits and two mutes, and sees half of their events."""
    usage = replace(MILLION, readers=100, visits=3 * MONTH / 30, mutes=2 * MONTH / 30, seen=0.5)
    writes = {
        line.item.what.removeprefix("writes: "): line.item.quantity
        for line in bill(usage, PRICES)
        if line.item.what.startswith("writes: ")
    }
    for what, units in {
        "visits": 300,
        "first visits in 30 days": 100,
        "activity by visits": 300,
        "seen events": 3 * 15_000,
        "digests with seen events": 3_000,
        "mutes": 200,
    }.items():
        assert writes[what] == pytest.approx(units), what
    assert costs(usage, "EventBridge", "visits and mutes") == pytest.approx(500 * 1e-6)
    assert costs(usage, "DynamoDB", "storage: visits") > 0
    named = {line.item.what for line in bill(MILLION, PRICES)}
    assert not [each for each in named if "visit" in each or "seen" in each or "mute" in each]


def added(usage: Usage, before: Usage) -> dict[str, float]:
    """Return the quantity of each item that only the bill of `usage` has."""
    known = {(line.item.service, line.item.what) for line in bill(before, PRICES)}
    return {
        f"{line.item.service}, {line.item.what}": line.item.quantity
        for line in bill(usage, PRICES)
        if (line.item.service, line.item.what) not in known
    }


AT_ONCE = replace(MILLION, immediate=0.1)
"""A million immediate emails, in addition to the digests."""


def test_limit_of_immediate_emails_adds_a_write_unit_and_four_calls_for_each() -> None:
    limited = replace(AT_ONCE, limited=True)
    assert added(limited, AT_ONCE) == pytest.approx(
        {
            "DynamoDB, writes: limit of immediate email": 1e6,
            "DynamoDB, reads: limit of immediate email": 3e6,
            "Lambda, ingest, limited event": 4 * 0.005 / 2 * 1e6,
        }
    )
    assert dollars(limited) > dollars(AT_ONCE)
    assert added(replace(MILLION, limited=True), MILLION) == {}


def test_email_that_waits_in_quiet_hours_costs_six_write_units_and_a_message() -> None:
    quiet = replace(AT_ONCE, quiet_share=0.25)
    assert added(quiet, AT_ONCE) == pytest.approx(
        {
            "DynamoDB, writes: waits for quiet hours": 6 / 4 * 1e6,
            "DynamoDB, reads: waits for quiet hours": 3.5 / 4 * 1e6,
            "SQS, generate, quiet hours": 3 / 4 * 1e6,
            "Lambda, generate, wait for quiet hours": 4 * 0.005 / 2 / 4 * 1e6,  # half a GB
            "CloudWatch, metrics: requeued emails": pytest.approx(2, abs=0.1),
        }
    )
    for service, what in (("Lambda", "requests"), ("CloudWatch", "logs")):
        assert costs(quiet, service, what) > costs(AT_ONCE, service, what)
    assert added(replace(MILLION, quiet_share=0.25), MILLION) == {}


@pytest.mark.parametrize(
    ("hours", "share"), [("", 0), ("22:00-07:00", 9 / 24), ("09:30-12:00", 2.5 / 24)]
)
def test_cost_command_uses_quiet_hours_and_the_limit_of_the_stage(
    monkeypatch: pytest.MonkeyPatch, hours: str, share: float
) -> None:
    limit = {"per_hour": 6, "per_day": 30} if hours else {}
    stage = replace(stage_of("prod"), quiet_hours=hours, immediate_limit=limit)
    monkeypatch.setattr("gazette_cli.cost.command.stage_of", lambda _: stage)
    found = json.loads(run("--readers", "1000", "--immediate", "0.1", "--json").stdout)
    assert found["usage"]["quiet_share"] == pytest.approx(share)
    assert found["usage"]["limited"] is bool(limit)
    named = [each["what"] for each in found["items"]]
    assert bool(share) == any("quiet hours" in each for each in named)
    assert bool(limit) == any("limit" in each for each in named)


def metrics(usage: Usage) -> float:
    return sum(months for _, months in metric_months(usage)) * MONTH / usage.days


def test_stage_at_rest_costs_at_most_14_dollars_a_month() -> None:
    parts = sums(bill(REST, PRICES))
    assert parts["total"] <= 14
    assert parts["grows"] < 0.01
    assert costs(REST, "CloudWatch", "dashboard") == 0


@pytest.mark.parametrize(("others", "paid"), [(0, 0), (1, 0), (2, 1), (3, 2), (9, 2)])
def test_dashboards_beyond_the_three_free_ones_cost_three_dollars(others: int, paid: int) -> None:
    month = replace(REST, days=MONTH, other_dashboards=others)
    assert costs(month, "CloudWatch", "dashboards") == pytest.approx(3 * paid)
    assert costs(replace(month, dashboard=False), "CloudWatch", "dashboards") == 0


def test_looks_at_the_dashboards_are_on_the_bill() -> None:
    assert len(STORY) == LOOK_METRICS
    assert 2 * (len(KNOWN) + 1) == LOOK_CALLS, "two for each dead-letter queue and the quarantine"
    looks = replace(REST, days=MONTH, looks=1000)
    number = 1000 * MONTH
    read = number * LOOK_METRICS * 0.01 / 1000
    assert costs(looks, "CloudWatch", "support page") == pytest.approx(read)
    assert costs(looks, "SQS", "support page") == pytest.approx(number * 28 * 0.40 / 1e6)
    assert costs(looks, "Lambda", "support page") == pytest.approx(number * 0.5 * 0.0000133334)
    without = replace(REST, dashboard=False)
    assert [each for each in bill(without, PRICES) if "support" in each.item.what] == []
    document = json.loads(
        run("--readers", "1", "--looks", "7", "--other-dashboards", "2", "--json").stdout
    )
    assert (document["usage"]["looks"], document["usage"]["other_dashboards"]) == (7, 2)
    (line,) = (each for each in document["items"] if each["what"].startswith("dashboards"))
    assert (line["what"], line["dollars"] > 2.9) == ("dashboards: 1 of 2 are free", True)


def test_stage_at_rest_has_the_price_of_the_readme() -> None:
    """The figure is rounded to a dollar."""
    (figure,) = re.findall(r"An idle stage costs \$(\d+) a month", README.read_text())
    assert float(figure) == pytest.approx(sums(bill(REST, PRICES))["total"], abs=0.5)


def test_stage_at_rest_pays_only_for_the_metrics_of_the_clock() -> None:
    assert metrics(REST) == len(METRICS["ticks and sweeps"])


def test_metric_is_charged_for_the_hours_in_which_it_is_written() -> None:
    """One reader with a digest a day: its metrics are written in one hour of 24."""
    daily = replace(REST, digests=1, digests_sent=replace(REST.digests_sent, requeues=0))
    of_email = (len(METRICS["digests"]) + len(METRICS["emails"])) / 24
    reports = 2 * len(METRICS["delivery events"]) / 24
    rare = 0.01 * len(METRICS["rare outcomes"]) / 24
    assert metrics(daily) - metrics(REST) == pytest.approx(of_email + reports + rare)


def test_busy_stage_pays_for_all_metrics_of_its_use_once() -> None:
    busy = replace(REST, readers=1_000_000, events=10, digests=1, immediate=0.1, signs=4)
    busy = replace(busy, visits=4, seen=0.1)
    others = ("fetches", "requeued emails")  # at 14 emails per second, none is requeued
    used = sum(map(len, METRICS.values())) - sum(len(METRICS[each]) for each in others)
    assert metrics(busy) == pytest.approx(used)


def test_event_lists_reduce_bus_cost_a_hundredfold() -> None:
    assert costs(ALONE, "EventBridge", "events") == pytest.approx(10)
    assert costs(MILLION, "EventBridge", "events") == pytest.approx(0.1)


def test_event_list_above_64_kb_is_billed_twice() -> None:
    assert (chunks(65_536), chunks(65_537)) == (1, 2)
    large = replace(MILLION, size=700)
    assert costs(large, "EventBridge", "events") == pytest.approx(0.2)


def test_disabled_settings_remove_their_items_from_the_bill() -> None:
    deaf = replace(MILLION, report_deliveries=False)
    assert costs(MILLION, "DynamoDB", "writes: other delivery events") == pytest.approx(0.625)
    assert costs(deaf, "DynamoDB", "writes: other delivery events") == 0
    assert costs(deaf, "SQS", "feedback") == costs(MILLION, "SQS", "feedback") / 2
    assert costs(replace(MILLION, restorable=()), "DynamoDB", "recovery: runs") == 0
    by_smtp = replace(MILLION, by_ses=False)
    assert costs(by_smtp, "SES") == costs(by_smtp, "SQS", "feedback") == 0


def test_higher_rate_reduces_lambda_cost_per_email() -> None:
    """Of GB-seconds, requests and permits, whatever ingest and feedback have in theirs."""
    slow, fast = (
        replace(MILLION, digests_sent=digests_at(rate, sending(rate))) for rate in (1, 200)
    )
    assert costs(slow, "Lambda", "generate, emails") > 6 * costs(fast, "Lambda", "generate, emails")
    assert costs(slow, "SQS", "generate") > 4 * costs(fast, "SQS", "generate")
    assert costs(slow, "DynamoDB", "writes: digests") > costs(fast, "DynamoDB", "writes: digests")
    assert costs(slow, "Lambda", "ingest") == costs(fast, "Lambda", "ingest")


def test_smtp_invocation_lasts_as_long_as_the_exchange() -> None:
    smtp = replace(MILLION, by_ses=False, digests_sent=digests_at(10, sending(10, by_smtp=True)))
    emails = (costs(each, "Lambda", "generate, emails") for each in (smtp, MILLION))
    assert next(emails) > 5 * next(emails)


def test_immediate_emails_are_not_billed_as_digests() -> None:
    usage = replace(MILLION, immediate=0.1)
    assert usage.emails == pytest.approx(1e6 + 1e6)
    assert usage.in_a_digest == pytest.approx(9)
    written = costs(usage, "DynamoDB", "writes: events for immediate email")
    assert written == pytest.approx(4 * 0.625)


def test_bill_without_digests_has_no_digest_items() -> None:
    lines = bill(replace(MILLION, digests=0, immediate=1), PRICES)
    assert not [line for line in lines if line.item.what.endswith(": digests")]


def test_cost_command_prints_each_item_and_the_sums() -> None:
    result = run("--readers", "1000", "--immediate", "0.02")
    assert result.exit_code == 0, result.output
    rows = [line.split("\t") for line in result.stdout.splitlines() if "\t" in line]
    assert {len(row) for row in rows} == {len(COLUMNS) - 1}, "what is fixed is told by the service"
    assert {row[0] for row in rows} >= {
        "EventBridge",
        "SQS",
        "Lambda",
        "DynamoDB",
        "CloudWatch",
        "CloudWatch (fixed)",
        "Secrets Manager (fixed)",
        "Data transfer",
        "SES",
    }
    assert "36,000 emails; $" in result.stdout


def test_cost_command_uses_the_stages_emails_per_invocation() -> None:
    stage = stage_of("prod")
    found = json.loads(run("--readers", "1000", "--json").stdout)["usage"]
    assert found["digests_sent"] == asdict(digests_of(stage))
    assert found["digests_sent"]["together"] == stage.sizes["generate"].batch


def test_cost_json_contains_items_sum_and_assumptions() -> None:
    result = run("--readers", "1000", "--plan", "essentials", "--json")
    found = json.loads(result.stdout)
    assert found["sums"]["total"] == pytest.approx(sum(each["dollars"] for each in found["items"]))
    assert found["sums"]["ses"] == pytest.approx(30_000 * 0.00016)
    assert (found["usage"]["readers"], found["region"], found["emails"]) == (
        1000,
        "us-east-1",
        30_000,
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--plan", "gold"],
            "Plan 'gold' does not exist. Specify one of none, essentials, pro, enterprise.",
        ),
        (["--region", "eu-west-1"], "contains the prices of us-east-1, not of eu-west-1"),
        (["--prices", "gone.json"], "gone.json is not a valid price file"),
        (["--stage", "gone"], "There is no stage 'gone'"),
    ],
)
def test_invalid_cost_options_are_reported_on_a_single_line(options: list[str], words: str) -> None:
    result = run("--readers", "1000", *options)
    assert result.exit_code == 2
    assert words in result.stderr


@pytest.mark.parametrize(("setting", "configured"), [("eu-west-1", "us-east-1"), ("", "eu-west-1")])
def test_unknown_prices_of_the_stages_region_are_said(
    monkeypatch: pytest.MonkeyPatch, setting: str, configured: str
) -> None:
    stage = replace(stage_of("prod"), region=setting)
    monkeypatch.setattr("gazette_cli.cost.command.stage_of", lambda _: stage)
    monkeypatch.setenv("AWS_DEFAULT_REGION", configured)
    result = run("--readers", "1000", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert (found["region"], found["stage_region"]) == ("us-east-1", "eu-west-1")
    assert "The prices of eu-west-1, the region of the stage, are unknown." in result.stderr
    assert "with the prices of us-east-1" in result.stderr


def test_known_prices_of_the_stages_region_need_no_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    assert "unknown" not in run("--readers", "1000").stderr


def test_prices_of_another_region_are_read_from_a_file(tmp_path: Path) -> None:
    dear = json.loads(OURS.read_text()) | {"region": "eu-west-1"}
    dear["prices"]["dynamodb.writes"]["dollars"] *= 2
    path = tmp_path / "prices.json"
    path.write_text(json.dumps(dear))
    result = run("--readers", "1000", "--json", "--region", "eu-west-1", "--prices", str(path))
    ours = run("--readers", "1000", "--json")

    def writes(told: Result) -> float:
        items = json.loads(told.stdout)["items"]
        found = (each["dollars"] for each in items if each["what"].startswith("writes"))
        return float(sum(found))

    assert writes(result) == pytest.approx(2 * writes(ours))
