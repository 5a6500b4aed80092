"""From an entry to the envelope that Gazette would get of it, and what EventBridge says of it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from gazette.adapters.contract.strict_json import UnreadableError, read_json

from cli.events.bus import StageBus

LIMIT = 1_000_000
"""Bytes that an entry of PutEvents must stay below (1 MB since 2026, 256 KB before). Up to 1 MiB,
which is what SQS takes, there is room for the envelope, and for the reason in quarantine.
https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
"""

_BILLED = 65_536
"""Bytes that are billed as one event. https://aws.amazon.com/eventbridge/pricing/"""

_TIME = 14
_NAMES = {
    "Source": "source",
    "DetailType": "detail-type",
    "Detail": "detail",
    "Time": "time",
    "Resources": "resources",
}
_ENTRY = (*_NAMES, "EventBusName", "TraceHeader")
"""https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsRequestEntry.html"""

_ENVELOPE = (*_NAMES.values(), "version", "id", "account", "region", "replay-name")
"""https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html"""

_ENOUGH_OF_AN_ENTRY = {"Source", "DetailType", "Detail"}
_ENOUGH_OF_AN_ENVELOPE = {"source", "detail-type", "detail"}
"""Fields by which an event is known, so that another one that is misspelt can be named."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What would be decoded, its size as an entry in bytes, and what is wrong around it.

    `content` is None where the detail is text that cannot be read.
    """

    content: dict[str, Any] | None
    size: int
    problems: tuple[str, ...]

    @property
    def billed(self) -> int:
        """As how many events it is billed."""
        return max(1, -(-self.size // _BILLED))


def envelope(value: Any, *, bus: StageBus | None = None) -> Envelope | None:
    """The envelope in a JSON value; None if it is not an event. Raises RecursionError.

    An entry that names a bus must name that of the stage, if it is given.
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


def detail_type(body: str) -> str:
    """That of an event as it is on the ingest queue, or in brackets why there is none."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return "(not JSON)"
    named = found.get("detail-type") if isinstance(found, dict) else None
    return named if isinstance(named, str) and named else "(none)"


def _envelope(given: dict[str, Any], problems: list[str]) -> Envelope:
    content: dict[str, Any] | None = given
    detail = given.get("detail")
    if isinstance(detail, str):
        try:
            content = {**given, "detail": read_json(detail)}
        except UnreadableError as err:
            content = None
            problems.append(f"detail: is text, and that is {err}")
    size = _size(given)
    if size >= LIMIT:
        problems.append(
            f"size: must be less than {LIMIT:,} bytes (1 MB); shorten it, or put a list of "
            "events in several entries"
        )
    return Envelope(content, size, tuple(problems))


def _size(given: dict[str, Any]) -> int:
    """https://docs.aws.amazon.com/AmazonCloudWatch/latest/events/CalculatePutEventsEntrySize.html

    A detail that is given as an object counts as compact JSON, the least that it can be.
    """
    resources = given.get("resources")
    counted = [given.get("source"), given.get("detail-type"), _as_text(given.get("detail"))]
    counted += resources if isinstance(resources, list) else []
    texts = [each.encode("utf-8", "surrogatepass") for each in counted if isinstance(each, str)]
    return sum(map(len, texts)) + (_TIME if given.get("time") is not None else 0)


def _as_text(detail: Any) -> str | None:
    if detail is None or isinstance(detail, str):
        return detail
    return json.dumps(detail, ensure_ascii=False, separators=(",", ":"))


def _around(entry: dict[str, Any], bus: StageBus | None) -> list[str]:
    """Return the problems outside the detail: PutEvents rejects the entry, or puts it elsewhere."""
    named = bus.problem(entry["EventBusName"]) if bus and "EventBusName" in entry else ""
    return [
        *_source(entry, "Source"),
        *filter(None, [named]),
        *_unknown(entry, _ENTRY, "a PutEvents entry"),
    ]


def _source(given: dict[str, Any], name: str) -> Iterator[str]:
    source = given.get(name)
    if not isinstance(source, str) or not source.strip():
        yield f"{name}: is missing; name your service, such as shop.comments"
    elif source != source.strip():
        yield f"{name}: begins or ends with a space, so it is another source; remove the space"
    elif source.startswith("aws."):
        yield f"{name}: must not begin with aws., which is kept for AWS"


def _unknown(given: dict[str, Any], known: Sequence[str], what: str) -> Iterator[str]:
    """The fields that do not exist, most likely because they are misspelt."""
    meant = {each.lower(): each for each in known}
    for name in sorted(given.keys() - {*known}):
        similar = get_close_matches(name.lower(), meant, n=1)
        hint = f"; did you mean {meant[similar[0]]}?" if similar else ""
        yield f"{name}: is not a field of {what}{hint}"
