"""The events that the stand-in for SES publishes: late, twice, or not at all."""

import heapq
import itertools
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

_ENTRIES_A_CALL = 10

Entry = Mapping[str, Any]
"""An entry of PutEvents without EventBusName, which means the default bus."""

Publish = Callable[[Sequence[Entry]], object]
"""A function that publishes up to ten entries. If it raises, the error is kept; events are lost."""


@dataclass(frozen=True, slots=True)
class Channel:
    """The delivery of events. The shares are 0 to 1, drawn by `seed` and the event's message.

    Each event, and each copy, takes up to `delay`, so it may overtake others. `reordered` is the
    share of messages whose last event is published first.
    """

    delay: timedelta = timedelta(0)
    duplicated: float = 0.0
    lost: float = 0.0
    reordered: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """The data of a message in its events: id, sender, recipient, tags, and time."""

    message_id: str
    sender: str
    to: str
    tags: Mapping[str, str]
    configuration_set: str
    at: datetime


class NotPut(Exception):
    """A failure to publish events of SES to the bus."""


def default_bus(events: "EventBridgeClient") -> Publish:
    """Return a function that publishes to the embedded engine's default bus (engine_start)."""

    def publish(some: Sequence[Entry]) -> None:
        answer = events.put_events(
            Entries=[
                {
                    "Source": entry["Source"],
                    "DetailType": entry["DetailType"],
                    "Detail": entry["Detail"],
                }
                for entry in some
            ]
        )
        if answer["FailedEntryCount"]:
            raise NotPut(f"The default bus rejected events of SES: {answer['Entries']}")

    return publish


def chance(of: str, seed: int, to: str, tags: Mapping[str, str]) -> Random:
    """Return equal draws `of` something for equal messages, whatever the order of messages."""
    return Random(f"{of} {seed} {to} {sorted(tags.items())}")


def entries(taken: Taken) -> list[Entry]:
    """Return SES's events of a message, in their order.

    Names: https://docs.aws.amazon.com/eventbridge/latest/ref/events-ref-ses.html
    `detail`: https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
    """
    delivery = {
        "recipients": [taken.to],
        "smtpResponse": "250 OK",
        "timestamp": _instant(taken.at),
        "processingTimeMillis": 0,
    }
    return [
        _entry(taken, "Email Sent", "Send", {"send": {}}),
        _entry(taken, "Email Delivered", "Delivery", {"delivery": delivery}),
    ]


def travelling(made: Sequence[Entry], channel: Channel, dice: Random) -> Iterator[Entry]:
    """Yield the events of a message that are published, in the order of publishing."""
    for entry in reversed(made) if dice.random() < channel.reordered else made:
        is_lost, twice = dice.random() < channel.lost, dice.random() < channel.duplicated
        yield from [entry] * (0 if is_lost else 2 if twice else 1)


def _entry(taken: Taken, detail_type: str, event_type: str, about: Mapping[str, Any]) -> Entry:
    tags = {name: [value] for name, value in taken.tags.items()}
    mail = {
        "timestamp": _instant(taken.at),
        "messageId": taken.message_id,
        "source": taken.sender,
        "destination": [taken.to],
        "headersTruncated": False,
        "tags": {"ses:configuration-set": [taken.configuration_set], **tags},
    }
    return {
        "Source": "aws.ses",
        "DetailType": detail_type,
        "Detail": json.dumps({"eventType": event_type, "mail": mail, **about}),
    }


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


class Postman:
    """A thread that passes entries to `publish`. Use it as a context manager."""

    def __init__(self, publish: Callable[[], Publish | None], channel: Channel) -> None:
        self.failures: list[Exception] = []
        self._publish = publish
        self._channel = channel
        self._waiting: list[tuple[float, int, Entry]] = []
        self._number = itertools.count()
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Postman":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End after the current call. Entries that still wait are lost."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join()

    def carry(self, taken: Taken) -> None:
        """Schedule the events of a message and return. Do nothing if there is no `publish`."""
        if self._publish() is None:
            return
        dice = chance("events", self._channel.seed, taken.to, taken.tags)
        now = monotonic()
        with self._changed:
            for entry in travelling(entries(taken), self._channel, dice):
                due = now + self._channel.delay.total_seconds() * dice.random()
                heapq.heappush(self._waiting, (due, next(self._number), entry))
            self._changed.notify()

    def _run(self) -> None:
        while some := self._next():
            publish = self._publish()
            try:
                if publish is not None:
                    publish(some)
            except Exception as err:  # noqa: BLE001 - the owner's bus may fail in any way, or be gone
                self.failures.append(err)

    def _next(self) -> list[Entry]:
        """Return up to ten due entries as soon as there are any; none at the end."""
        with self._changed:
            while not self._ended:
                now = monotonic()
                if self._waiting and self._waiting[0][0] <= now:
                    some: list[Entry] = []
                    while self._waiting and self._waiting[0][0] <= now:
                        some.append(heapq.heappop(self._waiting)[2])
                        if len(some) == _ENTRIES_A_CALL:
                            break
                    return some
                self._changed.wait(self._waiting[0][0] - now if self._waiting else None)
        return []
