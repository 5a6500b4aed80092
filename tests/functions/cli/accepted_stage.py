"""The stage `prod` on moto as `gazette accept` finds it: its functions work while it waits.

SES is the simulator of the demo: it takes emails, and its events reach feedback.
"""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.exceptions import ClientError
from gazette.adapters.aws.link_keys import SecretKeyStore
from gazette.adapters.aws.queues import decode_run_key
from gazette.domain.errors import Unavailable
from gazette.domain.identity import run_id
from gazette.domain.model import RunKey
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import IngestSettings
from gazette.settings.preferences import PreferencesSettings
from typer.testing import CliRunner, Result

from demo.ses_events import Entry, Taken, entries
from gazette_cli.main import app
from gazette_support.adapters.unsubscribe_links import UnsubscribeLinks
from tests.functions.conftest import Cloud, an_hour_later, make_cold
from tests.functions.deployed import deploy
from tests.functions.messages import envelope, http
from tests.leaving import leaving_everything

RENAMED = ("quarantine", "generate")
"""Queues that the command finds by name, and functions by URL."""

_SENT_TO = ("followers", "shard", "generate", "immediate", "resend")
A_PAUSE = timedelta(minutes=2)
_LOOPS = 20
_FUNCTIONS_ACT = "somebody else"


@dataclass
class AcceptedStage:
    """The stage, as the port `Waiting`: while the command waits, the functions work.

    `delivers` is what reaches feedback of the events of an email, and `answers` is the status that
    the pages answer; tests break both. `sent` are the emails.
    """

    cloud: Cloud
    logs: io.StringIO
    patch: pytest.MonkeyPatch
    skipped: timedelta = timedelta(0)
    sent: list[Taken] = field(default_factory=list)
    delivers: Callable[[Taken], list[Entry]] = entries
    answers: Callable[["AcceptedStage", str, str], int] = field(
        default=lambda stage, method, link: stage.request(method, link)
    )
    clicks_by_hand: str = ""
    """The address at which the operator clicks the link in the email."""

    clicks_after: int = 0
    """The number of letters by SMTP after which the operator clicks."""

    interrupts_in: int = -1
    """The pause at which the operator presses Ctrl-C."""

    sends_again: bool = False
    """True if generate sends the email of a run that is already sent."""

    _reported: int = 0
    _seen: int = 0
    _texts: dict[str, str] = field(default_factory=dict)
    _generated: set[RunKey] = field(default_factory=set)

    def __post_init__(self) -> None:
        for name in RENAMED:
            url = boto3.client("sqs").create_queue(QueueName=f"gazette-prod-{name}")["QueueUrl"]
            self.cloud.queues[name] = url
        boto3.client("sqs").create_queue(QueueName="gazette-prod-generate-dead")
        self.cloud.answers |= {
            "SendEmail": self._send,
            "FilterLogEvents": self._lines,
            "DeleteSuppressedDestination": lambda _: {},
        }

    def now(self) -> datetime:
        return datetime.now(UTC) + self.skipped

    def until(self, instant: datetime) -> None:
        with self.acting():
            self._work()
            self.skipped += max(timedelta(0), instant - self.now())
            self.cloud.invoke("fanout", {"time": instant.isoformat()})
            self._work()

    def pause(self) -> None:
        self.interrupts_in -= 1
        if self.interrupts_in == 0:
            raise KeyboardInterrupt
        with self.acting():
            self._work()
        for letter in self.cloud.letters:
            if "leaves" in dict(letter.tags)["run"] and self.clicks_after <= len(
                self.cloud.letters
            ):
                self._texts[letter.to] = letter.edition.text
        if self.clicks_by_hand and (text := self._texts.pop(self.clicks_by_hand, "")):
            self.request("POST", leaving_everything(text))
        self.skipped += A_PAUSE

    def request(self, method: str, link: str) -> int:
        """The status of the answer of the preference pages."""
        body = "List-Unsubscribe=One-Click" if method == "POST" else ""
        form = "application/x-www-form-urlencoded" if body else ""
        event = http(method, urlsplit(link).path, body, form)
        with self.acting():
            return int(self.cloud.invoke("preferences", event)["statusCode"])

    @contextmanager
    def acting(self) -> Iterator[None]:
        """The functions act, and print their metrics elsewhere."""
        with redirect_stdout(io.StringIO()), self.cloud.meter.acting(_FUNCTIONS_ACT):
            yield

    def hides_links_secret(self) -> None:
        """The command may not read the link keys. The functions may."""
        real = SecretKeyStore.read

        def read(store: SecretKeyStore) -> Any:
            if not self.cloud.meter.actor:
                denied = ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetSecretValue")
                raise Unavailable("The link keys cannot be read") from denied
            return real(store)

        self.patch.setattr(SecretKeyStore, "read", read)

    def emails(self, role: str) -> list[Taken]:
        """The emails to a synthetic reader."""
        return [each for each in self.sent if f"-{role}@" in each.to]

    def _send(self, request: dict[str, Any]) -> dict[str, Any]:
        (to,) = request["Destination"]["ToAddresses"]
        taken = Taken(
            message_id=f"0100-m{len(self.sent)}",
            sender=request["FromEmailAddress"],
            to=to,
            tags={tag["Name"]: tag["Value"] for tag in request["EmailTags"]},
            configuration_set=request["ConfigurationSetName"],
            at=datetime.now(UTC),
        )
        self.sent.append(taken)
        self._texts[to] = request["Content"]["Simple"]["Body"]["Text"]["Data"]
        return {"MessageId": taken.message_id}

    def _lines(self, request: dict[str, Any]) -> dict[str, Any]:
        _, name, _ = request["filterPattern"].split('"')
        found = [line for line in self.logs.getvalue().splitlines() if name in line]
        return {"events": [{"message": line} for line in found]}

    def _work(self) -> None:
        """The functions work until there is nothing left to do."""
        for _ in range(_LOOPS):
            bodies = list(self._new_messages())
            events = self._new_events()
            for step, body in bodies:
                if self.sends_again and step == "generate":
                    self._send_again(decode_run_key(body))
                self.cloud.invoke(step, {"Records": [_record(body)]})
            for event in events:
                self.cloud.work("feedback", event)
            if not bodies and not events:
                return
        pytest.fail("the functions do not come to an end")

    def _send_again(self, key: RunKey) -> None:
        """Send the email of a run that was sent before a second time."""
        if key in self._generated:
            first = next(each for each in self.sent if each.tags["run"] == run_id(key))
            self.sent.append(replace(first, message_id="0100-again"))
        self._generated.add(key)

    def _new_events(self) -> list[str]:
        new, self._reported = self.sent[self._reported :], len(self.sent)
        return [
            json.dumps(
                {
                    "version": "0",
                    "source": entry["Source"],
                    "detail-type": entry["DetailType"],
                    "detail": json.loads(entry["Detail"]),
                }
            )
            for taken in new
            for entry in self.delivers(taken)
        ]

    def _new_messages(self) -> Iterator[tuple[str, str]]:
        requests = self.cloud.meter.requests
        new, self._seen = requests[self._seen :], len(requests)
        steps = {self.cloud.queues[name]: name for name in _SENT_TO}
        for name, request in new:
            if name == "events.PutEvents":
                for entry in request["Entries"]:
                    detail = json.loads(entry["Detail"])
                    yield "ingest", envelope(entry["DetailType"], detail, source=entry["Source"])
            if name in {"sqs.SendMessage", "sqs.SendMessageBatch"}:
                step = steps.get(request["QueueUrl"])
                for entry in request.get("Entries", [request]):
                    if step:
                        yield _FUNCTIONS.get(step, step), entry["MessageBody"]


