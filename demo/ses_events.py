"""The events that the stand-in for SES publishes, which may be late, duplicated, or lost."""

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

from demo.ses_simulator import bounce_record, bounce_subtype, complains, complaint_record

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

_ENTRIES_A_CALL = 10

Entry = Mapping[str, Any]
"""An entry of PutEvents without EventBusName, which means the default bus."""

Publish = Callable[[Sequence[Entry]], object]
"""A function that publishes up to ten entries.

If it raises an error, the error is recorded and the events are lost.
"""


@dataclass(frozen=True, slots=True)
class Channel:
    """The behaviour of event delivery.

    The shares are from 0 to 1, and draws depend on `seed` and the event's message. Each event and
    each copy is delayed by up to `delay`, so events may overtake others. `reordered` is the share
    of messages whose last event is published first.
    """

    delay: timedelta = timedelta(0)
    duplicated: float = 0.0
    lost: float = 0.0
    reordered: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """The data of a message that its events contain: id, sender, recipient, tags, and time."""

    message_id: str
    sender: str
    to: str
    tags: Mapping[str, str]
    configuration_set: str
    at: datetime


class NotPut(Exception):
    """An error in publishing SES events to the bus."""


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
    """Return a random generator whose draws depend only on `of`, `seed` and the message, not on the
    order of messages.
    """
    return Random(f"{of} {seed} {to} {sorted(tags.items())}")


def entries(taken: Taken) -> list[Entry]:
    """Return the SES events of a message, in order. Addresses of the mailbox simulator bounce or
    complain.

    Names: https://docs.aws.amazon.com/eventbridge/latest/ref/events-ref-ses.html `detail`:
    https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
    """
    sent = _entry(taken, "Email Sent", "Send", {"send": {}})
    at = _instant(taken.at)
    if subtype := bounce_subtype(taken.to):
        bounce = bounce_record(taken.to, subtype, at)
        return [sent, _entry(taken, "Email Bounced", "Bounce", {"bounce": bounce})]
    delivery = {
        "recipients": [taken.to],
        "smtpResponse": "250 OK",
        "timestamp": at,
        "processingTimeMillis": 0,
    }
    made = [sent, _entry(taken, "Email Delivered", "Delivery", {"delivery": delivery})]
    if complains(taken.to):
        complaint = complaint_record(taken.to, at)
        entry = _entry(taken, "Email Complaint Received", "Complaint", {"complaint": complaint})
        made.append(entry)
    return made


def travelling(made: Sequence[Entry], channel: Channel, dice: Random) -> Iterator[Entry]:
    """Yield the events of a message that are published, in publishing order."""
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
    """A context manager with a thread that passes entries to `publish`."""

    def __init__(self, publish: Callable[[], Publish | None], channel: Channel) -> None:
        self.failures: list[Exception] = []
        self._publish = publish
        self._channel = channel
        self._waiting: list[tuple[float, int, Entry]] = []
        self._number = itertools.count()
        self._changed = threading.Condition()
        self._publishing = False
        self._ended = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Postman":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the thread after the current call. Entries that are still waiting are lost."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join()

    def carry(self, taken: Taken) -> None:
        """Schedule the events of a message without waiting. Do nothing if `publish` is not set."""
        if self._publish() is None:
            return
        dice = chance("events", self._channel.seed, taken.to, taken.tags)
        now = monotonic()
        with self._changed:
            for entry in travelling(entries(taken), self._channel, dice):
                due = now + self._channel.delay.total_seconds() * dice.random()
                heapq.heappush(self._waiting, (due, next(self._number), entry))
            self._changed.notify()

    def wait_until_carried(self) -> None:
        """Wait until all scheduled entries are published."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and not self._publishing)

    def _run(self) -> None:
        while some := self._next():
            publish = self._publish()
            try:
                if publish is not None:
                    publish(some)
            except Exception as err:  # noqa: BLE001 - the owner's bus may fail in any way, or be gone
                self.failures.append(err)

    def _next(self) -> list[Entry]:
        """Return up to ten due entries as soon as there are any, or no entries at the end."""
        with self._changed:
            self._publishing = False
            self._changed.notify_all()
            while not self._ended:
                now = monotonic()
                if self._waiting and self._waiting[0][0] <= now:
                    some: list[Entry] = []
                    while self._waiting and self._waiting[0][0] <= now:
                        some.append(heapq.heappop(self._waiting)[2])
                        if len(some) == _ENTRIES_A_CALL:
                            break
                    self._publishing = True
                    return some
                self._changed.wait(self._waiting[0][0] - now if self._waiting else None)
        return []
