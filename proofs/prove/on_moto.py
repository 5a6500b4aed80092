"""A life on the real adapters, where moto answers and each botocore request counts as a call.

moto answers in botocore's `before-send` event, through its stubber. This module wraps the stubber
to lose a request before moto applies it, or the answer after. botocore retries as on AWS, and each
retry counts as a call. Messages for the queues and SES are read from the requests. The simulated
clock also controls message delays.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

import boto3
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ReadTimeoutError
from gazette.adapters.aws.queues import (
    SqsQuarantine,
    SqsQueue,
    decode_followers,
    decode_partition,
    decode_run_key,
    decode_shard,
    encode_failed_run,
    encode_followers,
    encode_partition,
    encode_run,
    encode_shard,
)
from gazette.adapters.dynamodb.activities import DynamoActivities
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.control.evidence import DynamoEvidenceLog
from gazette.adapters.dynamodb.deferred_events import DynamoDeferredEvents
from gazette.adapters.dynamodb.events import DynamoEventReader, DynamoEvents
from gazette.adapters.dynamodb.feedback.bounces import DynamoBounces
from gazette.adapters.dynamodb.feedback.statistics import DynamoCategoryStats, DynamoEngagements
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoRateLimiter
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.adapters.mail.canary import SesCanary
from gazette.adapters.mail.ses import SesMailer, ses_client
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.delivery.signals import Accepted, RefusedAccount, SendOutcome, Uncertain
from gazette.domain.identity import shard_of
from gazette.domain.ports.clock import Clock
from moto import mock_aws
from moto.backends import get_backend
from moto.core.botocore_stubber import BotocoreStubber, MockRawResponse
from moto.core.models import DEFAULT_ACCOUNT_ID

from proofs.prove.land import Ground, Land, QueuedEvidence, Register, Wiring
from proofs.prove.provider import Answer, Provider
from proofs.prove.queues import Message
from proofs.prove.strikes import unavailable
from tests.builders import SUPPRESSION_KEY, SettableClock
from tests.fake_stores import PARTITIONS
from tests.moto_tables import create_tables
from tests.world import World

_REGION = "us-east-1"
_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": _REGION,
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
}
_SENDER = "Gazette <digest@example.com>"
_RETENTION = timedelta(days=35)
_RUN_RETENTION = timedelta(days=200)
_REFUSALS = {
    "RefusedForNow": (429, "TooManyRequestsException"),
    "RefusedForGood": (400, "MessageRejected"),
    "RefusedAccount": (400, "SendingPausedException"),
}
_DECODE: dict[str, Callable[[str], object]] = {
    "generate": decode_run_key,
    "resend": decode_run_key,
    "fanout": decode_shard,
    "sweep": decode_partition,
    "followers": decode_followers,
}


class _Events(DynamoEvents):
    """The event ports of ingest and of the workers in one object."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(
            "events",
            retention=_RETENTION,
            timeout=5,
            clock=clock,
        )
        reader = DynamoEventReader("events", clock=clock)
        self.read, self.holds, self.of_user = reader.read, reader.holds, reader.of_user
        self.skim, self.load = reader.skim, reader.load


