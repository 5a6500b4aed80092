"""Delivery events whose runs DynamoDB does not read together."""

from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from gazette.adapters.dynamodb import client

from tests.functions.conftest import Cloud, fan_out
from tests.functions.messages import delivery_event, event, profile, records

pytestmark = pytest.mark.usefixtures("later")

_EMPTY_KEY: Any = {
    "Code": "ValidationException",
    "Message": "The AttributeValue for a key attribute cannot contain an empty string value.",
}


def _failed(cloud: Cloud, other_run: str) -> list[str]:
    """The failed messages of two: m0 of another run, m1 of an email that was sent."""
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    cloud.work("generate", *fan_out(cloud))
    events = [delivery_event(run=other_run), delivery_event()]
    answer = cloud.invoke("feedback", records(*events, queue="feedback"))
    assert len(cloud.rows("engagement")) == 1
    return [each["itemIdentifier"] for each in answer["batchItemFailures"]]


def test_key_that_dynamodb_rejects_fails_only_its_own_events(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """moto accepts an empty key. DynamoDB rejects the whole batch."""
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def strict(sender: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        tables = request.get("RequestItems", {}).values() if operation == "BatchGetItem" else ()
        keys = [key for table in tables for key in table["Keys"]]
        if operation == "GetItem":
            keys.append(request["Key"])
        if any({"S": ""} in key.values() for key in keys):
            raise ClientError({"Error": _EMPTY_KEY}, operation)
        return real(sender, operation, request)

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", strict)
        assert _failed(cloud, "-daily-1") == ["m0"]


def test_key_that_stays_unprocessed_delays_no_event(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def throttled(sender: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation != "BatchGetItem" or "runs" not in request["RequestItems"]:
            return real(sender, operation, request)
        asked = request["RequestItems"]["runs"]
        left = [key for key in asked["Keys"] if key["user_id"] == {"S": "ben"}]
        rest = [key for key in asked["Keys"] if key not in left]
        answer: dict[str, Any] = {"Responses": {"runs": []}}
        if rest:
            answer = real(sender, operation, {"RequestItems": {"runs": {**asked, "Keys": rest}}})
        return {**answer, "UnprocessedKeys": {"runs": {**asked, "Keys": left}}}

    with monkeypatch.context() as patch:
        patch.setattr(client, "_PAUSES", (0, 0))
        patch.setattr(BaseClient, "_make_api_call", throttled)
        assert _failed(cloud, "ben-daily-1") == []
