"""`gazette simulate`: its answer, its page, and what it says to wrong input."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from lxml.html import document_fromstring
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from gazette_cli.simulate.forecast import simulate
from gazette_cli.simulate.page import plots
from gazette_cli.simulate.published.table import ACTIVE, ONE_QUEUE, holds
from tests.unit.simulate.questions import question

_LAST = re.compile(
    r"simulate: readers=\d+ emails=\d+ in_hour=\d\.\d{4} usd=\d+\.\d\d peak_mb=\d+ wall_s=\d+"
)


def run(*options: str) -> Result:
    return CliRunner().invoke(app, ["simulate", "--readers", "500", *options])


def test_last_line_of_the_forecast_is_the_sum() -> None:
    done = run("--begin", "2026-11-24")
    assert done.exit_code == 0, done.output
    assert _LAST.fullmatch(done.stdout.splitlines()[-1])


def test_forecast_page_plots_emails_and_runs_no_scripts(tmp_path: Path) -> None:
    done = run("--service", "50", "--html", str(tmp_path / "day.html"))
    assert done.exit_code == 0, done.output
    text = (tmp_path / "day.html").read_text()
    page = document_fromstring(text)
    titles = [each.text for each in page.findall(".//figcaption")]
    assert titles == [
        "Digests due",
        "Emails sent",
        "Waiting messages",
        "Service",
    ]
    assert all(len(path.get("d")) > 100 for path in page.xpath("//svg/path"))
    axes = [[text.text for text in svg.xpath("text")[:2]] for svg in page.findall(".//svg")]
    assert axes == [
        ["digests per minute", "time of day in UTC"],
        ["emails per minute", "time of day in UTC"],
        ["messages in each queue", "time of day in UTC"],
        ["requests per second", "time of day in UTC"],
    ]
    due, sent, *_ = [svg.xpath("text[@text-anchor='end']/text()")[-3:] for svg in page.iter("svg")]
    assert due == sent  # the labels of the vertical axis
    (text,) = page.iterfind(".//strong")
    assert text.text_content().startswith(("On time: ", "Nearly on time: ", "Not on time: "))
    for figure in page.xpath("//dl/div/dd/text()"):
        assert re.fullmatch(r"\$?[\d,.:]+( s| min| h|%)?", figure), figure
    assert "<script" not in text
    assert "http:" not in text
    assert "https:" not in text


def test_forecast_without_events_succeeds() -> None:
    done = run("--events", "0")
    assert done.exit_code == 0, done.output
    first, second, *_ = done.stdout.splitlines()
    assert first == "No digest is due, because no reader has waiting events."
    assert second == "No limit is reached because there is no load."
    ceilings = json.loads(run("--events", "0", "--json").stdout)["ceilings"]
    assert {each["multiple"] for each in ceilings} == {None}


def test_plot_of_few_digests_shows_each_digest() -> None:
    found = simulate(question(5))
    digests, *_ = plots(found)
    assert (digests.title, digests.unit) == ("Digests due", "digests per minute")
    assert "digests due at most 1" in digests.says
    (due,) = digests.lines
    assert len({point.split()[1] for point in due.d[1:].split("L")}) > 1


def test_setting_can_be_tried_without_being_saved() -> None:
    first = {
        name: json.loads(run("--json", *options).stdout)["ceilings"]
        for name, options in (("as it is", ()), ("tried", ("--set", 'concurrency={"fanout": 3}')))
    }
    fanout = {
        name: next(each for each in found if each["name"] == "fan-out")["limit"]
        for name, found in first.items()
    }
    assert fanout == {"as it is": 40_000, "tried": 60_000}


def test_quiet_hours_and_limit_of_the_stage_are_in_the_forecast() -> None:
    busy = ("--immediate", "0.5", "--begin", "2026-11-24", "--json")
    settings = ("quiet_hours=22:00-07:00", 'immediate_limit={"per_hour": 6, "per_day": 30}')
    usual, quiet, limited = (
        json.loads(run(*busy, *options).stdout)
        for options in ((), *(("--set", each) for each in settings))
    )
    assert usual["write_units"]["quiet hours"] == 0 < quiet["write_units"]["quiet hours"]
    assert quiet["dollars"]["grows"] > usual["dollars"]["grows"]
    assert limited["write_units"]["events at once"] > usual["write_units"]["events at once"]
    assert limited["dollars"]["grows"] > usual["dollars"]["grows"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--zone", "Berlin=1"), "--zone 'Berlin=1': time zone 'Berlin' does not exist"),
        (("--zone", "Europe/Berlin=x"), "--zone 'Europe/Berlin=x': 'x' is not a number"),
        (("--zone", "Europe/Berlin=0"), "must be greater than 0"),
        (("--zone", "UTC=1", "--zone", "UTC=2"), "UTC occurs twice"),
        (("--set", "spread"), "--set 'spread' has no value"),
        (("--set", "spread=901"), "spread"),
        (("--set", "sprad=1"), "sprad"),
        (("--set", 'mail_provider="smtp"'), "mail_provider"),
        (("--begin", "tomorrow"), "--begin 'tomorrow' is not a date"),
        (("--begin", "9999-12-31"), "--begin 9999-12-31 must have a year from 2000 to 2100"),
        (("--events", "inf"), "--events"),
        (("--quota", "inf"), "--quota"),
        (("--service", "inf"), "--service"),
        (("--plan", "gold"), "--plan 'gold' does not exist"),
        (("--service", "5", "--service-least", "9", "--service-most", "3"), "--service-least 9"),
        (("--html", "no/such/folder/day.html"), "Create it first"),
        (("--stage", "none"), "There is no stage 'none'"),
    ],
)
def test_invalid_input_is_reported_in_a_line_naming_the_value(
    options: tuple[str, ...], says: str
) -> None:
    done = run(*options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


_RATE = 25
"""Events a second. The published case has 500; its limits are parts of the rate."""


@pytest.mark.parametrize(("part", "is_done"), [(0.97, True), (1.05, False)])
def test_queue_of_the_published_case_stays_backed_up_beyond_its_limit(
    part: float, is_done: bool
) -> None:
    """Five events for a digest: four tries, of which one finds a reader for whom there is one."""
    one_queue = replace(ONE_QUEUE, rate=_RATE)
    assert holds(one_queue, round(part * _RATE * 86_400 / 5), step=600) is is_done


def test_without_inactive_readers_the_limit_is_three_times_higher() -> None:
    assert holds(replace(ACTIVE, rate=_RATE), round(3 * _RATE * 86_400 / 5), step=600)
