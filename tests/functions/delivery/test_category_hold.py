"""Too many complaints about a category, through the real handlers: counts, and the hold."""

import io
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime

import pytest
from gazette.adapters.dynamodb.client import bind
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.feedback.statistics import DynamoCategoryStats
from gazette.adapters.dynamodb.tables import CategoryStatsRow
from gazette.bootstrap import feedback
from gazette.domain.errors import Unavailable
from gazette.domain.feedback.reputation import SPAN, CategoryCounts, CategoryHold, category_hold
from gazette.steps.feedback import feedback as feedback_step

from tests.functions.conftest import Cloud, fan_out
from tests.functions.messages import bounce, complaint, delivery_event, event, profile, records
from tests.meter import calls

pytestmark = pytest.mark.usefixtures("later")


@pytest.fixture
def sent(cloud: Cloud) -> Cloud:
    """Ann got a digest of comments, and that is reported; feedback is warm."""
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    (message,) = fan_out(cloud)
    cloud.work("generate", message)
    cloud.work("feedback", delivery_event("Sent", record="sent"))
    cloud.meter.clear()
    return cloud


def counted(category: str = "comment") -> CategoryCounts:
    return DynamoCategoryStats("category_stats").since(category, datetime.now(UTC) - SPAN)


def already(counts: CategoryCounts) -> None:
    """What was counted before, in this hour."""
    bind(CategoryStatsRow, "category_stats")
    now = datetime.now(UTC)
    hour = now.replace(minute=0, second=0, microsecond=0)
    CategoryStatsRow("comment", hour, **asdict(counts), expires_at=now + SPAN).save()


def held() -> list[CategoryHold]:
    return list(DynamoCategoryHolds("control").active())


def test_email_counts_once_despite_repeated_delivery_events(sent: Cloud) -> None:
    for _ in range(2):
        sent.work(
            "feedback",
            delivery_event("Sent", record="sent"),
            delivery_event(),
            bounce(),
            complaint(),
        )
    assert counted() == CategoryCounts(1, 1, 1)
    assert not held()


