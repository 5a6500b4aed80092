"""The consumer of docs/feed-your-warehouse.md behind the deployed stacks, killed repeatedly."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from gazette.domain.events_out.events import EventType
from gazette.domain.scheduling.calendar import slot_id, slot_of

from demo.ses import Accepted
from demo.ses_events import default_bus
from tests import warehouse
from tests.e2e.conftest import judged_stage
from tests.e2e.test_comes_back import delivery, now, put, record, row
from tests.leaving import leaving_everything
from tests.stage import Deployed, a_comment, a_profile, next_due

pytestmark = pytest.mark.long

READERS = [f"reader{number}" for number in range(8)]
PATTERN = json.dumps({"source": ["gazette.local"]})
_PATIENCE = 180.0


@pytest.fixture(scope="module")
def publishing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """A stage of its own, so that the statistics are those of this consumer."""
    folder = tmp_path_factory.mktemp("publishing")
    with judged_stage(folder, Path(__file__), events_out=[*EventType]) as deployed:
        yield deployed


def subscribe(deployed: Deployed, name: str) -> str:
    """A queue behind a rule on the bus of events out. A message comes back after two seconds."""
    service = deployed.service
    url = service.queues.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "2"})[
        "QueueUrl"
    ]
    arn = service.queues.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    bus = "gazette-local-out"
    service.events.put_rule(EventBusName=bus, Name=name, EventPattern=PATTERN)
    service.events.put_targets(
        EventBusName=bus,
        Rule=name,
        Targets=[{"Id": "queue", "Arn": arn["Attributes"]["QueueArn"]}],
    )
    return url


@contextmanager
def consumer(deployed: Deployed, url: str, file: Path) -> Iterator[list[int]]:
    """Run the program of the page, and kill it at random moments; yield the process ids."""
    program = file.with_suffix(".py")
    program.write_text(warehouse.program())
    over, started = Event(), list[int]()
    drawn = random.Random(7)

    def run() -> None:
        while not over.is_set():
            process = subprocess.Popen(
                [sys.executable, str(program), url, str(file)],
                env={**os.environ, **deployed.engine.environment},
            )
            started.append(process.pid)
            over.wait(drawn.uniform(1.5, 6))
            process.send_signal(signal.SIGKILL)
            process.wait()

    thread = Thread(target=run)
    thread.start()
    try:
        yield started
    finally:
        over.set()
        thread.join()


def outcomes(deployed: Deployed) -> dict[str, Accepted]:
    """Report what became of the emails: some clicked, one bounced, one complained."""
    mails = {user: deployed.inbox(user)[0] for user in READERS}
    for user in READERS[:6]:
        put(deployed, "Email Delivered", delivery(mails[user]))
    for user in READERS[:3]:
        told = {"timestamp": now(), "link": "https://example.com/p1", "linkTags": None}
        put(deployed, "Email Clicked", record("Click", mails[user], {"click": told}))
    for user, kind, name, about in (
        (READERS[6], "Email Bounced", "Bounce", BOUNCE),
        (READERS[5], "Email Complaint Received", "Complaint", COMPLAINT),
    ):
        detail = {name.lower(): {**about, "timestamp": now()}}
        put(deployed, kind, record(name, mails[user], detail))
    return mails


BOUNCE: dict[str, Any] = {
    "bounceType": "Permanent",
    "bounceSubType": "General",
    "bouncedRecipients": [],
    "feedbackId": "f1",
}
COMPLAINT: dict[str, Any] = {
    "complaintFeedbackType": "abuse",
    "complainedRecipients": [],
    "feedbackId": "f2",
}


def statistics(deployed: Deployed, due: datetime) -> dict[str, int]:
    """The totals that the command shows, in the words of the consumer."""
    told = json.loads(deployed.gazette("statistics", "--batch", slot_id(slot_of(due)), "--json"))
    (total,) = (each for each in told["emails"] if each["group"] == "total")
    kinds = ("sent", "delivered", "bounced", "complained", "clicked")
    return {kind: total[kind] for kind in kinds if total[kind]}


def choices_in(db: sqlite3.Connection) -> dict[str, dict[str, str]]:
    """The choices by reader, of the digest's times only an hour that is not the default."""
    return {
        user: {
            name: text
            for name, text in each.items()
            if not name.startswith("digest.") or (name, text) == ("digest.hour", "9")
        }
        for user, each in warehouse.choices(db).items()
    }


def test_killed_consumer_rebuilds_statistics_and_choices(
    publishing: Deployed, tmp_path: Path
) -> None:
    deployed, service = publishing, publishing.service
    url, everything = subscribe(deployed, "warehouse"), subscribe(deployed, "everything")
    file = tmp_path / "warehouse.db"
    with consumer(deployed, url, file) as started:
        deployed.ses.publish = default_bus(service.events)
        service.put("subscriber.changed", [a_profile(user) for user in READERS])
        service.put("event.created", [a_comment(user, 1) for user in READERS])
        deployed.settle()
        due = next_due()
        deployed.tick(due)
        service.wait_until_drained("feedback")
        mails = outcomes(deployed)
        chosen: list[tuple[str, dict[str, Any]]] = [
            ("reader0", {"frequencies": {"like": "never", "comment": "weekly"}}),
            ("reader0", {"frequencies": {"comment": "default"}, "digest": {"hour": 9}}),
            ("reader1", {"frequency": "weekly", "time_zone": "Asia/Tokyo"}),
        ]
        for user, choice in chosen:
            at = {"user_id": user, "chosen_at": datetime.now().astimezone().isoformat()}
            service.put("preferences.chosen", [{**at, **choice}])
            deployed.settle()
        link = leaving_everything(mails["reader2"].part("plain"))
        assert deployed.request(link, b"List-Unsubscribe=One-Click")[0] == 200
        service.wait_until_drained("feedback", "ingest")

        expected = statistics(deployed, due)
        assert expected == {
            "sent": 8,
            "delivered": expected["delivered"],
            "bounced": 1,
            "complained": 1,
            "clicked": 3,
        }
        away = {
            "reader2": "subscriber.left",
            "reader5": "subscriber.suppressed",
            "reader6": "subscriber.suppressed",
        }
        ends_at = time.monotonic() + _PATIENCE
        own = {
            "reader0": {"frequencies.like": "never", "digest.hour": "9"},
            "reader1": {"frequency": "weekly", "time_zone": "Asia/Tokyo"},
            **{user: {} for user in READERS[2:]},
        }
        known: Any = None
        while known != (expected, away, own) and time.monotonic() < ends_at:
            time.sleep(1)
            with suppress(Exception), warehouse.opened(str(file)) as db:
                known = warehouse.totals(db), warehouse.away(db), choices_in(db)
        assert known == (expected, away, own)
        assert len(started) > 5, "the consumer was not killed"

    for user in READERS:
        status = {"subscriber.left": "unsubscribed", "subscriber.suppressed": "suppressed"}
        stored = row(deployed, "subscribers", user_id=user)["status"]
        assert stored == status.get(away.get(user, ""), "active")
    told = list(bodies(deployed, everything))
    assert len(told) >= sum(expected.values())
    assert [each for each in told if "@" in each] == []


def bodies(deployed: Deployed, url: str) -> Iterator[str]:
    """Every message on a queue."""
    queues = deployed.service.queues
    while messages := queues.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        for message in messages:
            yield message["Body"]
            queues.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
