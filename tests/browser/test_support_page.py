"""The support page in Chromium, on the real functions with moto, by keyboard."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from gazette.adapters.aws.dead_letters import queues
from gazette.adapters.aws.queues import encode_run_key
from gazette.adapters.console.story import VIEW
from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoRateLimiter
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.identity import run_id
from gazette.domain.model import RunKey
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessibility import inspected, problems
from tests.browser.console import Console, opened
from tests.browser.screenshots import explain, plan
from tests.browser.support_story import stage_on_friday
from tests.contract.outside.test_stage_metrics import put as put_metric
from tests.functions.cli.test_dead_letters import Sqs
from tests.functions.conftest import Cloud, Context, account
from tests.functions.messages import envelope, event
from tests.functions.supporting import a_message, stage_queues
from tests.unit.console.pages import ARN, HOSTILE

SLOT = "2026-11-22T06:10Z"


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, templates_on_path: None) -> Iterator[Cloud]:
    """An account on moto."""
    monkeypatch.setattr(Context, "invoked_function_arn", ARN)
    monkeypatch.setattr(queues, "POLL", 0)
    with account(monkeypatch) as made:
        yield made


@pytest.fixture
def sqs(cloud: Cloud) -> Sqs:
    return stage_queues(cloud)


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    with inspected(browser) as page:
        yield page


def verdict(console: Console) -> str:
    return console.page.locator("#widget h2").first.inner_text()


def test_refused_confirmation_moves_nothing(tab: Page, cloud: Cloud, sqs: Sqs) -> None:
    sqs.put("ingest-dead", envelope("event.created", event(1)))
    console = opened(tab, cloud)
    assert verdict(console) == "1 queue needs attention"
    console.press("Redrive all queues…")
    assert sqs.bodies("ingest") == []
    console.refuses = True
    console.press("Redrive now")
    assert console.confirmations == [
        "Move 1 message? 1 message is processed again. No email is sent twice."
    ]
    assert sqs.bodies("ingest") == []
    console.refuses = False
    console.press("Redrive now")
    expect(tab.get_by_role("status")).to_have_text("1 of 1 moved.")
    assert len(sqs.bodies("ingest")) == 1


def test_refresh_resize_and_time_range_after_a_redrive_move_nothing(
    tab: Page, cloud: Cloud, sqs: Sqs
) -> None:
    sqs.put("ingest-dead", envelope("event.created", event(1)))
    console = opened(tab, cloud)
    console.press("Redrive all queues…")
    console.press("Redrive now")
    sqs.put("ingest-dead", envelope("event.created", event(2)))
    for _ in ("refresh", "resize", "time range"):
        console.refresh()
        assert verdict(console) == "1 queue needs attention"
    assert len(sqs.bodies("ingest-dead")) == 1


def test_redrive_of_one_run_and_of_a_slot(tab: Page, cloud: Cloud, sqs: Sqs) -> None:
    one, other = a_message(cloud), a_message(cloud, "bo")
    sqs.put("generate-dead", one, other)
    console = opened(tab, cloud)
    console.press("Redrive… run ann-daily-1")
    console.press("Redrive now")
    expect(tab.get_by_role("status")).to_have_text("1 moved.")
    assert sqs.bodies("generate") == [one]
    console.press("Back to the queues")
    tab.get_by_label("Slot in UTC").fill(SLOT)
    console.press("Show what a redrive would do…")
    expect(tab.locator("#widget")).to_contain_text("Nothing matches.")
    assert tab.get_by_role("button", name="Redrive now").count() == 0
    assert sqs.bodies("generate-dead") == [other]


def test_questions_are_answered_in_a_popup(tab: Page, cloud: Cloud, sqs: Sqs) -> None:
    a_message(cloud)
    console = opened(tab, cloud)
    for name, value in (("User id", "ann"), ("Event id", "e1")):
        tab.get_by_label(name).fill(value)
    tab.get_by_label("Run", exact=True).first.fill(run_id(RunKey("ann", "daily", 1)))
    for button, title in (
        ("Explain the reader", "Reader ann"),
        ("Receipt of the event", "Event e1 of ann"),
        ("Find the run", "Run ann-daily-1"),
    ):
        console.press(button)
        expect(tab.locator("#popup h2")).to_have_text(title)
        assert "@" not in tab.locator("#popup").inner_text()
        assert problems(tab) == []
        tab.get_by_role("button", name="Close").click()


def test_dead_letter_of_a_run_is_redriven_from_the_popup(tab: Page, cloud: Cloud, sqs: Sqs) -> None:
    message = a_message(cloud)
    sqs.put("generate-dead", message)
    console = opened(tab, cloud)
    tab.get_by_label("User id").fill("ann")
    console.press("Explain the reader")
    expect(tab.locator("#popup")).to_contain_text("failed and is in generate-dead")
    console.press("Redrive… run ann-daily-1", within="#popup")
    assert problems(tab) == []
    console.press("Redrive now", within="#popup")
    expect(tab.locator("#popup").get_by_role("status")).to_have_text("1 moved.")
    assert sqs.bodies("generate") == [message]


def test_invalid_selection_keeps_the_form(tab: Page, cloud: Cloud, sqs: Sqs) -> None:
    sqs.put("generate-dead", message := a_message(cloud))
    console = opened(tab, cloud)
    tab.get_by_label("Slot in UTC").fill("2026-11-22T06:13Z")
    console.press("Show what a redrive would do…")
    expect(tab.get_by_role("alert")).to_contain_text("2026-11-22T06:10Z or 2026-11-22T06:20Z")
    assert tab.get_by_label("Slot in UTC").input_value() == "2026-11-22T06:13Z"
    assert problems(tab) == []
    tab.get_by_label("Slot in UTC").fill("")
    tab.get_by_label("Run", exact=True).last.fill("ann-daily-1")
    console.press("Show what a redrive would do…")
    console.press("Redrive now")
    expect(tab.get_by_role("status")).to_have_text("1 moved.")
    assert sqs.bodies("generate") == [message]


@pytest.mark.parametrize(("width", "zoom"), [(480, 1), (960, 2), (320, 1)])
def test_texts_of_buttons_stay_on_one_line(
    tab: Page, cloud: Cloud, sqs: Sqs, width: int, zoom: int
) -> None:
    sqs.put("generate-dead", a_message(cloud))
    tab.set_viewport_size({"width": width, "height": 800})
    console = opened(tab, cloud)
    tab.evaluate("zoom => { document.body.style.zoom = zoom }", zoom)
    check_buttons(tab, zoom)
    console.press("Redrive all queues…")
    check_buttons(tab, zoom)


def check_buttons(tab: Page, zoom: int) -> None:
    """Check that each button has one line of text, and that the page does not scroll sideways."""
    boxes = [each.bounding_box() for each in tab.locator("#widget button").all()]
    assert boxes
    assert all(box and box["height"] < 40 * zoom for box in boxes)
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert tab.evaluate(overflow) <= 0


def test_hostile_content_stays_text(tab: Page, cloud: Cloud, sqs: Sqs) -> None:
    attributes = {"reason": {"DataType": "String", "StringValue": HOSTILE}}
    sqs.client.send_message(
        QueueUrl=sqs.urls["quarantine"], MessageBody="x", MessageAttributes=attributes
    )
    key = RunKey("<script>alert(1)</script>", "daily", 1)
    sqs.put("generate-dead", encode_run_key(key), "<script>alert(1)</script>")
    console = opened(tab, cloud)
    text = tab.locator("#widget").inner_text()
    assert text.count("<script>alert(1)</script>") >= 2
    assert run_id(key) in text
    assert tab.locator("#widget script, #widget img").count() == 0
    assert console.confirmations == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_are_accessible(tab: Page, cloud: Cloud, sqs: Sqs, theme: str) -> None:
    sqs.put("generate-dead", a_message(cloud))
    sqs.put("ingest-dead", envelope("event.created", event(1)))
    sqs.put("quarantine", envelope("event.created", {}))
    console = opened(tab, cloud, theme=theme)
    assert problems(tab) == []
    console.press("Redrive all queues…")
    assert problems(tab) == []
    console.press("Redrive now")
    assert problems(tab) == []


def test_pictures_of_the_docs_show_what_their_texts_say(tab: Page) -> None:
    """The alternative texts are in docs/support.md."""
    with stage_on_friday() as (cloud, clock):
        console = opened(tab, cloud)
        assert verdict(console) == "2 queues need attention"
        clock.pass_time(minutes=3)
        plan(console)
        expect(tab.locator("#widget")).to_contain_text(
            "5 Safe: sent once, if the cause is fixed; 3 Sent already; 1 Unknown outcome; "
            "1 No email"
        )
        console.refresh()
        explain(console)
        expect(tab.locator("#popup")).to_contain_text("is due and has not been sent yet")
        expect(tab.locator("#popup")).to_contain_text("failed and is in generate-dead")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("is_calm", [True, False])
def test_story_is_accessible_and_leads_to_the_queues(
    tab: Page, cloud: Cloud, sqs: Sqs, *, theme: str, is_calm: bool
) -> None:
    if not is_calm:
        sqs.put("ingest-dead", "<script>alert(1)</script>")
    for name, value in (("ticks_done", 1), ("oldest_due_age", 0)):
        put_metric(name, value, datetime.now(UTC) - timedelta(minutes=1))
    console = opened(tab, cloud, theme=theme, view=VIEW)
    assert verdict(console) == (
        "Everything is on time." if is_calm else "1 problem: dead letters: 1 in ingest-dead."
    )
    assert tab.locator("#widget h3").all_inner_texts() == ["On time", "Stuck", "Readers"]
    assert problems(tab) == []
    console.press("Show the queues and ask questions")
    assert verdict(console) == ("All queues are empty" if is_calm else "1 queue needs attention")
    console.refresh()
    assert tab.locator("#widget h3").first.inner_text() == "On time"
    assert problems(tab) == []


def test_story_shows_hostile_content_as_text(tab: Page, cloud: Cloud, sqs: Sqs) -> None:
    limiter = DynamoRateLimiter("pace", PacePlan(rate=1), name=ROWS.digest)
    limiter.open_by_hand(f"{HOSTILE} ann@example.com", datetime.now(UTC))
    opened(tab, cloud, view=VIEW)
    text = tab.locator("#widget").inner_text()
    assert "<script>alert(1)</script>" in text
    assert "@" not in text
    assert tab.locator("#widget script, #widget img").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_story_is_readable_in_a_narrow_widget(
    tab: Page, cloud: Cloud, sqs: Sqs, theme: str
) -> None:
    tab.set_viewport_size({"width": 320, "height": 800})
    opened(tab, cloud, theme=theme, view=VIEW)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 320
    assert problems(tab) == []
