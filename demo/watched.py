"""A day and a half of a stage on the embedded engine, from an operator's perspective.

The messages are the first messages of the demo's week. Unlike in `make demo`, the clock ticks for
fan-out and the sweep at every hour with a due digest, one reader in five chose immediate emails,
and SES delivery events arrive. `_chance` selects a few faults, which are the same in every run:
mailboxes that do not exist, servers that reject the sender, complaints, unsubscribes, and lost SES
responses.
"""

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gazette.domain.scheduling.calendar import Recurrence, next_occurrence, slot_of

from demo import campus
from demo.engine import deploy, running
from demo.replay import SETTLE_SECONDS, Progress
from demo.service import Service
from demo.ses import Accepted, Chances, StandIn
from demo.ses_events import Entry, Publish, default_bus
from demo.written import Value, written
from gazette_cdk.topology import STEPS

HOURS = 36
LOST_ANSWERS = 0.01
_QUEUES = ("shard", "generate", "immediate", "sweep", "feedback")
_ONE_CLICK = b"List-Unsubscribe=One-Click"
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True, slots=True)
class Watched:
    """The metrics that the functions wrote, and the numbers of messages, ticks and emails."""

    values: Sequence[Value] = field(repr=False)
    day: date
    begin: datetime
    hours: int
    students: int
    messages: int
    strikes: int
    emails: int


def watch(folder: Path, progress: Progress) -> Watched:
    """Deploy a stage, run it for the hours, and return the metrics of its functions.

    Omit the metrics of the first tick, which also sends digests that were due before midnight.
    """
    week = [message for message in campus.messages() if message.day < ceil(HOURS / 24)]
    students = sorted({message.target for message in week})
    with (
        StandIn(chances=Chances(close=LOST_ANSWERS)) as ses,
        running(ses_url=ses.url, folder=folder) as engine,
    ):
        outputs = deploy(engine, folder, base_url=ses.url)
        service = Service.at(engine, outputs)
        ses.publish = with_faults(default_bus(service.events))

        def unsubscribe(path: str) -> None:
            engine.request(outputs["PreferencesUrl"], "POST", path, _FORM, _ONE_CLICK)

        now = datetime.now(UTC)
        begin = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
        service.put("subscriber.changed", (_profile(student, now) for student in students))
        service.wait_until_drained("ingest")
        progress(f"{len(students)} students registered")
        count = handled = 0
        before = begin
        strikes = slots(begin)
        for slot in strikes:
            some = [each for each in week if before <= _at(each, begin) < slot]
            count += _put(service, some, begin.date())
            service.set_clock(slot)
            service.tick(slot)
            service.tick(slot, "sweep")
            service.wait_until_drained(*_QUEUES)
            _leave(ses.accepted[handled:], unsubscribe)
            handled = len(ses.accepted)
            before = slot
            progress(f"{slot:%d %B %H:%M}: {handled} emails so far")
        values = written(service, *(step.name for step in STEPS))
        return Watched(
            [value for value in values if value.at >= strikes[1]],
            day=now.date(),
            begin=begin,
            hours=HOURS,
            students=len(students),
            messages=count,
            strikes=len(strikes),
            emails=handled,
        )


def slots(begin: datetime) -> list[datetime]:
    """Return the slots within the hours from `begin` in which a digest is due in some zone."""
    end = begin + timedelta(hours=HOURS)
    due_slots = set()
    for zone in campus.ZONES:
        due = next_occurrence(Recurrence(campus.DIGEST_HOUR, 0, zone), after=begin)
        while due < end:
            due_slots.add(slot_of(due))
            due = next_occurrence(Recurrence(campus.DIGEST_HOUR, 0, zone), after=due)
    return sorted(due_slots)


def _at(message: campus.Message, begin: datetime) -> datetime:
    return begin + timedelta(days=message.day, minutes=message.minute_of_day)


def _put(service: Service, messages: Sequence[campus.Message], first_day: date) -> int:
    """Publish the messages, and wait until the immediate emails are sent."""
    count = service.put(
        "event.created", (campus.event_created(each, first_day) for each in messages)
    )
    service.wait_until_drained("ingest", "immediate", "feedback")
    time.sleep(SETTLE_SECONDS)
    return count


def _profile(student: int, now: datetime) -> dict[str, Any]:
    at_once = {"frequencies": {"message": "immediate"}} if student % 5 == 0 else {}
    return campus.subscriber_changed(student, now) | at_once


def _leave(mails: Iterable[Accepted], unsubscribe: Callable[[str], None]) -> None:
    """Unsubscribe three in a hundred readers, as mail programs do."""
    for mail in mails:
        if _chance(mail.to, "leaves") < 0.03:
            unsubscribe(urlsplit(str(mail.message["List-Unsubscribe"]).strip("<>")).path)


def with_faults(publish: Publish) -> Publish:
    """Return `publish` with a few bounces and complaints, which are the same in every run."""

    def put(some: Sequence[Entry]) -> None:
        remaining = _faulty(some)
        while ten := list(islice(remaining, 10)):
            publish(ten)

    return put


def _faulty(some: Sequence[Entry]) -> Iterator[Entry]:
    """Yield SES events, in which some deliveries are replaced with bounces and a few complaints are
    added.
    """
    for entry in some:
        record = json.loads(entry["Detail"])
        (to,) = record["mail"]["destination"]
        status = "5.1.1" if _chance(to, "gone") < 0.015 else ""
        (run,) = record["mail"]["tags"]["run"]
        if _chance(run, "refused") < 0.005:
            status = "5.7.26"
        if record["eventType"] != "Delivery":
            yield entry
        elif status:
            yield _entry(record, "Email Bounced", "Bounce", _bounce(to, status, record))
        else:
            yield entry
            if _chance(to, "complains") < 0.006:
                complaint = {"timestamp": record["mail"]["timestamp"], "feedbackId": "f"}
                complaint |= {"complainedRecipients": [{"emailAddress": to}]}
                yield _entry(record, "Email Complaint Received", "Complaint", complaint)


def _bounce(to: str, status: str, record: dict[str, Any]) -> dict[str, Any]:
    return {
        "timestamp": record["mail"]["timestamp"],
        "bounceType": "Permanent",
        "bounceSubType": "General",
        "bouncedRecipients": [{"emailAddress": to, "action": "failed", "status": status}],
        "feedbackId": "f",
        "reportingMTA": "dsn; mta.campus.example",
    }


def _entry(record: dict[str, Any], detail_type: str, event_type: str, content: Any) -> Entry:
    about = {"eventType": event_type, "mail": record["mail"], event_type.lower(): content}
    return {"Source": "aws.ses", "DetailType": detail_type, "Detail": json.dumps(about)}


def _chance(of: str, what: str) -> float:
    """Return a draw from 0 to 1 that is always the same for the same reader and purpose."""
    return random.Random(f"{of} {what}").random()
