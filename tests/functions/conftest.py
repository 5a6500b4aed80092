"""The real handlers on moto, with the settings that the stack would write."""

import io
import json
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext
from botocore.client import BaseClient
from botocore.exceptions import ConnectTimeoutError
from gazette.adapters.aws import clients
from gazette.adapters.aws.link_keys import SecretKeyStore
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.adapters.web.links import SignedLinks
from gazette.bootstrap import (
    api,
    api_writes,
    content,
    fanout,
    feedback,
    followers,
    generate,
    ingest,
    outbox,
    preferences,
    resend,
    sweep,
)
from gazette.bootstrap.console import page as console_page
from gazette.bootstrap.console import redrive as console_redrive
from gazette.bootstrap.parts import sending
from gazette.bootstrap.support import dead_letters
from gazette.domain.events_out.events import EventType
from gazette.domain.links import LinkToken, Scope
from gazette.domain.model import DAILY, Mail, RunKey
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.observability import logger
from gazette.settings.content import ContentSettings
from gazette.settings.delivery import GenerateSettings, ResendSettings, SupportSettings
from gazette.settings.environment import Settings
from gazette.settings.fanout import FanoutSettings
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import FollowersSettings, IngestSettings
from gazette.settings.outbox import OutboxSettings
from gazette.settings.preferences import (
    ApiSettings,
    ApiWritesSettings,
    PreferencesSettings,
)
from gazette.settings.ranges import as_typed
from gazette.settings.sweep import SweepSettings
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID

from functions.api.handler import lambda_handler as api_handler
from functions.api_writes.handler import lambda_handler as api_writes_handler
from functions.content.handler import lambda_handler as content_handler
from functions.fanout.handler import lambda_handler as fanout_handler
from functions.feedback.handler import lambda_handler as feedback_handler
from functions.followers.handler import lambda_handler as followers_handler
from functions.generate.handler import lambda_handler as generate_handler
from functions.ingest.handler import lambda_handler as ingest_handler
from functions.outbox.handler import lambda_handler as outbox_handler
from functions.preferences.handler import lambda_handler as preferences_handler
from functions.resend.handler import lambda_handler as resend_handler
from functions.support.handler import lambda_handler as support_handler
from functions.support_redrive.handler import lambda_handler as support_redrive_handler
from functions.sweep.handler import lambda_handler as sweep_handler
from gazette_cdk.topology import (
    API,
    API_WRITES,
    CONTENT,
    OUTBOX,
    STEPS,
    SUPPORT,
    SUPPORT_REDRIVE,
)
from proofs.enforce.account import Account
from proofs.enforce.record import FOLDER, keep, stages_in
from proofs.enforce.stages import BY_SMTP, IN_THE_SANDBOX, synthesised
from proofs.enforce.verdict import Verdict
from tests.builders import KEY, SUPPRESSION_KEY
from tests.credentials import set_credentials
from tests.functions.in_stages import LOGIN, STAGES, Provider, Ses, Smtp
from tests.functions.messages import envelope, records
from tests.leaving import leaving_everything
from tests.meter import Meter, metered
from tests.moto_tables import NAMES, create_tables, made_once, moto_backend

TOKEN = "recommend-token"
"""The name of the secret with the token of the recommendation service."""

