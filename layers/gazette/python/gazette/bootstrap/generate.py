"""The function `generate`, joined."""

import json
import random
import secrets
import time
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from importlib.resources import files
from pathlib import Path

import boto3
from aws_lambda_powertools.utilities.parameters import get_secret

from gazette.adapters.batches import DynamoBatches
from gazette.adapters.events import DynamoEventReader
from gazette.adapters.links import SignedLinks
from gazette.adapters.queues import SqsGenerateQueue, decode_run_key
from gazette.adapters.renderer import JinjaRenderer
from gazette.adapters.runs import DynamoRuns
from gazette.adapters.ses import SesMailer, ses_client
from gazette.adapters.smtp import SmtpMailer, SmtpServer
from gazette.adapters.subscribers import DynamoSubscribers
from gazette.bootstrap.clock import now
from gazette.bootstrap.pacing import pacer
from gazette.bootstrap.secrets import links_key
from gazette.domain.ports import Mailer, TimeLeft
from gazette.domain.run import Run
from gazette.settings import GenerateSettings
from gazette.steps.deliver import DeliveryLimits, deliver
from gazette.steps.pacing import Pacing


@cache
def build() -> Callable[[str, TimeLeft], Run | None]:
    """Takes the body of a message and what is left of the invocation. Built once per process."""
    settings = GenerateSettings.from_env()
    retention = timedelta(days=settings.run_retention_days)
    runs = DynamoRuns(settings.runs_table, retention=retention)
    batches = DynamoBatches(settings.batches_table, retention=retention, clock=now)
    subscribers = DynamoSubscribers(settings.subscribers_table)
    events = DynamoEventReader(settings.events_table, clock=now)
    renderer = JinjaRenderer(Path(str(files("gazette_templates"))))
    link_maker = SignedLinks(base_url=settings.base_url, key=links_key(settings.links_secret))
    mailer = _mailer(settings)
    pacing = Pacing(
        pacer=pacer(settings),
        generate_queue=SqsGenerateQueue(boto3.client("sqs"), settings.generate_queue_url),
        clock=now,
        sleep=lambda wait: time.sleep(wait.total_seconds()),
        random=random.random,
    )
    limits = DeliveryLimits(
        settle_lag=timedelta(seconds=settings.settle_lag),
        send_timeout=timedelta(seconds=settings.send_timeout),
        commit_margin=timedelta(seconds=settings.commit_margin),
        clock_skew=timedelta(seconds=settings.clock_skew),
        max_lateness=timedelta(seconds=settings.max_lateness),
        max_groups=settings.max_groups,
    )

    def run(body: str, time_left: TimeLeft) -> Run | None:
        return deliver(
            decode_run_key(body),
            runs=runs,
            subscribers=subscribers,
            events=events,
            batches=batches,
            renderer=renderer,
            link_maker=link_maker,
            mailer=mailer,
            pacing=pacing,
            clock=now,
            draw_nonce=lambda: secrets.token_hex(8),
            time_left=time_left,
            list_id=settings.list_id,
            limits=limits,
        )

    return run


def _mailer(settings: GenerateSettings) -> Mailer:
    send_timeout = timedelta(seconds=settings.send_timeout)
    if settings.mail_provider == "ses":
        return SesMailer(
            ses_client(send_timeout),
            sender=settings.sender,
            configuration_set=settings.configuration_set,
        )
    login = json.loads(str(get_secret(settings.smtp_secret))) if settings.smtp_secret else {}
    server = SmtpServer(
        host=settings.smtp_host,
        port=settings.smtp_port,
        security=settings.smtp_security,
        username=login.get("username", ""),
        password=login.get("password", ""),
    )
    return SmtpMailer(server, sender=settings.sender, timeout=send_timeout)