class _Account:
    """An account on moto that successive worlds share, so that adapters are created once."""

    def __init__(self) -> None:
        create_tables()
        sqs: Any = boto3.client("sqs")
        ses = ses_client(timedelta(seconds=10))
        names = (*_DECODE, "quarantine", "resend-dead")
        urls = {name: sqs.create_queue(QueueName=name)["QueueUrl"] for name in names}
        ses.create_email_identity(EmailIdentity="digest@example.com")
        self._wiring: Wiring | None = None
        self._clock = SettableClock()
        self._tokens: set[str] = set()
        self._inhabited: frozenset[int] = frozenset()
        clock = self._now
        self._ports: dict[str, Any] = {
            "subscribers": DynamoSubscribers("subscribers"),
            "schedules": DynamoSchedules("schedules", shards=1),
            "follows": DynamoFollows("follows", retention=_RETENTION, clock=clock),
            "activities": DynamoActivities("activities", retention=_RETENTION, clock=clock),
            "suppressions": DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=clock),
            "runs": DynamoRuns("runs", retention=_RUN_RETENTION),
            "evidence_log": DynamoEvidenceLog("control"),
            "engagements": DynamoEngagements("engagement", retention=_RUN_RETENTION),
            "bounces": DynamoBounces(
                "bounces", key=SUPPRESSION_KEY, retention=_RETENTION, clock=clock
            ),
            "category_stats": DynamoCategoryStats("category_stats"),
            "category_holds": DynamoCategoryHolds("control"),
            "quarantine": SqsQuarantine(sqs, urls["quarantine"]),
            "generate_queue": SqsQueue(sqs, urls["generate"], encode_run),
            "resend_queue": SqsQueue(sqs, urls["resend"], encode_run),
            "failed_runs": SqsQueue(sqs, urls["resend-dead"], encode_failed_run),
            "followers_queue": SqsQueue(sqs, urls["followers"], encode_followers),
            "shard_queue": SqsQueue(sqs, urls["fanout"], encode_shard),
            "sweep_queue": SqsQueue(sqs, urls["sweep"], encode_partition),
            "mailer": SesMailer(ses, sender=_SENDER, configuration_set="digest"),
            "canary": SesCanary(
                ses, sender=_SENDER, configuration_set="digest", installation="here"
            ),
        }
        self._more: dict[str, Any] = {
            "events": _Events(clock),
            "deferred_events": DynamoDeferredEvents("events", clock=clock),
            "batches": DynamoBatches("control", retention=_RUN_RETENTION, clock=clock),
        }

    def _now(self) -> datetime:
        return self._clock()

    def make(self, wiring: Wiring) -> Land:
        """Return a land of real adapters on empty tables."""
        for table in get_backend("dynamodb")[DEFAULT_ACCOUNT_ID][_REGION].tables.values():
            table.items.clear()
        self._tokens.clear()
        self._wiring, self._clock = wiring, wiring.clock
        self._inhabited = frozenset(shard_of(reader, PARTITIONS) for reader in wiring.readers)
        world = World(
            clock=wiring.clock,
            policy=wiring.policy,
            max_lateness=wiring.lateness,
            spread=wiring.spread,
            sunset=wiring.sunset,
            renderer=Register(),
            **self._ports,
            **_remembering(wiring),
        )
        for name, port in self._more.items():
            setattr(world, name, port)
        world.context = replace(world.context, events=self._more["events"])
        return Land(world, world)

    def request(self, name: str, request: Any, send: Callable[[], Any]) -> Any:
        """Count one botocore request of the current worker."""
        if self._wiring is None:
            return send()
        call = {
            "sesv2.SendEmail": lambda: self._send_email(request, send),
            "sqs.SendMessageBatch": lambda: self._queue(request, send),
            "sqs.SendMessage": lambda: self._bury(request, send),
            "dynamodb.TransactWriteItems": lambda: self._transact(request, send),
        }.get(name, send)
        return self._wiring.calls.around(name, call)

    def _send_email(self, request: Any, send: Callable[[], Any]) -> Any:
        assert self._wiring
        asked, provider = json.loads(request.body), self._wiring.provider
        tags = {tag["Name"]: tag["Value"] for tag in asked["EmailTags"]}
        if tags["run"] == "canary":
            provider.take_canary()
            return send()
        text = asked["Content"]["Simple"]["Body"]["Text"]["Data"]
        outcome = provider.take(tags["run"], int(tags["attempt"]), text)
        return send() if isinstance(outcome, Accepted) else _refused(outcome, request)

    def _queue(self, request: Any, send: Callable[[], Any]) -> Any:
        assert self._wiring
        answer, asked = send(), json.loads(request.body)
        name = asked["QueueUrl"].rpartition("/")[2]
        for entry in asked["Entries"]:
            body = _DECODE[name](entry["MessageBody"])
            if name != "sweep" or body in self._inhabited:
                delay = timedelta(seconds=entry.get("DelaySeconds", 0))
                self._wiring.queues[name].put(body, delay)
        return answer

    def _bury(self, request: Any, send: Callable[[], Any]) -> Any:
        assert self._wiring
        answer, asked, now = send(), json.loads(request.body), self._wiring.clock()
        if asked["QueueUrl"].endswith("/resend-dead"):
            key = decode_run_key(asked["MessageBody"])
            self._wiring.queues["resend"].bury(Message(key, now, now, given_up=True))
        return answer

    def _transact(self, request: Any, send: Callable[[], Any]) -> Any:
        """Skip a transaction whose token was used before, which moto does not do.

        https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
        """
        token = json.loads(request.body).get("ClientRequestToken", "")
        if token in self._tokens:
            return AWSResponse(request.url, 200, {}, MockRawResponse("{}"))  # type: ignore[arg-type]
        answer = send()
        if answer.status_code == 200 and token:
            self._tokens.add(token)
        return answer


def _remembering(wiring: Wiring) -> dict[str, Any]:
    """Return the adapters with state of their own: rate limiters and the backlog of the queue."""
    return {
        "rate_limiter": DynamoRateLimiter("pace", PacePlan(rate=500), name=ROWS.digest),
        "immediate_rate_limiter": DynamoRateLimiter(
            "pace", PacePlan(rate=500), name=ROWS.immediate
        ),
        "backlog": QueuedEvidence(wiring.queues["feedback"]),
    }


def _refused(outcome: SendOutcome, request: Any) -> AWSResponse:
    if isinstance(outcome, Uncertain):
        raise ReadTimeoutError(endpoint_url=request.url)
    status, code = _REFUSALS[type(outcome).__name__]
    if isinstance(outcome, RefusedAccount) and not outcome.every_stream:
        status, code = 404, "NotFoundException"
    body = json.dumps({"__type": code, "message": "Refused."})
    headers = {"x-amzn-ErrorType": code, "content-type": "application/json"}
    return AWSResponse(request.url, status, headers, MockRawResponse(body))  # type: ignore[arg-type]


def _answerless(provider: Provider, name: str, call: Callable[[], object], done: bool) -> object:
    """Drop the answer of a request."""
    if name == "sesv2.SendEmail":
        provider.forced = Answer.LOST if done else Answer.NEITHER
        return call()
    if not name.startswith(("dynamodb.", "sqs.", "sesv2.")):
        return unavailable(name, call, done)
    if done:
        call()
    raise ReadTimeoutError(endpoint_url=name)


@contextmanager
def moto_ground() -> Iterator[Ground]:
    """Return moto with tables, queues and an identity. Pauses before a retry take no time."""
    with patch.dict("os.environ", _ENVIRONMENT), mock_aws(), patch("time.sleep"):
        account = _Account()
        original = BotocoreStubber.__call__

        def stub(stubber: Any, event_name: str, request: Any, **named: Any) -> Any:
            return account.request(
                event_name.removeprefix("before-send."),
                request,
                lambda: original(stubber, event_name, request, **named),
            )

        with patch.object(BotocoreStubber, "__call__", stub):
            yield Ground(
                account.make,
                _answerless,
                frozenset({"dynamodb.PutItem", "dynamodb.TransactWriteItems"}),
            )
