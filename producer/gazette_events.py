"""A client that publishes in lists, because EventBridge charges per entry, not per event.

This file needs only boto3. Copy it into your service, or install its folder.

    from gazette_events import Producer

    gazette = Producer("shop.comments")
    gazette.put([{"id": "comment-4711", "user_id": "ann", ...}, ...])

Keep one `Producer` for each source. Threads may share a `Producer`.
"""

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import boto3
from botocore.exceptions import BotoCoreError, ClientError

LISTS: Final = {
    "entity.seen": "seen",
    "event.created": "events",
    "follow.created": "follows",
    "subscriber.changed": "subscribers",
}
"""The detail types whose entries may contain a list, and the field that contains the list."""

_DETAILS_A_LIST = 100
"""The maximum number of details in a list. Gazette looks up the readers of 100 events at once, and
rejects longer lists of profiles, follows or visits.
"""

_BYTES_A_LIST = 64_000
"""The maximum size of a list. EventBridge bills entries in units of 64 KB.
https://aws.amazon.com/eventbridge/pricing/
"""

_ENTRIES_A_CALL = 10
_BYTES_A_CALL = 256_000
"""The request size that every Region accepts. A larger entry is sent in a separate request.
https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
"""

_BYTES_AN_ENTRY = 1_000_000

_TRANSIENT = frozenset({"InternalFailure", "ThrottlingException"})
"""The error codes after which an entry is retried.
https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsResultEntry.html
"""

_LONGEST_PAUSE = 5.0
_BEYOND_NAMES = '{"":[]}'

Detail = Mapping[str, Any]


@dataclass(frozen=True)
class Refused:
    """A detail that was not published.

    `code` and `message` are from EventBridge or from this module. `code` is `TooLarge` for a detail
    of a megabyte or more, and `NotJson` for a value that JSON cannot represent.
    """

    detail: Detail
    code: str
    message: str


class NotPut(Exception):
    """An error that contains the details that were not published.

    Publish the details in `refused` again later. Event ids prevent duplicates.
    """

    def __init__(self, bus: str, put: int, refused: list[Refused]) -> None:
        first = refused[0]
        super().__init__(
            f"{len(refused):,} of {put + len(refused):,} details were not published to the bus "
            f"{bus}. The first, {first.detail.get('id') or first.detail.get('user_id') or 'no id'}"
            f": {first.code}: {first.message}"
        )
        self.put = put
        self.refused = refused


@dataclass(frozen=True)
class _Entry:
    request: dict[str, str]
    details: list[Detail]
    size: int


_Rejection = tuple[_Entry, str, str]
"""A rejected entry, with its error code and message."""


