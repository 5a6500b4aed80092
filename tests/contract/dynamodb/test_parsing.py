"""Responses with rows are read as plain JSON, with the same result as botocore's parser."""

from typing import Any

import boto3
import pytest
from gazette.adapters.dynamodb.client import STANDARD, bind
from gazette.adapters.dynamodb.tables import RunRow

pytestmark = [
    pytest.mark.usefixtures("engine"),
    pytest.mark.parametrize("engine", ["moto"], indirect=True),
]

_KEY = {"user_id": {"S": "ann"}, "run": {"S": "daily#1"}}
_TEXT: dict[str, Any] = {
    "text": {"S": 'with "B" and ü'},
    "number": {"N": "1.50"},
    "flag": {"BOOL": True},
    "nothing": {"NULL": True},
    "list": {"L": [{"S": "a"}, {"M": {"b": {"N": "1"}}}]},
    "set": {"SS": ["a", "b"]},
    "empty": {"M": {}},
}
_BINARY: dict[str, Any] = {"bytes": {"B": b"\x00\xff"}, "set": {"BS": [b"a"]}}

_READS: dict[str, dict[str, Any]] = {
    "GetItem": {"TableName": "runs", "Key": _KEY},
    "BatchGetItem": {"RequestItems": {"runs": {"Keys": [_KEY]}}},
    "Query": {
        "TableName": "runs",
        "KeyConditionExpression": "user_id = :ann",
        "ExpressionAttributeValues": {":ann": {"S": "ann"}},
    },
}


@pytest.mark.parametrize("operation", _READS)
@pytest.mark.parametrize("row", [_TEXT, _BINARY, None], ids=["text", "binary", "none"])
def test_row_is_parsed_like_by_botocore(operation: str, row: dict[str, Any] | None) -> None:
    plain = boto3.client("dynamodb")
    if row is not None:
        plain.put_item(TableName="runs", Item={**_KEY, **row})
    bound: Any = bind(RunRow, "runs", STANDARD)
    ours = bound._get_connection().connection._client
    assert ours is not plain
    answers = [each._make_api_call(operation, _READS[operation]) for each in (ours, plain)]
    for answer in answers:
        del answer["ResponseMetadata"]
    assert answers[0] == answers[1]


def test_error_is_parsed_by_botocore() -> None:
    bound: Any = bind(RunRow, "runs", STANDARD)
    ours = bound._get_connection().connection._client
    with pytest.raises(ours.exceptions.ResourceNotFoundException, match="not found"):
        ours.get_item(TableName="missing", Key=_KEY)
