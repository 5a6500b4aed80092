"""Convert an entry to the envelope that Gazette would receive, and check the rules of
EventBridge.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from gazette.adapters.contract.strict_json import UnreadableError, read_json

from gazette_cli.events.bus import StageBus

LIMIT = 1_000_000
"""The size limit of a PutEvents entry in bytes. An entry must be smaller than 1 MB. Before 2026,
the limit was 256 KB.

SQS accepts 1 MiB. The difference leaves room for the envelope, and for the reason in quarantine.
https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
"""

_BILLED = 65_536
"""The number of bytes that EventBridge bills as one event.
https://aws.amazon.com/eventbridge/pricing/
"""

_TIME = 14
_NAMES = {
    "Source": "source",
    "DetailType": "detail-type",
    "Detail": "detail",
    "Time": "time",
    "Resources": "resources",
}
_ENTRY = (*_NAMES, "EventBusName", "TraceHeader")
"""The fields of a PutEvents entry.

https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsRequestEntry.html
"""

_ENVELOPE = (*_NAMES.values(), "version", "id", "account", "region", "replay-name")
"""The fields of an EventBridge envelope.

https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html
"""

_ENOUGH_OF_AN_ENTRY = {"Source", "DetailType", "Detail"}
_ENOUGH_OF_AN_ENVELOPE = {"source", "detail-type", "detail"}
"""Fields that identify an EventBridge envelope. Any one of these fields is sufficient."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """An EventBridge envelope."""

    # The content to decode, or None if the detail is unreadable text.
    content: dict[str, Any] | None

    # The size of the PutEvents entry, in bytes.
    size: int

    # Problems of the fields outside the detail.
    problems: tuple[str, ...]

    @property
    def billed(self) -> int:
        """The number of events that EventBridge bills."""
        return max(1, -(-self.size // _BILLED))


def envelope(value: Any, *, bus: StageBus | None = None) -> Envelope | None:
    """Convert a JSON value to an envelope, or return None if the value is not an event. Raises
    RecursionError.

    `bus` is the only bus that an entry may name.
    """
    if not isinstance(value, dict):
        return None
    if value.keys() & _ENOUGH_OF_AN_ENVELOPE:
        problems = [*_source(value, "source"), *_unknown(value, _ENVELOPE, "an event envelope")]
        return _envelope(value, problems)
    if value.keys() & _ENOUGH_OF_AN_ENTRY:
        renamed = {ours: value[theirs] for theirs, ours in _NAMES.items() if theirs in value}
        return _envelope(renamed, _around(value, bus))
    return None


def _envelope(fields: dict[str, Any], problems: list[str]) -> Envelope:
    content: dict[str, Any] | None = fields
    detail = fields.get("detail")
    if isinstance(detail, str):
        try:
            content = {**fields, "detail": read_json(detail)}
        except UnreadableError as err:
            content = None
            problems.append(f"detail: is a string that is {err}")
    size = _size(fields)
    if size >= LIMIT:
        problems.append(
            f"size: must be less than {LIMIT:,} bytes (1 MB); shorten the entry, or split a list "
            "of events into several entries"
        )
    return Envelope(content, size, tuple(problems))


def _size(fields: dict[str, Any]) -> int:
    """Return the size of an entry in bytes. If the detail is an object, the size includes the
    object as compact JSON.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/events/CalculatePutEventsEntrySize.html
    """
    resources = fields.get("resources")
    counted = [fields.get("source"), fields.get("detail-type"), _as_text(fields.get("detail"))]
    counted += resources if isinstance(resources, list) else []
    texts = [each.encode("utf-8", "surrogatepass") for each in counted if isinstance(each, str)]
    return sum(map(len, texts)) + (_TIME if fields.get("time") is not None else 0)


def _as_text(detail: Any) -> str | None:
    if detail is None or isinstance(detail, str):
        return detail
    return json.dumps(detail, ensure_ascii=False, separators=(",", ":"))


def _around(entry: dict[str, Any], bus: StageBus | None) -> list[str]:
    """Return the problems with the envelope fields (all fields except the detail), such as an
    unknown bus.
    """
    wrong_bus = bus.problem(entry["EventBusName"]) if bus and "EventBusName" in entry else ""
    return [
        *_source(entry, "Source"),
        *filter(None, [wrong_bus]),
        *_unknown(entry, _ENTRY, "a PutEvents entry"),
    ]


def _source(fields: dict[str, Any], name: str) -> Iterator[str]:
    source = fields.get(name)
    if not isinstance(source, str) or not source.strip():
        yield f"{name}: is missing; specify your service, such as shop.comments"
    elif source != source.strip():
        yield f"{name}: must not begin or end with a space; remove the space"
    elif source.startswith("aws."):
        yield f"{name}: must not begin with aws., which is reserved for AWS"


def _unknown(fields: dict[str, Any], known: Sequence[str], what: str) -> Iterator[str]:
    """Yield a problem for each unknown field, and suggest the most similar known field."""
    spellings = {each.lower(): each for each in known}
    for name in sorted(fields.keys() - {*known}):
        similar = get_close_matches(name.lower(), spellings, n=1)
        hint = f"; did you mean {spellings[similar[0]]}?" if similar else ""
        yield f"{name}: is not a field of {what}{hint}"
