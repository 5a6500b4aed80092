"""What tests/aws_once.py makes quick in moto still refuses and does what DynamoDB does."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from tests.credentials import set_credentials

_KEY = {"id": {"S": "a"}}
_VALUES: dict[str, dict[str, Any]] = {
    ":one": {"N": "1"},
    ":text": {"S": "t"},
    ":some": {"L": [{"S": "y"}]},
}


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client, and a table with one row."""
    set_credentials(monkeypatch)
    with mock_aws():
        client = boto3.client("dynamodb")
        client.create_table(
            TableName="rows",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        )
        row = {"n": {"N": "1"}, "l": {"L": [{"S": "x"}]}, "m": {"M": {"k": {"S": "v"}}}}
        client.put_item(TableName="rows", Item={**_KEY, **row})
        yield client


def update(client: Any, expression: str) -> None:
    used = {name: value for name, value in _VALUES.items() if name in expression}
    more: dict[str, Any] = {"ExpressionAttributeValues": used} if used else {}
    client.update_item(TableName="rows", Key=_KEY, UpdateExpression=expression, **more)


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("SET a = :one, b = :text, a = :text", "overlap"),
        ("SET a.b = :one, c = :text REMOVE a.b", "overlap"),
        ("SET a = :one SET b = :text", "can only be used once"),
        ("REMOVE n REMOVE l", "can only be used once"),
        ("SET b = :text, id = :text", "part of the key"),
        ("SET b = n + absent", "does not exist"),
        ("SET b = :text + :one", "operand type"),
        ("SET", "Syntax error"),
    ],
)
def test_invalid_update_expression_is_rejected_every_time(
    table: Any, expression: str, why: str
) -> None:
    for _ in range(2):
        with pytest.raises(ClientError, match=why):
            update(table, expression)
    assert table.get_item(TableName="rows", Key=_KEY)["Item"]["n"] == {"N": "1"}


def test_cached_update_expression_applies_to_each_row_independently(table: Any) -> None:
    """What one of them found is not what the next one does."""
    for number in (2, 3):
        update(
            table,
            "SET n = n + :one, f = if_not_exists(f, :text), l = list_append(l, :some), m.k = :text"
            " REMOVE gone",
        )
        found = table.get_item(TableName="rows", Key=_KEY)["Item"]
        assert found["n"] == {"N": str(number)}
        assert found["l"] == {"L": [{"S": "x"}, *_VALUES[":some"]["L"] * (number - 1)]}
        assert (found["f"], found["m"]) == ({"S": "t"}, {"M": {"k": {"S": "t"}}})
        update(table, "ADD times :one")
    assert table.get_item(TableName="rows", Key=_KEY)["Item"]["times"] == {"N": "2"}
