"""A stage that sends by SMTP hears from its provider through the bus and through the API.

The server takes each message and closes the connection without an answer, so every outcome is
unknown. Then the program of docs/delivery-events.md passes on the webhooks of the provider.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest
from gazette.adapters.aws.clients import forget
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.feedback.reports import REFERENCE_HEADER, Prover
from gazette.domain.identity import address_hash
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_id, slot_of
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus

from demo.client import as_client_of
from tests.e2e.conftest import judged_stage
from tests.mailgun import BY_THE_API, PROGRAM, failure, webhook
from tests.scripted_smtp import CLOSES, ScriptedSmtp
from tests.stage import Deployed, a_comment, a_profile, next_due

DELIVERED, CLICKED, BOUNCED, COMPLAINED, FORGED, FOREIGN, SILENT = OF_THE_BUS = (
    "delivered",
    "clicked",
    "bounced",
    "complained",
    "forged",
    "foreign",
    "silent",
)
ARRIVED, OPENED, REFUSED, JUNKED, FAKED, ALTERED = OF_THE_API = (
    "arrived",
    "opened",
    "refused",
    "junked",
    "faked",
    "altered",
)
READERS = OF_THE_BUS + OF_THE_API


@dataclass
class BySmtp:
    """The stage, and the server that never answers."""

    deployed: Deployed
    server: ScriptedSmtp
    api: str
    """The address of the API for services."""

    def emails(self) -> Mapping[str, EmailMessage]:
        """The email of each reader, as the server took it."""
        parsed = [message_from_bytes(each, policy=policy.default) for each in self.server.messages]
        assert len(parsed) == len({str(each["To"]) for each in parsed})
        return {str(each["To"]).partition("@")[0]: each for each in parsed}

    def runs(self) -> Mapping[str, Run]:
        """The only run of each reader."""
        table = self.deployed.service.settings("feedback")["GAZETTE_RUNS_TABLE"]
        with as_client_of(self.deployed.engine):
            forget()
            stored = DynamoRuns(table, retention=timedelta(days=200))
            found = {user: [*stored.of_user(user)] for user in READERS}
        forget()
        runs = {user: run for user, (run,) in found.items() if isinstance(run, Run)}
        assert len(runs) == len(READERS)
        return runs

    def statuses(self) -> Mapping[str, SubscriberStatus]:
        """The status of each reader."""
        table = self.deployed.service.settings("feedback")["GAZETTE_SUBSCRIBERS_TABLE"]
        with as_client_of(self.deployed.engine):
            forget()
            found = {user: DynamoSubscribers(table).get(user) for user in READERS}
        forget()
        return {user: each.status for user, each in found.items() if isinstance(each, Subscriber)}

    def publish(self, detail: Mapping[str, Any], *, source: str = PROGRAM.SOURCE) -> None:
        """Publish a delivery event twice, as a bus may."""
        entry: Any = {
            "EventBusName": self.deployed.service.bus,
            "Source": source,
            "DetailType": "delivery.reported",
            "Detail": json.dumps(detail),
        }
        answer: Any = self.deployed.service.events.put_events(Entries=[entry, entry])
        assert answer["FailedEntryCount"] == 0

    def report(self, detail: Mapping[str, Any]) -> None:
        """Report a delivery event to the API twice, as a provider may repeat a webhook."""
        with as_client_of(self.deployed.engine), pytest.MonkeyPatch.context() as patch:
            patch.setenv("GAZETTE_SERVICES_URL", self.api)
            assert BY_THE_API.publish(detail)
            assert BY_THE_API.publish(detail)

    def rejection(self, detail: Mapping[str, Any]) -> tuple[int, Any]:
        """The status and the problem document of a report that the API rejects."""
        with pytest.raises(HTTPError) as refused:
            self.report(detail)
        return refused.value.code, json.loads(refused.value.read())

    def proven(self, run: RunKey, attempt: int, to: str) -> str:
        """A proven reference that no email has."""
        settings = self.deployed.service.settings("feedback")
        with as_client_of(self.deployed.engine):
            forget()
            key = read_suppression_key(settings["GAZETTE_SUPPRESSIONS_SECRET"])
        forget()
        prover = Prover(key=key, installation=settings["GAZETTE_INSTALLATION"])
        return str(prover.reference(run, attempt, datetime.now(UTC), address_hash(to)))

    def quarantined(self) -> list[str]:
        """The reasons in the quarantine."""
        kept = json.loads(self.deployed.gazette("quarantine", "list", "--json"))["events"]
        return [each["reason"] for each in kept]

    def hear(self, event: str, user: str, **more: Any) -> dict[str, Any]:
        """What the program makes of a webhook about the email of a reader."""
        mail = self.emails()[user]
        message_id = str(mail["Message-ID"]).strip("<>")
        at = datetime.now(UTC).timestamp() + 120
        request = webhook(event, message_id, f"{user}@example.com", at, **more)
        detail: dict[str, Any] = PROGRAM.delivery_event(json.loads(request["body"])["event-data"])
        assert detail["reference"].startswith(mail[REFERENCE_HEADER])
        return detail


@pytest.fixture(scope="module")
def by_smtp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BySmtp]:
    """Each reader's digest was handed over, and every outcome is unknown."""
    server = ScriptedSmtp({"end": CLOSES})
    folder = tmp_path_factory.mktemp("smtp")
    with (
        server.served() as where,
        judged_stage(
            folder,
            Path(__file__),
            mail_provider="smtp",
            smtp_host=where.host,
            smtp_port=where.port,
            smtp_security=where.security,
            unknown_policy="carry_over",
            emails_per_second=50,
            immediate_sender="Now <now@campus.example>",
            sandbox=False,
            track_clicks=False,
            feedback_window=1,
            sources={"delivery.reported": [PROGRAM.SOURCE]},
            services_api={"requests_per_second": 50},
        ) as deployed,
    ):
        deployed.service.put("subscriber.changed", [a_profile(user) for user in READERS])
        deployed.service.put("event.created", [a_comment(user, 1) for user in READERS])
        deployed.settle()
        deployed.tick(next_due())
        stacks = json.loads((folder / "outputs.json").read_text()).values()
        (url,) = [stack["ServicesUrl"] for stack in stacks if "ServicesUrl" in stack]
        api = urlsplit(url).netloc.partition(".")[0]
        path = f"_aws/execute-api/{api}/$default"
        yield BySmtp(deployed, server, f"{deployed.engine.url}/{path}")