def test_excessive_complaints_hold_the_category_and_are_reported_once(
    sent: Cloud, logs: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    already(CategoryCounts(100, complained=9))
    sent.work("feedback", complaint(), complaint())
    (hold,) = held()
    assert (hold.category, hold.by_hand) == ("comment", False)
    assert hold.why == "10 complaints about 100 emails within 7 days: 10.00%"
    assert capsys.readouterr().out.count('"category_held":[1.0]') == 1
    assert '"category":"comment"' in logs.getvalue()


def test_category_hold_is_reported_even_if_the_delivery_event_is_retried(
    sent: Cloud, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then it is known, and puts nothing on hold: the alarm would never hear of the hold."""

    def unavailable(*_: object, **__: object) -> None:
        raise Unavailable("throttled")

    already(CategoryCounts(100, complained=9))
    with monkeypatch.context() as broken:
        broken.setattr(feedback_step, "suppress_recipient", unavailable)
        assert sent.invoke("feedback", records(complaint()))["batchItemFailures"]
    sent.work("feedback", complaint())
    assert len(held()) == 1
    assert capsys.readouterr().out.count('"category_held":[1.0]') == 1


def test_disabled_category_hold_counts_no_complaints(
    sent: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_CATEGORY_HOLD", "0")
    feedback.build.cache_clear()
    already(CategoryCounts(100, complained=9))
    sent.work("feedback", complaint())
    assert counted() == CategoryCounts(100, complained=9)
    assert not held()


def due_with_likes(cloud: Cloud, comments: int, likes: int) -> str:
    """A digest of so many comments and likes, which are on hold; generate is warm."""
    cloud.say("subscriber.changed", profile())
    for number in range(comments + likes):
        category = "comment" if number < comments else "like"
        cloud.say("event.created", event(number) | {"category": category})
    DynamoCategoryHolds("control").add(category_hold("like", "complaints", datetime.now(UTC)))
    (message,) = fan_out(cloud)
    cloud.warm_up("generate")
    return message


def test_held_events_wait_for_the_release(
    cloud: Cloud, logs: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.work("generate", due_with_likes(cloud, 1, 2))
    (mail,) = cloud.sent()
    subject = mail["Content"]["Simple"]["Subject"]["Data"]
    assert subject.startswith("User 0 commented on “Title of post#p1” · ")
    assert '"deferred":2' in logs.getvalue()
    assert '"events_deferred":[2.0]' in capsys.readouterr().out
    assert DynamoCategoryHolds("control").release("like")
    (run,) = cloud.rows("runs")
    likes = [row for row in cloud.rows("events") if '"like"' in row["body"]]
    assert len(likes) == 2
    assert all(row["stored"] > f"daily#{run['until']}" for row in likes)


def test_digest_with_only_held_events_is_skipped(cloud: Cloud) -> None:
    cloud.work("generate", due_with_likes(cloud, 0, 1))
    assert not cloud.sent()
    (run,) = cloud.rows("runs")
    assert (run["status"], run["reason"]) == ("skipped", "category_held")


# What it costs; docs/tables.md repeats the sums.


def test_category_costs_a_write_unit_per_email(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1), event(2) | {"category": "like"})
    (message,) = fan_out(cloud)
    cloud.work("generate", message)
    cloud.work("feedback", delivery_event())
    cloud.meter.clear()
    cloud.work("feedback", delivery_event("Sent", record="sent"))
    assert cloud.meter.calls == calls(BatchGetItem=1, UpdateItem=1 + 2)
    assert cloud.meter.write_units == Counter(engagement=1, category_stats=2)
    cloud.meter.clear()
    cloud.work("feedback", delivery_event())
    assert cloud.meter.write_units == Counter(engagement=1)


@pytest.mark.long
def test_emails_of_an_invocation_share_the_category_write_unit(cloud: Cloud) -> None:
    """So the row of a category and hour, which is one, takes ten times as many emails a second."""
    readers = [f"reader{number}" for number in range(10)]
    for reader in readers:
        cloud.say("subscriber.changed", profile(reader))
        cloud.say("event.created", event(1, user_id=reader))
        cloud.work("generate", *fan_out(cloud, reader))
    reports = [delivery_event("Sent", f"{each}-daily-1", record="send") for each in readers]
    cloud.warm_up("feedback")
    cloud.work("feedback", *reports)
    assert cloud.meter.write_units == Counter(engagement=10, category_stats=1, control=1)
    assert counted() == CategoryCounts(10)


def test_failed_count_writes_do_not_delay_delivery_events(
    cloud: Cloud, logs: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    cloud.work("generate", *fan_out(cloud))
    with monkeypatch.context() as patch:
        patch.setattr(CategoryStatsRow, "update", unavailable)
        cloud.work("feedback", delivery_event("Sent", record="send"))
    assert "counts deferred to the next invocation" in logs.getvalue()
    assert counted() == CategoryCounts()
    cloud.work("feedback", delivery_event())
    assert counted() == CategoryCounts(1)


def unavailable(*_: object, **__: object) -> None:
    raise Unavailable("no answer")


@pytest.mark.parametrize("likes", [1, 3])
def test_deferral_costs_four_write_units_per_event_and_two_per_digest(
    cloud: Cloud, likes: int
) -> None:
    """A transaction: each row twice, and the local index under another key."""
    message = due_with_likes(cloud, 1, likes)
    cloud.work("generate", message)
    assert cloud.meter.write_units == Counter(pace=1, runs=1 + 3 + 2, events=likes * (2 + 2))
    assert cloud.meter.calls == calls(
        Query=2, BatchGetItem=3, UpdateItem=1, TransactWriteItems=1, PutItem=2, SendEmail=1
    )


def test_skipped_digest_costs_three_write_units(cloud: Cloud) -> None:
    message = due_with_likes(cloud, 0, 1)
    cloud.work("generate", message)
    assert cloud.meter.write_units == Counter(runs=3)


def test_complaint_costs_a_write_unit_and_a_query_per_category(sent: Cloud) -> None:
    sent.work("feedback", complaint())
    # The suppression costs three more write units and one more Query (test_suppress.py).
    assert sent.meter.write_units["category_stats"] == 1
    assert sent.meter.read_units["category_stats"] == 0.5
    assert sent.meter.calls["dynamodb.Query"] == 1 + 1


def test_category_hold_costs_a_write_unit_each_time(sent: Cloud) -> None:
    already(CategoryCounts(100, complained=9))
    sent.meter.clear()
    sent.work("feedback", complaint())
    assert sent.meter.write_units["control"] == 1
    sent.meter.clear()
    sent.work("feedback", bounce())
    assert sent.meter.write_units["control"] == 1
