"""A stage whose digests ask a recommendation service on loopback, and all that may happen then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from gazette.adapters.aws.queues import decode_run_key
from gazette.adapters.content.connection import Connection
from gazette.adapters.content.fetch_messages import encode_fetch
from gazette.adapters.dynamodb.pacing.pace import RECOMMENDATIONS_ROW, DynamoRateLimiter
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap import content
from gazette.bootstrap.parts.clock import now
from gazette.domain.content.ports import Fetch, QueuedFetch
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.delivery.run import Run
from gazette.domain.model import DAILY, RunKey, Schedule

from proofs.sources.service import Reply, Service, items, serving
from tests.functions.conftest import Cloud, fan_out, make_cold
from tests.functions.messages import profile, records

_SCHEDULES = "schedules"


@contextmanager
def recommending(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """The stage asks; its functions are built anew, and their connections end with the block."""
    opened: list[Connection] = []

    def connect(*args: Any, **named: Any) -> Connection:
        opened.append(Connection(*args, **named))
        return opened[-1]

    with serving() as running, monkeypatch.context() as patch:
        patch.setattr(content, "Connection", connect)
        patch.setenv("GAZETTE_CONTENT_SOURCES", '["events", "recommendations"]')
        patch.setenv("GAZETTE_RECOMMENDATIONS_URL", running.url)
        make_cold()
        yield running
        for each in opened:
            each.close()
    make_cold()


def schedule_of(user_id: str) -> Schedule:
    """The daily digest of a reader."""
    found = DynamoSchedules(_SCHEDULES, shards=1).get(user_id, DAILY)
    assert found
    return found


def fetch_for(user_id: str) -> str:
    """The message for the next digest of a reader."""
    fetch = Fetch(user_id, DAILY, schedule_of(user_id).next_due_at)
    return encode_fetch(QueuedFetch(fetch, timedelta(0))).body


def recommendations_of_every_kind(
    cloud: Cloud,
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: Callable[[str, str, Callable[[], None]], None],
) -> None:
    """Items are fetched, amended and taken back; readers vanish; a digest waits for its items, and
    one is too late for them.
    """
    with recommending(monkeypatch) as service:
        for user_id in ("rex", "sam", "tom", "uma"):
            cloud.say("subscriber.changed", profile(user_id))
        _items_that_change_while_a_run_is_open(cloud, service)
        service.answers(Reply(body=items("c")))
        sams, toms = fetch_for("sam"), fetch_for("tom")
        meanwhile("subscribers", "GetItem", lambda: _erase("sam"))
        cloud.work("content", sams)
        _change(cloud, schedule_of("tom").leaving())
        meanwhile(_SCHEDULES, "PutItem", lambda: _erase("tom"))
        cloud.work("content", toms)
        assert cloud.invoke("content", records("no JSON", queue="content"))["batchItemFailures"]
        _wait_for_the_breaker(cloud)
        _fetch_late(cloud, "uma")
        _a_digest_that_asks_by_itself(cloud)


def _items_that_change_while_a_run_is_open(cloud: Cloud, service: Service) -> None:
    service.answers(Reply(body=items("a", "b")))
    cloud.work("content", fetch_for("rex"))
    due = schedule_of("rex")
    with cloud.meter.acting("somebody else"):
        key = RunKey("rex", DAILY, due.sequence)
        at = due.next_due_at
        _runs().create(Run(key=key, due_at=at, check_at=at, created_at=now()))
    _change(cloud, replace(due, fetched_at=None, fetched_for=None, revision=due.revision + 1))
    service.answers(Reply(body=items("a", summary="Another summary.")))
    cloud.work("content", fetch_for("rex"))


def _wait_for_the_breaker(cloud: Cloud) -> None:
    limiter = DynamoRateLimiter("pace", PacePlan(rate=10), name=RECOMMENDATIONS_ROW)
    with cloud.meter.acting("somebody else"):
        limiter.open_by_hand("by hand", now())
    cloud.work("content", fetch_for("uma"))
    with cloud.meter.acting("somebody else"):
        limiter.close_by_hand()


def _fetch_late(cloud: Cloud, user_id: str) -> None:
    fetch = Fetch(user_id, DAILY, now() - timedelta(hours=2))
    cloud.work("content", encode_fetch(QueuedFetch(fetch, timedelta(0))).body)


def _a_digest_that_asks_by_itself(cloud: Cloud) -> None:
    (message,) = (each for each in fan_out(cloud, "uma") if '"uma"' in each)
    with cloud.meter.acting("somebody else"):
        run = _runs().get(decode_run_key(message))
        assert run
        _runs().swap(run, replace(run, asked_at=None))
    cloud.work("generate", message)


def _runs() -> DynamoRuns:
    return DynamoRuns("runs", retention=timedelta(days=180))


def _change(cloud: Cloud, changed: Schedule) -> None:
    with cloud.meter.acting("somebody else"):
        before = schedule_of(changed.user_id)
        assert DynamoSchedules(_SCHEDULES, shards=1).put(changed, replacing=before)


def _erase(user_id: str) -> None:
    DynamoSubscribers("subscribers").erase(user_id, datetime.now(UTC))
