"""A refusal of the whole account, through the real handlers: the circuit breaker and its probes."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoRateLimiter
from gazette.bootstrap import generate
from gazette.bootstrap.parts import sending
from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import PacePlan

from tests.functions.conftest import Cloud, fan_out
from tests.functions.messages import event, profile, records
from tests.meter import calls

READERS = ("ann", "bo", "cy")


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Whom SES was asked to write to while sending is paused; empty it to lift the pause."""
    asked: list[str] = ["paused"]
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def refused(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation != "SendEmail" or not asked:
            return real(client, operation, request)
        asked.extend(request["Destination"]["ToAddresses"])
        answer: Any = {
            "Error": {"Code": "SendingPausedException", "Message": "paused"},
            "ResponseMetadata": {"HTTPStatusCode": 400},
        }
        raise ClientError(answer, operation)

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", refused)
        yield asked


@pytest.fixture
def messages(cloud: Cloud, later: None) -> list[str]:
    """A digest is due for each reader; generate is warm."""
    found = []
    for reader in READERS:
        cloud.say("subscriber.changed", profile(reader))
        cloud.say("event.created", event(1, user_id=reader))
        found += fan_out(cloud, reader)
    cloud.warm_up("generate")
    return found


def breaker(row: str = ROWS.digest) -> OpenBreaker | None:
    return DynamoRateLimiter("pace", PacePlan(rate=500), name=row).read(datetime.now(UTC)).breaker


def minutes_later(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, minutes: int) -> None:
    """Let the clock of generate go on; it begins an hour ahead."""
    ahead = timedelta(hours=1, minutes=minutes)
    for joined in (generate, sending):
        monkeypatch.setattr(joined, "now", lambda: datetime.now(UTC) + ahead)
    generate.build.cache_clear()
    cloud.warm_up("generate")


def test_refused_account_stops_all_emails_after_the_first(
    cloud: Cloud, messages: list[str], paused: list[str]
) -> None:
    cloud.invoke("generate", records(messages[0]))
    cloud.work("generate", *messages[1:])
    assert paused == ["paused", "ann@example.com"]
    found = breaker()
    assert found
    assert (found.why, found.step) == ("SendingPausedException", timedelta(minutes=1))
    assert breaker(ROWS.immediate) == found


def test_account_refusal_and_stopped_run_have_the_documented_write_cost(
    cloud: Cloud, messages: list[str], paused: list[str]
) -> None:
    assert paused
    cloud.invoke("generate", records(messages[0]))
    # The claim; the run as it waits, and as what the batch counts it. Its permit, and two breakers.
    assert cloud.meter.write_units == Counter(runs=1 + 2, pace=1 + 1 + 1)
    for message in messages[1:]:
        cloud.meter.clear()
        cloud.work("generate", message)
        assert cloud.meter.calls == calls(Query=2, BatchGetItem=1, UpdateItem=1, SendMessageBatch=1)
        assert cloud.meter.write_units == Counter(pace=1)


def test_successful_probe_resumes_all_emails(
    cloud: Cloud, messages: list[str], paused: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.invoke("generate", records(messages[0]))
    minutes_later(cloud, monkeypatch, 2)
    cloud.invoke("generate", records(*messages))
    assert len(paused) == 1 + 1 + 1, "of those that ask together, one tries"
    found = breaker()
    assert found
    assert found.step == timedelta(minutes=2)
    paused.clear()
    minutes_later(cloud, monkeypatch, 5)
    cloud.work("generate", messages[1])
    assert breaker() is None
    # What a new process remembers is refused; then its permit, and the release.
    assert cloud.meter.calls["dynamodb.UpdateItem"] == 1 + 1 + 1
    cloud.work("generate", *messages)
    assert len(cloud.sent()) == 3