_KEYS = json.dumps({"k1": "k" * 64})
_SQS = "https://sqs.us-east-1.amazonaws.com"
OUT_BUS = "gazette-prod-out"
QUEUES = (
    "ingest",
    "quarantine",
    "followers",
    "shard",
    "generate",
    "immediate",
    "resend",
    "failed",
    "feedback",
    "feedback_dead",
    "feedback_undelivered",
    "sweep",
    "content",
)
_HANDLERS: dict[str, Callable[[dict[str, Any], LambdaContext], Any]] = {
    "ingest": ingest_handler,
    "followers": followers_handler,
    "fanout": fanout_handler,
    "generate": generate_handler,
    "resend": resend_handler,
    "feedback": feedback_handler,
    "sweep": sweep_handler,
    "preferences": preferences_handler,
    "content": content_handler,
    "outbox": outbox_handler,
    "api": api_handler,
    "api_writes": api_writes_handler,
    "support": support_handler,
    "support_redrive": support_redrive_handler,
}
_BUILDS: dict[str, tuple[Any, ...]] = {
    "ingest": (ingest.build,),
    "followers": (followers.build,),
    "fanout": (
        fanout.build_tick,
        fanout.build_fan_out,
        fanout.build_is_beat,
        fanout.build_learn_quota,
    ),
    "generate": (generate.build,),
    "resend": (resend.build,),
    "feedback": (feedback.build,),
    "sweep": (sweep.build_begin, sweep.build_sweep, sweep.build_standing, sweep.build_audit),
    "preferences": (preferences.build,),
    "content": (content.build,),
    "outbox": (outbox.build,),
    "api": (api.build,),
    "api_writes": (api_writes.build,),
    "support": (console_page.build,),
    "support_redrive": (console_redrive.build,),
}


def granted_with(mail_provider: str) -> dict[str, set[tuple[str, str]]]:
    """(table, DynamoDB action) that the topology allows each function."""
    return {
        step.name: {
            (what.partition("/")[0], action)
            for what, actions in step.tables_with(
                mail_provider, asks_source=True, has_critical=True, accepts_consent=True
            )
            for action in actions
        }
        for step in (*STEPS, CONTENT, OUTBOX, API, API_WRITES, SUPPORT, SUPPORT_REDRIVE)
    }


_PATIENT = 60.0
"""Seconds for which threads wait for each other, so that no load of the machine makes one call
into two. The functions themselves wait a quarter of a second."""

_LONGEST_INVOCATION = 900_000
"""Milliseconds. An SMTP server may take ten minutes for an email."""

Policies = Callable[[str], Account]
"""By the name of a stage."""

Answers = dict[str, Callable[[dict[str, Any]], Any]]


class Context(LambdaContext):
    """The context that Lambda passes to a handler."""

    def __init__(self) -> None:
        self._function_name = "gazette-test"
        self._memory_limit_in_mb = 512
        self._invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:gazette-test"
        self._aws_request_id = "request"

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 60_000