_FUNCTIONS = {"shard": "fanout", "immediate": "generate"}


def _record(body: str) -> dict[str, Any]:
    return {
        "messageId": "m",
        "receiptHandle": "r",
        "body": body,
        "attributes": {"ApproximateReceiveCount": "1"},
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:queue",
        "awsRegion": "us-east-1",
    }


def accepted_stage(
    cloud: Cloud, logs: io.StringIO, monkeypatch: pytest.MonkeyPatch, **settings: str
) -> AcceptedStage:
    """Deploy the functions whose settings the command reads, beside those of `gazette doctor`."""
    stage = AcceptedStage(cloud, logs, monkeypatch)
    for name in RENAMED:
        monkeypatch.setenv(f"GAZETTE_{name.upper()}_QUEUE_URL", cloud.queues[name])
    for variable, value in settings.items():
        monkeypatch.setenv(f"GAZETTE_{variable.upper()}", value)
    deploy("ingest", IngestSettings.from_env().to_env())
    deploy("feedback", FeedbackSettings.from_env().to_env())
    deploy("preferences", PreferencesSettings.from_env().to_env())
    make_cold()
    an_hour_later(monkeypatch)
    monkeypatch.setattr("gazette_cli.accept.command.Sleeping", lambda: stage)
    monkeypatch.setattr("gazette.adapters.aws.dead_letters.queues.POLL", 0)
    monkeypatch.setattr("gazette.adapters.aws.dead_letters.transfer._FRUITLESS", 1)
    monkeypatch.setattr(
        UnsubscribeLinks,
        "_status",
        lambda _, request: stage.answers(stage, request.get_method(), request.full_url),
    )
    cloud.meter.clear()
    return stage


def accept(*arguments: str, said: str | None = None) -> Result:
    """Run the command. It is asked nothing, unless `said` answers."""
    confirmed = [] if said else ["--yes"]
    return CliRunner().invoke(app, ["accept", *confirmed, *arguments], input=said)
