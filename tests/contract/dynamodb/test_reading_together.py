"""Rows of several tables that are read by one request."""

from typing import Any

import pytest
from botocore.client import BaseClient
from gazette.adapters.dynamodb import client
from gazette.adapters.dynamodb.client import read_row, read_rows
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.adapters.dynamodb.tables import ControlRow, SubscriberRow
from gazette.domain.errors import Unavailable
from gazette.domain.scheduling.calendar import slot_id

from tests.builders import NOW, RETENTION, a_subscriber

pytestmark = pytest.mark.parametrize("engine", ["moto"], indirect=True)


@pytest.fixture
def requests(engine: str, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Ann and bo are registered, and one batch has begun; then every BatchGetItem is noted."""
    subscribers = DynamoSubscribers("subscribers")
    for user_id in ("ann", "bo"):
        assert subscribers.put(a_subscriber(user_id=user_id), replacing=None)
    DynamoBatches("control", retention=RETENTION, clock=lambda: NOW).begin(NOW)
    made: list[dict[str, Any]] = []
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def noted(caller: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        made.append(request)
        return real(caller, operation, request)

    monkeypatch.setattr(BaseClient, "_make_api_call", noted)
    monkeypatch.setattr(client, "_PAUSES", (0, 0, 0))
    return made


def user_ids(rows: Any) -> list[str | None]:
    return [row and row.user_id for row in rows]


def test_rows_of_all_tables_are_read_by_a_single_ordered_request(
    requests: list[dict[str, Any]],
) -> None:
    batch = (ControlRow, ("batch", slot_id(NOW)))
    keys = [(SubscriberRow, ("bo",)), batch, (SubscriberRow, ("cy",)), (SubscriberRow, ("ann",))]
    bo, begun, cy, ann = read_rows([*keys])
    assert user_ids([bo, cy, ann]) == ["bo", None, "ann"]
    assert isinstance(begun, ControlRow)
    assert begun.started_at == NOW
    (request,) = requests
    assert {name: asked["ConsistentRead"] for name, asked in request["RequestItems"].items()} == {
        "subscribers": True,
        "control": True,
    }


def test_repeated_key_is_read_once(requests: list[dict[str, Any]]) -> None:
    assert user_ids(read_rows([(SubscriberRow, ("ann",))] * 3)) == ["ann"] * 3
    (request,) = requests
    assert len(request["RequestItems"]["subscribers"]["Keys"]) == 1


def test_more_than_a_hundred_keys_take_several_requests(requests: list[dict[str, Any]]) -> None:
    names = [*(f"nobody{number}" for number in range(120)), "ann"]
    found = user_ids(read_rows([(SubscriberRow, (name,)) for name in names]))
    assert found == [None] * 120 + ["ann"]
    assert [len(each["RequestItems"]["subscribers"]["Keys"]) for each in requests] == [100, 21]


def leaving_out(monkeypatch: pytest.MonkeyPatch, answers: int) -> None:
    """DynamoDB leaves out all keys but the first of a request, so many times."""
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]
    left = iter(range(answers))

    def short(caller: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        asked = request["RequestItems"]["subscribers"]
        if next(left, None) is None:
            return real(caller, operation, request)
        first, *others = asked["Keys"]
        answer = real(
            caller, operation, {"RequestItems": {"subscribers": asked | {"Keys": [first]}}}
        )
        return answer | {"UnprocessedKeys": {"subscribers": asked | {"Keys": others}}}

    monkeypatch.setattr(BaseClient, "_make_api_call", short)


@pytest.mark.usefixtures("requests")
def test_unprocessed_keys_are_requested_again(monkeypatch: pytest.MonkeyPatch) -> None:
    leaving_out(monkeypatch, 2)
    keys = [(SubscriberRow, (name,)) for name in ("cy", "ann", "bo")]
    assert user_ids(read_rows(keys)) == [None, "ann", "bo"]


@pytest.mark.usefixtures("requests")
def test_repeatedly_unprocessed_key_is_not_treated_as_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leaving_out(monkeypatch, 100)
    names = ("cy", "bo", "dee", "flo", "ann")
    first, bo, *_, last = read_rows([(SubscriberRow, (name,)) for name in names])
    assert (first, user_ids([bo])) == (None, ["bo"])
    assert isinstance(last, Unavailable)
    assert "did not process" in str(last)


@pytest.mark.usefixtures("requests")
def test_single_and_batch_reads_return_the_same_row() -> None:
    for name in ("ann", "cy"):
        assert user_ids([read_row(SubscriberRow, name)]) == user_ids(
            read_rows([(SubscriberRow, (name,))])
        )