@dataclass
class Cloud:
    """An account on moto with everything that the functions need.

    `send_quota` is what SES says that it may send; where it is empty, SES does not answer.
    `answers` are to operations that moto does not know, by name. `letters` went by SMTP.
    """

    meter: Meter
    queues: dict[str, str]
    send_quota: dict[str, float]
    answers: Answers
    letters: list[Mail] = field(default_factory=list)

    def invoke(self, step: str, event: dict[str, Any]) -> dict[str, Any]:
        """One invocation of a function, as Lambda makes it."""
        with self.meter.acting(step):
            answer: dict[str, Any] = _HANDLERS[step](event, Context())
            return answer

    def work(self, step: str, *bodies: str) -> None:
        """Process messages from the queue of a function; none may fail."""
        assert self.invoke(step, records(*bodies)) == {"batchItemFailures": []}

    def say(self, detail_type: str, *details: dict[str, Any]) -> None:
        """Put events as a service and process them in ingest: one message per detail."""
        for detail in details:
            self.work("ingest", envelope(detail_type, detail))

    def arm(self, *user_ids: str, schedule: str = DAILY) -> None:
        """Arm schedules, as an event does: one that was taken back since."""
        schedules = DynamoSchedules("schedules", shards=1)
        with self.meter.acting("somebody else"):
            for user_id in user_ids:
                idle = schedules.get(user_id, schedule)
                assert idle
                due = idle.due_after(datetime.now(UTC))
                assert schedules.put(idle.armed(due), replacing=idle)

    def begin(self, story: Callable[["Cloud"], None]) -> None:
        """Tell a story with which many tests begin: once in a process.

        Every account after the first gets a copy of its tables, and of what the meter saw; there
        no function is built yet. Only for a story that leaves nothing on a queue.
        """
        held = vars(moto_backend("dynamodb"))
        if story not in _TOLD:
            story(self)
            _TOLD[story] = deepcopy((held, vars(self.meter)))
            return
        tables, seen = deepcopy(_TOLD[story])
        held.update(tables)
        vars(self.meter).update(seen)

    def warm_up(self, *steps: str) -> None:
        """Let functions be built, and count from zero."""
        for step in steps:
            for build in _BUILDS[step]:
                build()
        self.meter.clear()

    def take(self, queue: str) -> list[dict[str, Any]]:
        """Receive and delete what is on a queue."""
        client = boto3.client("sqs")
        taken: list[dict[str, Any]] = []
        while messages := client.receive_message(
            QueueUrl=self.queues[queue], MaxNumberOfMessages=10, MessageAttributeNames=["All"]
        ).get("Messages"):
            taken.extend(dict(message) for message in messages)
            for message in messages:
                client.delete_message(
                    QueueUrl=self.queues[queue], ReceiptHandle=message["ReceiptHandle"]
                )
        return taken

    def queued(self, queue: str) -> list[dict[str, Any]]:
        """The messages put on a queue since the meter was cleared, including hidden ones."""
        return [
            entry
            for name, request in self.meter.requests
            if name == "sqs.SendMessageBatch" and request["QueueUrl"] == self.queues[queue]
            for entry in request["Entries"]
        ]

    def work_off_followers(self) -> int:
        """Process the followers queue until it is empty; returns the messages."""
        done = 0
        while messages := self.take("followers"):
            for message in messages:
                self.work("followers", message["Body"])
            done += len(messages)
        return done

    def sent(self) -> list[dict[str, Any]]:
        """The emails that SES was asked to send since the meter was cleared."""
        return [request for name, request in self.meter.requests if name == "sesv2.SendEmail"]

    def unsubscribe_path(self) -> str:
        """The path of the link in the last email that ends all email."""
        if self.letters:
            text = self.letters[-1].edition.text
        else:
            text = self.sent()[-1]["Content"]["Simple"]["Body"]["Text"]["Data"]
        return str(urlsplit(leaving_everything(text)).path)

    def one_click_path(self) -> str:
        """The path of the link in List-Unsubscribe of the last email."""
        if self.letters:
            headers = dict(self.letters[-1].headers)
        else:
            written = self.sent()[-1]["Content"]["Simple"]["Headers"]
            headers = {each["Name"]: each["Value"] for each in written}
        return str(urlsplit(headers["List-Unsubscribe"].strip("<>")).path)

    def recipients(self) -> list[str]:
        """Who the emails since the meter was cleared went to, by SES or by SMTP."""
        by_ses = [address for mail in self.sent() for address in mail["Destination"]["ToAddresses"]]
        return by_ses + [mail.to for mail in self.letters]

    def reader(self, user_id: str = "ann") -> Subscriber:
        """The subscriber as stored."""
        found = DynamoSubscribers("subscribers").get(user_id)
        assert isinstance(found, Subscriber)
        return found

    def set_status(self, user_id: str, status: SubscriberStatus) -> None:
        """Store only the status, as if a worker had died then."""
        found = self.reader(user_id)
        changed = replace(found, status=status, revision=found.revision + 1)
        assert DynamoSubscribers("subscribers").put(changed, replacing=found)

    def link(self, name: str, key: RunKey = KEY, reader: Subscriber | None = None) -> str:
        """The path of a link in the email of a run to the reader as stored, or as given."""
        keys = SecretKeyStore(os.environ["GAZETTE_LINKS_SECRET"])
        token = LinkToken.of(key, datetime.now(UTC), reader or self.reader(key.user_id))
        links = SignedLinks(base_url="https://example.com", keys=keys.read).links(token)
        url = getattr(links, name)
        return str(urlsplit(url() if callable(url) else url).path)

    def leave_path(self, scope: Scope, key: RunKey = KEY) -> str:
        """The path of the link in the email of a run by which its reader leaves a scope."""
        keys = SecretKeyStore(os.environ["GAZETTE_LINKS_SECRET"])
        token = LinkToken.of(key, datetime.now(UTC), self.reader(key.user_id))
        links = SignedLinks(base_url="https://example.com", keys=keys.read).links(token)
        return str(urlsplit(links.leave(scope)).path)

    def preferences_path(self, user_id: str = "ann") -> str:
        """The path of the link to the preference page in an email."""
        return self.link("preferences", RunKey(user_id, DAILY, 1))

    def work_off_bus(self) -> int:
        """Process the commands on the bus in ingest; returns the messages."""
        said = [
            entry
            for name, request in self.meter.requests
            if name == "events.PutEvents"
            for entry in request["Entries"]
        ]
        for entry in said:
            detail = json.loads(entry["Detail"])
            body = envelope(
                entry["DetailType"],
                detail,
                source=entry["Source"],
                resources=entry.get("Resources", []),
            )
            self.work("ingest", body)
        return len(said)

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Everything in a table, as plain values."""
        items = boto3.resource("dynamodb").Table(table).scan()["Items"]
        return [dict(item) for item in items]


_TOLD: dict[Callable[[Cloud], None], tuple[dict[str, Any], dict[str, Any]]] = {}
"""By story: what moto then held of DynamoDB, and what the meter had seen."""


def tick_when_due(cloud: Cloud, user_id: str = "ann", schedule: str = DAILY) -> dict[str, str]:
    """The tick at which a schedule is due; the tick before it was on time."""
    found = DynamoSchedules("schedules", shards=1).get(user_id, schedule)
    assert found is not None
    batches = DynamoBatches(
        "control", retention=timedelta(days=200), clock=lambda: datetime.now(UTC)
    )
    batches.save_checkpoint(0, slot_of(found.next_due_at) - SLOT)
    return {"time": found.next_due_at.isoformat()}


def due_shard(cloud: Cloud, user_id: str = "ann", schedule: str = DAILY) -> str:
    """Tick when a schedule is due, and return the message for its shard."""
    assert cloud.invoke("fanout", tick_when_due(cloud, user_id, schedule)) == {"shards": 1}
    (shard,) = cloud.take("shard")
    return str(shard["Body"])


def fan_out(cloud: Cloud, user_id: str = "ann", schedule: str = DAILY) -> list[str]:
    """Tick when a schedule is due, process the shard, and return the queued runs."""
    cloud.work("fanout", due_shard(cloud, user_id, schedule))
    return [message["Body"] for message in cloud.take("generate")]


@pytest.fixture(scope="session")
def synthesised_stages(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of the synthesised stages, for all workers of the tests."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    return stages_in(Path(os.environ.get(FOLDER, shared)))


@pytest.fixture(scope="session")
def policies(synthesised_stages: Path) -> Policies:
    """Return the permissions that the templates of the stages give to each function."""

    @cache
    def of_stage(name: str) -> Account:
        both = {
            each.name: each for each in synthesised(synthesised_stages, (IN_THE_SANDBOX, BY_SMTP))
        }
        return both[name].account

    return of_stage


@pytest.fixture
def cloud(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    templates_on_path: None,
    policies: Policies,
) -> Iterator[Cloud]:
    """An account of its own for each test. At the end: AWS would have denied no call."""
    with account(monkeypatch) as made:
        yield made
        for (actor, told), asked in made.meter.asked.items():
            if actor in _HANDLERS:
                by_smtp = ("GAZETTE_MAIL_PROVIDER", "smtp") in told
                verdict = Verdict(policies(BY_SMTP if by_smtp else IN_THE_SANDBOX))
                verdict.judge(actor, asked, dict(told))
                assert verdict.denied == set()
        keep(made.meter.asked, request.path)


@pytest.fixture(params=STAGES)
def provider(
    request: pytest.FixtureRequest, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Provider]:
    """Each of STAGES in turn, with the provider of its emails."""
    for variable, value in STAGES[request.param].items():
        monkeypatch.setenv(variable, value)
    made = Smtp(cloud.letters) if request.param == "smtp" else Ses()
    monkeypatch.setattr(Context, "get_remaining_time_in_millis", lambda _: _LONGEST_INVOCATION)
    with made.answering(monkeypatch):
        yield made


@contextmanager
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    """Tables, queues, secrets and identity; every function is cold.

    At the end: no function did to a table what it may not do in AWS.
    """
    set_credentials(monkeypatch)
    with mock_aws():
        create_tables()
        queues = _create_queues()
        secrets = made_once("secretsmanager", _create_secrets)
        made_once("events", _create_bus)
        made_once("ses", _create_identities)
        boto3.client("s3").create_bucket(Bucket="templates")
        for each in every_setting(queues, secrets):
            for variable, value in each.to_env().items():
                monkeypatch.setenv(variable, value)
        make_cold()
        monkeypatch.setattr(sending.coalescer(), "_patience", _PATIENT)
        answers: Answers = {"ListSuppressedDestinations": nobody_is_suppressed}
        with quoted(monkeypatch, answers) as send_quota, metered(monkeypatch) as meter:
            yield Cloud(meter, queues, send_quota, answers)
        for step, granted in granted_with("ses").items():
            assert meter.actions[step] <= granted, step


def _create_queues() -> dict[str, str]:
    """Create the queues and return their URLs. A queue of moto has a lock and cannot be copied."""
    for name in QUEUES:
        moto_backend("sqs").create_queue(name)
    return {name: f"{_SQS}/{DEFAULT_ACCOUNT_ID}/{name}" for name in QUEUES}


def _create_secrets() -> dict[str, str]:
    """Create the secrets and return their ARNs, by name."""
    client = boto3.client("secretsmanager")
    contents = {
        "links": _KEYS,
        "suppressions": SUPPRESSION_KEY.decode(),
        LOGIN: '{"username": ""}',
        TOKEN: "the-token",
    }
    return {
        name: client.create_secret(Name=name, SecretString=content)["ARN"]
        for name, content in contents.items()
    }


def _create_bus() -> None:
    for name in ("gazette", OUT_BUS):
        boto3.client("events").create_event_bus(Name=name)


def _create_identities() -> None:
    for address in ("digest@example.com", "now@example.com"):
        boto3.client("sesv2").create_email_identity(EmailIdentity=address)


def make_cold() -> None:
    """Forget what the functions have built: each is built again by its next invocation."""
    for builds in _BUILDS.values():
        for build in builds:
            build.cache_clear()
    clients.forget()


def nobody_is_suppressed(request: dict[str, Any]) -> Any:
    """What SES answers where its own suppression list is empty."""
    return {"SuppressedDestinationSummaries": []}


@contextmanager
def quoted(monkeypatch: pytest.MonkeyPatch, answers: Answers) -> Iterator[dict[str, float]]:
    """GetAccount, which moto does not know, and what `answers` has."""
    send_quota: dict[str, float] = {}
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def answered(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation in answers:
            return answers[operation](request)
        if operation != "GetAccount":
            return real(client, operation, request)
        if not send_quota:
            raise ConnectTimeoutError(endpoint_url="sesv2")
        return {"SendQuota": send_quota}

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", answered)
        yield send_quota


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let functions that read events run an hour after the events were written."""
    an_hour_later(monkeypatch)