def test_delivery_reports_settle_suppress_and_count(by_smtp: BySmtp) -> None:
    unknown = by_smtp.runs()
    assert {run.status for run in unknown.values()} == {Status.UNKNOWN}

    by_smtp.publish(by_smtp.hear("delivered", DELIVERED))
    by_smtp.publish(by_smtp.hear("clicked", CLICKED))
    by_smtp.publish(by_smtp.hear("delivered", CLICKED))
    by_smtp.publish(by_smtp.hear("failed", BOUNCED, **failure("permanent", "5.1.1")))
    by_smtp.publish(by_smtp.hear("complained", COMPLAINED))
    forged = by_smtp.hear("delivered", FORGED)
    reference = str(forged["reference"]).partition("@")[0]
    by_smtp.publish({**forged, "reference": f"{reference[:-32]}{'0' * 32}"})
    by_smtp.publish({**forged, "recipient": "silent@example.com"})
    by_smtp.publish(by_smtp.hear("failed", FOREIGN, **failure("permanent", "5.1.1")), source="shop")
    by_smtp.deployed.service.wait_until_drained("feedback", "ingest")

    settled = {DELIVERED, CLICKED, BOUNCED, COMPLAINED}
    for user, run in by_smtp.runs().items():
        if user in settled:
            assert (run.status, run.reason) == (Status.SENT, Reason.EVIDENCE), user
        else:
            assert run == unknown[user], user
    suppressed = {BOUNCED, COMPLAINED}
    assert by_smtp.statuses() == {
        user: SubscriberStatus.SUPPRESSED if user in suppressed else SubscriberStatus.ACTIVE
        for user in READERS
    }
    # An email that its reader clicked or complained about was delivered.
    assert totals(by_smtp) == {
        "sent": 4,
        "delivered": 3,
        "bounced": 1,
        "complained": 1,
        "clicked": 1,
    }
    kept = json.loads(by_smtp.deployed.gazette("quarantine", "list", "--json"))["events"]
    unproven = "detail.reference: was not made for this recipient by this stage."
    foreign = "delivery.reported came from the source 'shop', which the setting sources"
    for beginning, number in ((unproven, 4), (foreign, 2)):
        assert sum(each["reason"].startswith(beginning) for each in kept) == number
    assert len(kept) == 6
    assert "@" not in "".join(each["reason"] for each in kept)


