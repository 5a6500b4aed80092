"""Puts events on the bus of Gazette, in lists: EventBridge charges for entries, not for events.

This file needs boto3 and nothing else: copy it into your service, or install its folder.

    from gazette_events import Producer

    gazette = Producer("shop.comments")
    gazette.put([{"id": "comment-4711", "user_id": "ann", ...}, ...])

Keep one `Producer` for each source; threads may share it.
"""

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import boto3
from botocore.exceptions import BotoCoreError, ClientError

LISTS: Final = frozenset({"event.created"})
"""The detail types of which one entry may carry a list."""

_EVENTS_A_LIST = 100
"""Gazette looks up the readers of a hundred events at once."""

_BYTES_A_LIST = 64_000
"""An entry is billed for each 64 KB that it begins. https://aws.amazon.com/eventbridge/pricing/"""

_ENTRIES_A_CALL = 10
_BYTES_A_CALL = 256_000
"""What every region takes of a call. A single entry that is larger goes alone.
https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html"""

_BYTES_AN_ENTRY = 1_000_000

_PASSING = frozenset({"InternalFailure", "ThrottlingException"})
"""https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsResultEntry.html"""

_LONGEST_PAUSE = 5.0
_BEYOND_NAMES = '{"events":[]}'

Detail = Mapping[str, Any]


@dataclass(frozen=True)
class Refused:
    """A detail that is not on the bus. `code` and `message`: of EventBridge, or of this module.

    `code` is `TooLarge` for a detail of a megabyte or more, `NotJson` for what JSON cannot say.
    """

    detail: Detail
    code: str
    message: str


class NotPut(Exception):
    """Some details are not on the bus; the others are. Put `refused` again: ids make it safe."""

    def __init__(self, bus: str, put: int, refused: list[Refused]) -> None:
        first = refused[0]
        super().__init__(
            f"{len(refused):,} of {put + len(refused):,} details are not on the bus {bus}. The "
            f"first, {first.detail.get('id') or first.detail.get('user_id') or 'without an id'}: "
            f"{first.code}: {first.message}"
        )
        self.put = put
        self.refused = refused


@dataclass(frozen=True)
class _Entry:
    request: dict[str, str]
    details: list[Detail]
    size: int


_Left = tuple[_Entry, str, str]
"""What was refused, with code and message."""


class Producer:
    """Puts what one service says. `source`: its name, such as `shop.comments`.

    `client`: of EventBridge, by default boto3's in the region of the environment; its own retries
    repeat calls that fail as a whole. `attempts`: how often an entry is put that EventBridge
    refuses for now. `sleep` waits so many seconds between them.
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
        """Put every detail, and return how many they were. They may arrive in any order.

        Events go in lists of up to a hundred and 64 KB, other detail types ten a call. What
        EventBridge refuses for now is put again, after a pause that grows. Raises NotPut, with
        each detail that is not on the bus, once all others are; or as soon as a call fails as a
        whole, with all that remain.
        """
        if isinstance(details, Mapping):
            raise TypeError("put takes a list of details, also of one: put([detail]).")
        refused: list[Refused] = []
        calls = _calls(self._entries(detail_type, details, refused))
        put = 0
        for call in calls:
            left, err = self._put(call)
            put += _number(call) - _number(entry for entry, _, _ in left)
            refused += _refused(left)
            if err:
                refused += _refused((each, _code(err), str(err)) for more in calls for each in more)
                raise NotPut(self._bus, put, refused) from err
        if refused:
            raise NotPut(self._bus, put, refused)
        return put

    def _put(self, entries: list[_Entry]) -> tuple[list[_Left], Exception | None]:
        """The entries that were refused for good, or at every attempt, with code and message.

        And the error of a call that failed as a whole; its entries are among them.
        """
        gone: list[_Left] = []
        for attempt in range(self._attempts):
            try:
                answer = self._client.put_events(Entries=[entry.request for entry in entries])
            except (BotoCoreError, ClientError) as err:
                return gone + [(entry, _code(err), str(err)) for entry in entries], err
            told = [
                (entry, result["ErrorCode"], result.get("ErrorMessage", ""))
                for entry, result in zip(entries, answer["Entries"], strict=True)
                if result.get("ErrorCode")
            ]
            for_now = [each for each in told if each[1] in _PASSING]
            gone += [each for each in told if each[1] not in _PASSING]
            if not for_now or attempt + 1 == self._attempts:
                return gone + for_now, None
            self._sleep(random.uniform(0, min(0.1 * 2.0**attempt, _LONGEST_PAUSE)))
            entries = [entry for entry, _, _ in for_now]
        return gone, None

    def _entries(
        self, detail_type: str, details: Iterable[Detail], refused: list[Refused]
    ) -> Iterator[_Entry]:
        """One entry for each list, or for each detail of a type that has none."""
        most = _EVENTS_A_LIST if detail_type in LISTS else 1
        around = len((self._source + detail_type + _BEYOND_NAMES).encode())
        texts: list[str] = []
        held: list[Detail] = []
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
                message = f"It has {grown:,} bytes; an entry has less than {_BYTES_AN_ENTRY:,}."
                refused.append(Refused(detail, "TooLarge", message))
                continue
            if held and (len(held) == most or size + grown > _BYTES_A_LIST):
                yield self._entry(detail_type, texts, held, size)
                texts, held, size = [], [], around
            texts.append(text)
            held.append(detail)
            size += grown
        if held:
            yield self._entry(detail_type, texts, held, size)

    def _entry(
        self, detail_type: str, texts: list[str], details: list[Detail], size: int
    ) -> _Entry:
        alone = len(texts) == 1
        request = {
            "EventBusName": self._bus,
            "Source": self._source,
            "DetailType": detail_type,
            "Detail": texts[0] if alone else f'{{"events":[{",".join(texts)}]}}',
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


def _refused(left: Iterable[_Left]) -> list[Refused]:
    return [
        Refused(detail, code, message) for entry, code, message in left for detail in entry.details
    ]


def _number(entries: Iterable[_Entry]) -> int:
    return sum(len(entry.details) for entry in entries)


def _code(err: Exception) -> str:
    if isinstance(err, ClientError):
        return str(err.response.get("Error", {}).get("Code", "ClientError"))
    return type(err).__name__