class Producer:
    """A publisher of one service's events.

    `source` is the service's name, such as `shop.comments`. `client` is an EventBridge client. The
    default is a boto3 client in the environment's Region, which retries requests that fail as a
    whole. `attempts` is the maximum number of times that an entry is sent if its errors are
    transient. `sleep` waits for a number of seconds between attempts.
    """

    def __init__(
        self,
        source: str,
        *,
        bus: str = "gazette",
        client: Any = None,
        attempts: int = 5,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        if attempts < 1:
            raise ValueError("attempts must be 1 or more.")
        self._source = source
        self._bus = bus
        self._client = client or boto3.client("events")
        self._attempts = attempts
        self._sleep = sleep

    def put(self, details: Iterable[Detail], detail_type: str = "event.created") -> int:
        """Publish all details and return their number. Details may arrive in any order.

        Events, profiles, follows and visits (`entity.seen`) are combined into lists of up to 100
        details and 64 KB. Details of other types are sent ten per request. Entries with transient
        errors are retried after an increasing delay. After all other details are published, raise
        NotPut with the failed details. If a request fails as a whole, raise NotPut at once with all
        remaining details.
        """
        if isinstance(details, Mapping):
            raise TypeError("put takes a list of details, even for a single one: put([detail]).")
        refused: list[Refused] = []
        calls = _calls(self._entries(detail_type, details, refused))
        count = 0
        for call in calls:
            rejections, err = self._put(call)
            count += _number(call) - _number(entry for entry, _, _ in rejections)
            refused += _refused(rejections)
            if err:
                refused += _refused((each, _code(err), str(err)) for more in calls for each in more)
                raise NotPut(self._bus, count, refused) from err
        if refused:
            raise NotPut(self._bus, count, refused)
        return count

    def _put(self, entries: list[_Entry]) -> tuple[list[_Rejection], Exception | None]:
        """Send entries. Return the entries that were rejected permanently or at every attempt.

        If a request fails as a whole, also return its entries and the error.
        """
        rejections: list[_Rejection] = []
        for attempt in range(self._attempts):
            try:
                answer = self._client.put_events(Entries=[entry.request for entry in entries])
            except (BotoCoreError, ClientError) as err:
                return rejections + [(entry, _code(err), str(err)) for entry in entries], err
            failures = [
                (entry, result["ErrorCode"], result.get("ErrorMessage", ""))
                for entry, result in zip(entries, answer["Entries"], strict=True)
                if result.get("ErrorCode")
            ]
            transient = [each for each in failures if each[1] in _TRANSIENT]
            rejections += [each for each in failures if each[1] not in _TRANSIENT]
            if not transient or attempt + 1 == self._attempts:
                return rejections + transient, None
            self._sleep(random.uniform(0, min(0.1 * 2.0**attempt, _LONGEST_PAUSE)))
            entries = [entry for entry, _, _ in transient]
        return rejections, None

    def _entries(
        self, detail_type: str, details: Iterable[Detail], refused: list[Refused]
    ) -> Iterator[_Entry]:
        """Yield entries, each with a list of details or, for types without lists, one detail."""
        named = LISTS.get(detail_type, "")
        most = _DETAILS_A_LIST if named else 1
        around = len((self._source + detail_type + named + _BEYOND_NAMES).encode())
        texts: list[str] = []
        batch: list[Detail] = []
        size = around
        for detail in details:
            try:
                text = json.dumps(
                    detail, ensure_ascii=False, allow_nan=False, separators=(",", ":")
                )
                grown = len(text.encode()) + 1
            except (TypeError, ValueError) as err:
                refused.append(Refused(detail, "NotJson", str(err)))
                continue
            if around + grown >= _BYTES_AN_ENTRY:
                message = f"It has {grown:,} bytes; the limit of an entry is {_BYTES_AN_ENTRY:,}."
                refused.append(Refused(detail, "TooLarge", message))
                continue
            if batch and (len(batch) == most or size + grown > _BYTES_A_LIST):
                yield self._entry(detail_type, texts, batch, size)
                texts, batch, size = [], [], around
            texts.append(text)
            batch.append(detail)
            size += grown
        if batch:
            yield self._entry(detail_type, texts, batch, size)

    def _entry(
        self, detail_type: str, texts: list[str], details: list[Detail], size: int
    ) -> _Entry:
        alone, named = len(texts) == 1, LISTS.get(detail_type)
        request = {
            "EventBusName": self._bus,
            "Source": self._source,
            "DetailType": detail_type,
            "Detail": texts[0] if alone else f'{{"{named}":[{",".join(texts)}]}}',
        }
        return _Entry(request, details, size)


def _calls(entries: Iterator[_Entry]) -> Iterator[list[_Entry]]:
    call: list[_Entry] = []
    for entry in entries:
        size = sum(each.size for each in call) + entry.size
        if call and (len(call) == _ENTRIES_A_CALL or size > _BYTES_A_CALL):
            yield call
            call = []
        call.append(entry)
    if call:
        yield call


def _refused(rejections: Iterable[_Rejection]) -> list[Refused]:
    return [
        Refused(detail, code, message)
        for entry, code, message in rejections
        for detail in entry.details
    ]


def _number(entries: Iterable[_Entry]) -> int:
    return sum(len(entry.details) for entry in entries)


def _code(err: Exception) -> str:
    if isinstance(err, ClientError):
        return str(err.response.get("Error", {}).get("Code", "ClientError"))
    return type(err).__name__