def test_redrive_of_unproven_and_foreign_reports_changes_nothing(by_smtp: BySmtp) -> None:
    """A redrive bypasses the rule, so feedback checks the source again."""
    by_smtp.deployed.gazette("quarantine", "redrive")
    by_smtp.deployed.service.wait_until_drained("feedback", "ingest")
    assert by_smtp.runs()[FOREIGN].status is Status.UNKNOWN
    ends_at = time.monotonic() + 30
    while time.monotonic() < ends_at:
        kept = json.loads(by_smtp.deployed.gazette("quarantine", "list", "--json"))["events"]
        if len(kept) == 6:
            break
        time.sleep(1)
    assert len(kept) == 6


def test_delivery_events_of_the_api_settle_suppress_and_count(by_smtp: BySmtp) -> None:
    before, counted, kept = by_smtp.runs(), totals(by_smtp), by_smtp.quarantined()
    assert {before[user].status for user in OF_THE_API} == {Status.UNKNOWN}

    by_smtp.report(by_smtp.hear("delivered", ARRIVED))
    by_smtp.report(by_smtp.hear("opened", OPENED))
    by_smtp.report(by_smtp.hear("failed", REFUSED, **failure("permanent", "5.1.1")))
    by_smtp.report(by_smtp.hear("complained", JUNKED))
    fake = by_smtp.hear("failed", FAKED, **failure("permanent", "5.1.1"))
    reference = str(fake["reference"]).partition("@")[0]
    by_smtp.report({**fake, "reference": f"{reference[:-32]}{'0' * 32}"})
    by_smtp.report({**fake, "recipient": "altered@example.com"})
    by_smtp.report({**fake, "reference": reference.replace(FAKED, ALTERED)})
    # Even a proven reference settles nothing if the run or the attempt is unknown.
    delivered = by_smtp.hear("delivered", ALTERED)
    for key, attempt in ((RunKey(ALTERED, "daily", 99), 1), (before[ALTERED].key, 2)):
        named = by_smtp.proven(key, attempt, "altered@example.com")
        by_smtp.report({**delivered, "reference": named})
    by_smtp.deployed.service.wait_until_drained("feedback", "ingest")

    settled = {ARRIVED, OPENED, REFUSED, JUNKED}
    for user, run in by_smtp.runs().items():
        if user in settled:
            assert (run.status, run.reason) == (Status.SENT, Reason.EVIDENCE), user
        else:
            assert run == before[user], user
    statuses = by_smtp.statuses()
    assert {user: statuses[user] for user in OF_THE_API} == {
        user: SubscriberStatus.SUPPRESSED if user in {REFUSED, JUNKED} else SubscriberStatus.ACTIVE
        for user in OF_THE_API
    }
    # An email that its reader opened or complained about was delivered.
    added = {kind: number - counted.get(kind, 0) for kind, number in totals(by_smtp).items()}
    assert {kind: number for kind, number in added.items() if number} == {
        "sent": 4,
        "delivered": 3,
        "bounced": 1,
        "complained": 1,
    }
    new = Counter(by_smtp.quarantined()) - Counter(kept)
    beginnings = Counter(dict.fromkeys(("detail.reference: was not made", "A delivery event"), 0))
    for reason, number in new.items():
        (beginning,) = [each for each in beginnings if reason.startswith(each)]
        beginnings[beginning] += number
    assert beginnings == {"detail.reference: was not made": 6, "A delivery event": 2}
    assert "@" not in "".join(new)


def test_api_names_the_field_of_an_invalid_delivery_event(by_smtp: BySmtp) -> None:
    detail = by_smtp.hear("delivered", SILENT)
    for changed, pointer in (
        ({"type": "dropped"}, "#/type"),
        ({"reference": "silent-daily-1"}, "#/reference"),
        ({"at": "yesterday"}, "#/at"),
    ):
        status, problem = by_smtp.rejection({**detail, **changed})
        assert (status, problem["type"]) == (422, "docs/api.md#invalid-request")
        assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert by_smtp.runs()[SILENT].status is Status.UNKNOWN


def totals(by_smtp: BySmtp) -> dict[str, int]:
    """The totals of the digests, as the command shows them."""
    batch = slot_id(slot_of(next_due()))
    told = json.loads(by_smtp.deployed.gazette("statistics", "--batch", batch, "--json"))
    (total,) = (each for each in told["emails"] if each["group"] == "total")
    kinds = ("sent", "delivered", "bounced", "complained", "clicked")
    return {kind: total[kind] for kind in kinds if total[kind]}
