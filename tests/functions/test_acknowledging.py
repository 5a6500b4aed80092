"""A message is acknowledged only after what became of its run was stored."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ConnectTimeoutError
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.domain.delivery.run import Status
from gazette.domain.model import DAILY, RunKey

from tests.functions.conftest import Cloud, fan_out
from tests.functions.messages import event, profile, records

KEY = RunKey("ann", DAILY, 1)

pytestmark = pytest.mark.usefixtures("later")


@contextmanager
def no_commit(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """DynamoDB is out of reach for whoever wants to store that a run was sent."""
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def answered(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation == "PutItem" and request["Item"].get("status") == {"S": "sent"}:
            raise ConnectTimeoutError(endpoint_url="dynamodb")
        return real(client, operation, request)

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", answered)
        yield


@pytest.mark.parametrize("step", ["generate", "resend"])
def test_message_is_not_acknowledged_if_its_commit_failed(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    (body,) = fan_out(cloud)
    with no_commit(monkeypatch):
        kept = cloud.invoke(step, records(body))
    assert kept == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    run = DynamoRuns("runs", retention=timedelta(days=180)).get(KEY)
    assert run
    assert run.status is Status.SENDING
    cloud.work(step, body)
    assert len(cloud.sent()) == 1
