"""Read rows with the adapters of the installed `gazette`.

As a program, it reads rows from standard input, as JSON lines, and writes the readings to standard
output. It imports only the package and the standard library. `make release RECORD=1` copies this
module into the folder of the release, so that each version reads rows with its own adapters.
"""

import json
import sys
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Any

from gazette.adapters.dynamodb import activities, follows, runs, schedules, subscribers, tables
from gazette.adapters.dynamodb.client import Row, decoded
from gazette.adapters.dynamodb.control import batches, category_holds, experiments
from gazette.adapters.dynamodb.control.template_versions import (
    DynamoTemplateVersions,
    _change,
    in_force_of,
)
from gazette.adapters.dynamodb.event_rows import event_or_trace_in
from gazette.adapters.dynamodb.feedback import bounces, statistics, suppressions
from gazette.adapters.dynamodb.pacing import pace
from gazette.domain.errors import UnreadableRow
from gazette.settings.ranges import RANGES

UNREADABLE = "unreadable"
"""The only key of the reading of a row that the version cannot read."""

Decode = Callable[[Any], Any]


def _attributes(row: Row) -> Mapping[str, Any]:
    """Return the attributes of a row that has no domain class."""
    return {name: getattr(row, name) for name in row.get_attributes()}


_versions = DynamoTemplateVersions.__new__(DynamoTemplateVersions)
_versions._ranges = RANGES


def _in_force(row: tables.ControlRow) -> Any:
    return in_force_of(row, ranges=RANGES)


_CONTROL: Mapping[str, Decode] = {
    "batch": batches._batch,
    "experiment": experiments._experiment,
    "hold": category_holds._hold,
    "period": experiments._period,
    "templates": _in_force,
    "template_change": _change,
    "template_version": _versions._pushed,
}


def _control(row: tables.ControlRow) -> Any:
    decode: Decode = _CONTROL.get(row.kind, _attributes)
    return decode(row)


def _reader(row: tables.SubscriberRow) -> Any:
    return subscribers.reader_of(row) or subscribers._early(row)


def _activity(row: tables.ActivityRow) -> Any:
    return _attributes(row) if row.home else activities._activity_in(row)


KINDS: Mapping[str, tuple[type[Row], Decode]] = {
    "activities": (tables.ActivityRow, _activity),
    "bounces": (tables.BounceRow, bounces._bounces),
    "category_stats": (tables.CategoryStatsRow, _attributes),
    "control": (tables.ControlRow, _control),
    "engagement": (tables.EngagementRow, statistics.engagement_in),
    "events": (tables.EventRow, event_or_trace_in),
    "follows": (tables.FollowRow, follows._follow),
    "pace": (tables.PaceRow, pace._read),
    "runs": (tables.RunRow, runs.run_of),
    "schedules": (tables.ScheduleRow, schedules._schedule),
    "subscribers": (tables.SubscriberRow, _reader),
    "suppressions": (tables.SuppressionRow, suppressions._suppression),
}
"""The row class and the decoder of each table."""


def read(table: str, item: Mapping[str, Any]) -> Any:
    """Return what the adapters read from a row, as JSON, or the reason why they cannot."""
    model, decode = KINDS[table]
    stored = {name: _binary(value) for name, value in item.items()}
    try:
        return plain(decoded(model.from_raw_data(stored), decode))
    except UnreadableRow as err:
        return {UNREADABLE: str(err)}


def _binary(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an attribute value whose binary content, if any, is bytes instead of base64 text."""
    return {
        kind: b64decode(each) if kind == "B" and isinstance(each, str) else each
        for kind, each in value.items()
    }


def plain(value: Any) -> Any:
    """Return a domain value as JSON. Sets are sorted, and instants are in ISO 8601."""
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    match value:
        case Enum():
            return value.value
        case datetime() | date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.hex()
        case Mapping():
            return {f"{plain(key)}": plain(each) for key, each in sorted(value.items(), key=str)}
        case Set():
            return sorted((plain(each) for each in value), key=json.dumps)
        case list() | tuple():
            return [plain(each) for each in value]
        case None | bool() | int() | float() | str():
            return value
        case _:
            return f"{value}"


def _main(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        row = json.loads(line)
        yield json.dumps(read(row["table"], row["item"]), sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.writelines(_main(sys.stdin))
