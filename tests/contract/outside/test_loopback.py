"""The tables on loopback, by which `make bench` measures, answer as moto does."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from benchmarks.loopback.client import loopback
from benchmarks.loopback.tables import Refused, Tables
from tests.credentials import set_credentials
from tests.moto_tables import NAMES, create_tables, table_definitions

_META = {"ResponseMetadata", "ConsumedCapacity", "ItemCollectionMetrics", "LastEvaluatedKey"}
"""DynamoDB ends a page at its limit, without looking whether more follows; moto looks."""


class _Both:
    """Asks both the same, and gives the answer that both gave."""

    def __init__(self) -> None:
        self._moto: Any = boto3.client("dynamodb")
        self._tables = Tables()
        for definition in table_definitions(NAMES):
            self._tables.answer("CreateTable", definition)

    def ask(self, operation: str, **request: Any) -> Any:
        """The answer, or the code of the error with what else it holds."""
        theirs, ours = self._asked_moto(operation, request), self._asked(operation, request)
        if isinstance(ours, dict):
            assert {name: ours[name] for name in ours.keys() - _META} == theirs, operation
        else:
            assert ours == theirs, operation
        return ours

    def _asked_moto(self, operation: str, request: dict[str, Any]) -> Any:
        try:
            answer = self._moto._make_api_call(operation, request)
        except ClientError as err:
            reasons = [each["Code"] for each in err.response.get("CancellationReasons", ())]
            return err.response["Error"]["Code"], err.response.get("Item"), reasons
        return {name: value for name, value in answer.items() if name not in _META}

    def _asked(self, operation: str, request: dict[str, Any]) -> Any:
        try:
            return self._tables.answer(operation, request)
        except Refused as refused:
            reasons = [each["Code"] for each in refused.details.get("CancellationReasons", ())]
            return refused.code, refused.details.get("Item"), reasons


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Both]:
    """Both, with every table and no row."""
    set_credentials(monkeypatch)
    with mock_aws():
        create_tables()
        yield _Both()


def _event(number: int, **given: str) -> dict[str, Any]:
    row = {"user_id": "ann", "event_id": f"e{number}", "stored": f"daily#{number:02d}", **given}
    return {name: {"S": value} for name, value in row.items()}


def _key(number: int) -> dict[str, Any]:
    return {"user_id": {"S": "ann"}, "event_id": {"S": f"e{number}"}}


def test_row_is_written_read_and_deleted(both: _Both) -> None:
    both.ask("PutItem", TableName="events", Item=_event(1))
    assert both.ask("GetItem", TableName="events", Key=_key(1)) == {"Item": _event(1)}
    both.ask("DeleteItem", TableName="events", Key=_key(1))
    assert both.ask("GetItem", TableName="events", Key=_key(1)) == {}


def test_failed_conditional_put_returns_the_row(both: _Both) -> None:
    both.ask("PutItem", TableName="events", Item=_event(1))
    code, row, _ = both.ask(
        "PutItem",
        TableName="events",
        Item=_event(1, body="new"),
        ConditionExpression="attribute_not_exists (#0) OR #1 < :0",
        ExpressionAttributeNames={"#0": "user_id", "#1": "stored"},
        ExpressionAttributeValues={":0": {"S": "daily#00"}},
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )
    assert (code, row) == ("ConditionalCheckFailedException", _event(1))
    assert both.ask("GetItem", TableName="events", Key=_key(1)) == {"Item": _event(1)}


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_local_index_query_is_ordered_and_paged(both: _Both, limit: int, forward: bool) -> None:
    for number in (3, 1, 2, 5):
        both.ask("PutItem", TableName="events", Item=_event(number))
    both.ask("PutItem", TableName="events", Item=_event(1, user_id="bo"))
    trace = {name: value for name, value in _event(4).items() if name != "stored"}
    both.ask("PutItem", TableName="events", Item=trace)
    asked = {
        "TableName": "events",
        "IndexName": "stored",
        "KeyConditionExpression": "(#0 = :0 AND #1 BETWEEN :1 AND :2)",
        "ExpressionAttributeNames": {"#0": "user_id", "#1": "stored"},
        "ExpressionAttributeValues": {
            ":0": {"S": "ann"},
            ":1": {"S": "daily#02"},
            ":2": {"S": "daily#09"},
        },
        "Limit": limit,
        "ScanIndexForward": forward,
    }
    found: list[Any] = []
    answer = both.ask("Query", **asked)
    found += answer["Items"]
    while start := answer.get("LastEvaluatedKey"):
        answer = both.ask("Query", **asked, ExclusiveStartKey=start)
        found += answer["Items"]
    assert found == [_event(number) for number in ((2, 3, 5) if forward else (5, 3, 2))]


def test_sparse_index_returns_its_projected_attributes(both: _Both) -> None:
    for user, due in (("ann", "slot#1"), ("bo", "slot#2"), ("cy", "slot#1"), ("dee", "")):
        row = {"user_id": user, "name": "daily", "days": "all", **({"due": due} if due else {})}
        both.ask(
            "PutItem", TableName="schedules", Item={name: {"S": text} for name, text in row.items()}
        )
    answer = both.ask(
        "Query",
        TableName="schedules",
        IndexName="due",
        KeyConditionExpression="#0 = :0",
        ExpressionAttributeNames={"#0": "due"},
        ExpressionAttributeValues={":0": {"S": "slot#1"}},
    )
    assert [row["user_id"]["S"] for row in answer["Items"]] == ["ann", "cy"]
    assert "days" not in answer["Items"][0]


@pytest.mark.parametrize("returned", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW", "ALL_OLD", "NONE"])
def test_update_sets_adds_and_removes_attributes(both: _Both, returned: str) -> None:
    asked = {
        "TableName": "pace",
        "Key": {"name": {"S": "digest"}},
        "ReturnValues": returned,
        "UpdateExpression": "SET #0 = if_not_exists (#0, :0), #1 = :1",
        "ExpressionAttributeNames": {"#0": "day", "#1": "taken"},
        "ExpressionAttributeValues": {":0": {"S": "today"}, ":1": {"N": "1"}},
    }
    both.ask("UpdateItem", **asked)
    asked |= {
        "UpdateExpression": "SET #1 = #1 + :0, #2 = :1 REMOVE #0 ADD #3 :2",
        "ConditionExpression": "(#1 < :3 AND attribute_exists (#0) AND NOT (#1 = :3))",
        "ExpressionAttributeNames": {"#0": "day", "#1": "taken", "#2": "left", "#3": "stretch"},
        "ExpressionAttributeValues": {
            ":0": {"N": "10"},
            ":1": {"N": "7"},
            ":2": {"N": "3"},
            ":3": {"N": "5"},
        },
    }
    both.ask("UpdateItem", **asked)
    row = both.ask("GetItem", TableName="pace", Key={"name": {"S": "digest"}})["Item"]
    assert row == {
        "name": {"S": "digest"},
        "taken": {"N": "11"},
        "left": {"N": "7"},
        "stretch": {"N": "3"},
    }
    assert both.ask("UpdateItem", **asked)[0] == "ConditionalCheckFailedException"


def test_set_attribute_grows_and_shrinks(both: _Both) -> None:
    key = {"address_hash": {"S": "h"}}
    for change, value in (("ADD", ["b", "a"]), ("ADD", ["c"]), ("DELETE", ["a", "b"])):
        both.ask(
            "UpdateItem",
            TableName="bounces",
            Key=key,
            UpdateExpression=f"{change} #0 :0",
            ExpressionAttributeNames={"#0": "messages"},
            ExpressionAttributeValues={":0": {"SS": value}},
        )
    row = both.ask("GetItem", TableName="bounces", Key=key)["Item"]
    assert row["messages"] == {"SS": ["c"]}


def test_transaction_is_atomic(both: _Both) -> None:
    absent = {
        "ConditionExpression": "attribute_not_exists (#0)",
        "ExpressionAttributeNames": {"#0": "user_id"},
    }
    puts = [{"Put": {"TableName": "events", "Item": _event(number), **absent}} for number in (1, 2)]
    assert both.ask("TransactWriteItems", TransactItems=puts) == {}
    late = [{"Put": {"TableName": "events", "Item": _event(3), **absent}}, puts[0]]
    code, _, reasons = both.ask("TransactWriteItems", TransactItems=late)
    assert code == "TransactionCanceledException"
    assert reasons == ["None", "ConditionalCheckFailed"]
    assert both.ask("GetItem", TableName="events", Key=_key(3)) == {}


def test_batch_read_spans_several_tables(both: _Both) -> None:
    both.ask("PutItem", TableName="events", Item=_event(1))
    both.ask("PutItem", TableName="pace", Item={"name": {"S": "digest"}})
    keys = {"events": {"Keys": [_key(1), _key(2)]}, "pace": {"Keys": [{"name": {"S": "digest"}}]}}
    answer = both.ask("BatchGetItem", RequestItems=keys)
    assert answer["Responses"] == {"events": [_event(1)], "pace": [{"name": {"S": "digest"}}]}


def test_filtered_rows_are_omitted_but_counted(both: _Both) -> None:
    for number, why in ((1, "held"), (2, "gone"), (3, "held")):
        both.ask("PutItem", TableName="events", Item=_event(number, why=why))
    answer = both.ask(
        "Query",
        TableName="events",
        KeyConditionExpression="#0 = :0",
        FilterExpression="begins_with (#1, :1) AND #1 IN (:2, :3) AND contains (#1, :1)",
        ExpressionAttributeNames={"#0": "user_id", "#1": "why"},
        ExpressionAttributeValues={
            ":0": {"S": "ann"},
            ":1": {"S": "he"},
            ":2": {"S": "held"},
            ":3": {"S": "x"},
        },
    )
    assert (answer["Count"], answer["ScannedCount"]) == (2, 3)


@pytest.mark.enable_socket
def test_server_responds_to_a_client_and_counts_requests() -> None:
    with loopback() as aws:
        client = boto3.client(
            "dynamodb",
            endpoint_url=aws.url,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        for definition in table_definitions(NAMES):
            client.create_table(**definition)
        aws.set_latency(dynamodb=0.001)
        aws.take_calls()
        client.put_item(TableName="events", Item=_event(1))
        assert client.get_item(TableName="events", Key=_key(1))["Item"] == _event(1)
        with pytest.raises(client.exceptions.ConditionalCheckFailedException):
            client.delete_item(
                TableName="events",
                Key=_key(1),
                ConditionExpression="attribute_not_exists (user_id)",
            )
        operations = ("PutItem", "GetItem", "DeleteItem")
        assert aws.take_calls() == {f"dynamodb {name} events": 1 for name in operations}
        assert not aws.take_calls()
        client.close()


def test_index_contains_only_rows_with_its_key(both: _Both) -> None:
    trace = {name: value for name, value in _event(2).items() if name != "stored"}
    for row in (_event(1), trace):
        both.ask("PutItem", TableName="events", Item=row)
    asked = {
        "TableName": "events",
        "KeyConditionExpression": "#0 = :0",
        "ExpressionAttributeNames": {"#0": "user_id"},
        "ExpressionAttributeValues": {":0": {"S": "ann"}},
    }
    assert both.ask("Query", **asked)["Items"] == [_event(1), trace]
    assert both.ask("Query", **asked, IndexName="stored")["Items"] == [_event(1)]