def an_hour_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Move the clocks of the functions that read events on by an hour."""
    for joined in (dead_letters, fanout, generate, resend, sending, sweep):
        monkeypatch.setattr(joined, "now", lambda: datetime.now(UTC) + timedelta(hours=1))


@pytest.fixture
def logs() -> Iterator[io.StringIO]:
    """What the function writes to its log."""
    handler = logger().registered_handler
    assert isinstance(handler, logging.StreamHandler)
    written = io.StringIO()
    before, handler.stream = handler.stream, written  # not flushed: another test may have closed it
    yield written
    handler.stream = before


def every_setting(queues: dict[str, str], secrets: dict[str, str]) -> tuple[Settings, ...]:
    """What the stack would write for every function, with these queues and secrets."""
    tables: dict[str, Any] = {f"{name}_table": name for name in NAMES.values()}
    urls: dict[str, Any] = {f"{name}_queue_url": url for name, url in queues.items()}
    stage: dict[str, Any] = {
        "stage_name": "prod",
        "shards": 1,
        "max_lateness": 21600,
        "spread": 0,
        "emails_per_second": 500,
        "ramp_from": 0,
        "allowed_recipients": "[]",
        "warmup_from": "",
        "warmup_daily": 200,
        "immediate_share": 20,
        "check_after": 3600,
        "sunset_days": 45,
        "collapse": 20,
        "settle_lag": 300,
        "send_timeout": 10,
        "smtp_reply_timeout": 600,
        "clock_skew": 0,
        "evidence_grace": 900,
        "longest_unknown": 21600,
        "unknown_policy": "resend",
        "soft_bounces": 5,
        "soft_bounce_days": 14,
        "ticks": 1,
        "track_clicks": 1,
        "opens_are_life": 0,
        "category_hold": 1,
        "max_blocks": 20,
        "full_blocks": 8,
        "ranking": "relevance",
        "category_weights": "{}",
        "digest_worth": "{}",
        "immediate_limit": "{}",
        "sections": "none",
        "event_retention_days": 35,
        "run_retention_days": 200,
        "default_frequencies": "{}",
        "quiet_hours": "",
        "critical_categories": "[]",
        "content_sources": '["events"]',
        "recommendations_url": "http://127.0.0.1:1/",
        "recommendations_secret": TOKEN,
        "recommendations_per_second": 1000,
        "recommendations_ramp_from": 0,
        "recommendations_timeout": 3,
        "recommendations_items": 5,
        "recommendations_lead": 0,
        "recommendations_fresh_for": 1440,
        "recommendations_policy": "without",
        "recommendations_patience": 600,
        "recommendations_fallback_image": "",
        "sources": "{}",
        "link_hosts": "[]",
        "mail_provider": "ses",
        "sender": "Gazette <digest@example.com>",
        "list_id": "digest.example.com",
        "immediate_unsubscribe": "category",
        "installation": "here",
        "smtp_host": "",
        "smtp_port": 465,
        "smtp_security": "tls",
        "smtp_secret": "",
        "bus": "gazette",
        "templates_bucket": "templates",
        "base_url": "https://example.com",
        "events_out": json.dumps([*EventType]),
        "events_out_bus": OUT_BUS,
        "events_out_source": "gazette.prod",
        "unpublished_bucket": "outunpublished",
        "configuration_set": "digest",
        "immediate_sender": "Gazette now <now@example.com>",
        "immediate_configuration_set": "immediate",
    }
    arns: dict[str, Any] = {f"{name}_secret": arn for name, arn in secrets.items()}
    known = tables | urls | arns | stage
    kinds: tuple[type[Settings], ...] = (
        IngestSettings,
        FollowersSettings,
        FanoutSettings,
        GenerateSettings,
        ResendSettings,
        FeedbackSettings,
        SweepSettings,
        PreferencesSettings,
        ContentSettings,
        OutboxSettings,
        ApiSettings,
        ApiWritesSettings,
        SupportSettings,
    )
    return tuple(
        kind(**{name: as_typed(name, known[name]) for name in kind.__dataclass_fields__})
        for kind in kinds
    )
