"""What the real adapters ask of AWS, counted: calls, and write units by AWS's own rules.

Sits below the adapters, at botocore, and needs moto: the emulator's own capacity figures are
constants. Item sizes and units:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
Indexes: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html, "Provisioned
throughput considerations".
"""

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient

Item = dict[str, dict[str, Any]]

_CALL = "_make_api_call"
_WRITES = {"PutItem", "UpdateItem", "DeleteItem"}


@dataclass
class Meter:
    """`calls` by `service.Operation`; `write_units` by table; `requests` as they were made."""

    calls: Counter[str] = field(default_factory=Counter)
    write_units: Counter[str] = field(default_factory=Counter)
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def clear(self) -> None:
        """Count from zero."""
        self.calls.clear()
        self.write_units.clear()
        self.requests.clear()


@contextmanager
def metered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Meter]:
    """Count every call that any client makes inside the block."""
    meter = Meter()
    original: Any = getattr(BaseClient, _CALL)
    unmetered = boto3.client("dynamodb")

    def counted(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if client is unmetered:
            return original(client, operation, request)
        service = client.meta.service_model.service_name
        meter.calls[f"{service}.{operation}"] += 1
        meter.requests.append((f"{service}.{operation}", request))
        if service != "dynamodb" or operation not in _WRITES:
            return original(client, operation, request)
        table = unmetered.describe_table(TableName=request["TableName"])["Table"]
        key = _key(table, request)
        before = unmetered.get_item(TableName=request["TableName"], Key=key).get("Item")
        try:
            return original(client, operation, request)
        finally:
            after = unmetered.get_item(TableName=request["TableName"], Key=key).get("Item")
            meter.write_units[request["TableName"]] += write_units(table, before, after)

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, _CALL, counted)
        yield meter


def write_units(table: dict[str, Any], before: Item | None, after: Item | None) -> int:
    """Units of one write of the table and all its indexes; a refused write costs its table."""
    units = _units(max(_size(before), _size(after)))
    for index in (
        *table.get("GlobalSecondaryIndexes", ()),
        *table.get("LocalSecondaryIndexes", ()),
    ):
        old = _projected(table, index, before)
        new = _projected(table, index, after)
        if old == new:
            continue
        if old and new and _index_key(index, old) == _index_key(index, new):
            units += _units(max(_size(old), _size(new)))
        else:
            units += sum(_units(_size(entry)) for entry in (old, new) if entry)
    return units


def _key(table: dict[str, Any], request: dict[str, Any]) -> Item:
    given = request.get("Key") or request["Item"]
    return {part["AttributeName"]: given[part["AttributeName"]] for part in table["KeySchema"]}


def _projected(table: dict[str, Any], index: dict[str, Any], item: Item | None) -> Item | None:
    keys = {part["AttributeName"] for part in index["KeySchema"]}
    if item is None or not keys <= item.keys():
        return None
    if index["Projection"]["ProjectionType"] == "ALL":
        return item
    kept = keys | {part["AttributeName"] for part in table["KeySchema"]}
    kept |= set(index["Projection"].get("NonKeyAttributes", ()))
    return {name: value for name, value in item.items() if name in kept}


def _index_key(index: dict[str, Any], entry: Item) -> list[dict[str, Any]]:
    return [entry[part["AttributeName"]] for part in index["KeySchema"]]


def _units(size: int) -> int:
    return max(1, math.ceil(size / 1024))


def _size(item: Item | None) -> int:
    return sum(len(name.encode()) + _value_size(value) for name, value in (item or {}).items())


def _value_size(typed: dict[str, Any]) -> int:
    ((kind, value),) = typed.items()
    match kind:
        case "S":
            return len(value.encode())
        case "N":
            return math.ceil(len(value.lstrip("-").replace(".", "").strip("0")) / 2) + 1
        case "NS":
            return sum(_value_size({"N": number}) for number in value)
        case "BOOL" | "NULL":
            return 1
        case _:
            raise NotImplementedError(f"no table of Gazette has attributes of type {kind}")
