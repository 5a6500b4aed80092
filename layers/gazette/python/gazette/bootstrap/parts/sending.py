"""The composition of sending, which `generate` and `resend` share.

No other function sends digests.
"""

import random
import secrets
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from functools import cache, partial
from typing import TYPE_CHECKING

from gazette.adapters.aws.link_keys import cached_keys
from gazette.adapters.aws.queues import SqsBacklog
from gazette.adapters.cached import Coalescer, once, when_asked
from gazette.adapters.dynamodb.client import read_together, several_together
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.control.category_holds import held_categories
from gazette.adapters.dynamodb.control.decisions import cached_decisions
from gazette.adapters.dynamodb.deferred_events import DynamoDeferredEvents
from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.dynamodb.feedback.seen_marks import DynamoSeenReader
from gazette.adapters.dynamodb.feedback.suppressions import DynamoLastLook, DynamoSuppressions
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.adapters.mail.ses import SesMailer, ses_client
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.web.links import SignedLinks
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.rate_limiters import rate_limiters
from gazette.bootstrap.parts.templates import run_templates
from gazette.domain.delivery.batching import SENT_TOGETHER
from gazette.domain.delivery.streams import Streams
from gazette.domain.model import StageHeaders
from gazette.domain.ports.ledgers import Schedules
from gazette.domain.ports.mail import Mailer
from gazette.domain.templates.ports import CurrentDecisions
from gazette.run_metrics import measured_rendering, record_version_unusable
from gazette.settings.delivery import LEAVES_ALL, SendingSettings
from gazette.settings.ranges import RANGES
from gazette.steps.delivery.context import (
    DeliveryContext,
    EditionContext,
    LeaveOutBodies,
    RouteAgain,
)
from gazette.steps.delivery.pacing import Pacing, StreamPacing

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from gazette.steps.delivery.content import ContentContext


@cache
def coalescer() -> Coalescer:
    """Return the coalescer that joins the requests of all messages in an invocation."""
    return Coalescer()


def _sleep(wait: timedelta) -> None:
    """Sleep until a permit begins.

    During a long sleep, other threads do not wait for this thread's requests. Otherwise, their
    emails would be sent together instead of one after the other.
    """
    with coalescer().aside() if wait > SENT_TOGETHER else nullcontext():
        time.sleep(wait.total_seconds())


def waiting_on(backlog: SqsBacklog) -> Callable[[], int]:
    """Return a function that counts the runs on a queue at most once a minute.

    No request is sent while a process starts, only at the first call. If SQS does not respond, the
    count is 0 and runs are retried soon.
    """
    return when_asked(backlog.count, clock=now, default=0)


def decisions(control_table: str) -> CurrentDecisions:
    """Return the cached decisions of operators that apply to all emails, such as withdrawals.

    All steps of a function share them.
    """
    return cached_decisions(control_table, ranges=RANGES, clock=now)


def delivery_context(
    settings: SendingSettings,
    sqs: "SQSClient",
    *,
    schedules: Schedules,
    waiting: Callable[[], int],
    decided: CurrentDecisions,
    suppression_key: bytes,
    content: "ContentContext | None" = None,
) -> DeliveryContext:
    """Return the tables, the templates and the provider for a delivery.

    `waiting` returns the number of digests that are waiting. `decided` contains operators'
    decisions.
    """
    retention = settings.run_retention
    keys = cached_keys(settings.links_secret, clock=now)
    permits = rate_limiters(settings, most=settings.most_together, coalescer=coalescer())
    read = read_together(coalescer())
    runs = DynamoRuns(settings.runs_table, retention=retention)
    subscribers = DynamoSubscribers(settings.subscribers_table, read=read)
    batches = DynamoBatches(settings.control_table, retention=retention, clock=now, read=read)

    @once
    def router() -> tuple[RouteAgain, LeaveOutBodies]:
        # Imported here because few processes use this module.
        from gazette.bootstrap.parts.rerouting import rerouting

        return rerouting(
            settings,
            sqs,
            in_force=lambda: decided().in_force,
            subscribers=subscribers,
            schedules=schedules,
            runs=runs,
            batches=batches,
        )

    return DeliveryContext(
        runs=runs,
        subscribers=subscribers,
        last_look=DynamoLastLook(key=suppression_key, read=several_together(coalescer())),
        events=DynamoEventReader(settings.events_table, clock=now),
        seen=DynamoSeenReader(settings.events_table, read=several_together(coalescer())),
        held_categories=held_categories(settings.control_table, clock=now),
        decisions=decided,
        batches=batches,
        route_again=lambda key, window, time_left: router()[0](key, window, time_left),
        editing=EditionContext(
            templates=run_templates(
                control_table=settings.control_table,
                bucket=settings.templates_bucket,
                decisions=decided,
                for_sending=partial(
                    JinjaRenderer.for_sending,
                    tracks_clicks=bool(settings.track_clicks),
                    measured=measured_rendering,
                ),
                unusable=record_version_unusable,
                waiting=coalescer().aside,
            ),
            unusable=record_version_unusable,
            decisions=decided,
            link_maker=SignedLinks(base_url=settings.base_url, keys=keys.get),
            deferred_events=DynamoDeferredEvents(settings.events_table, clock=now),
            leave_out_bodies=lambda bodies: router()[1](bodies),
            max_blocks=settings.max_blocks,
            arrangement=settings.arrangement,
            sunset=settings.sunset,
            defaults=settings.defaults,
        ),
        mailers=mailers(settings, suppression_key),
        pacing=Pacing(
            streams=Streams(
                digest=StreamPacing(
                    rate_limiter=permits.digest, breaker=permits.digest, waiting=waiting
                ),
                immediate=StreamPacing(
                    rate_limiter=permits.immediate,
                    breaker=permits.immediate,
                    waiting=None,
                ),
            ),
            clock=now,
            sleep=_sleep,
            random=random.random,
        ),
        clock=now,
        draw_nonce=partial(secrets.token_hex, 8),
        random=random.random,
        headers=StageHeaders(
            settings.list_id,
            settings.installation,
            leaves_all=settings.immediate_unsubscribe == LEAVES_ALL,
        ),
        limits=settings.limits,
        allowed=settings.allowed,
        content=content,
        quiet_hours=settings.default_quiet_hours,
        worth=settings.worth,
    )


def suppressions(settings: SendingSettings, key: bytes) -> DynamoSuppressions:
    """Return the suppressed addresses."""
    read = read_together(coalescer())
    return DynamoSuppressions(settings.suppressions_table, key=key, clock=now, read=read)


def mailers(settings: SendingSettings, suppression_key: bytes = b"") -> Streams[Mailer]:
    """Return each stream's mailer, which sends only to the recipients that the stage allows."""
    provider = _provider(settings, suppression_key)
    if settings.allowed.is_everyone:
        return provider
    # Imported here because only some stages restrict the recipients.
    from gazette.adapters.mail.allowed import AllowedMailer

    return Streams(
        digest=AllowedMailer(provider.digest, settings.allowed),
        immediate=AllowedMailer(provider.immediate, settings.allowed),
    )


def _provider(settings: SendingSettings, suppression_key: bytes) -> Streams[Mailer]:
    """Return each stream's mailer, with the stream's own sender and configuration set.

    With SMTP, emails carry a reference if there is a key.
    """
    if settings.mail_provider == "ses":
        client = ses_client(settings.send_timeout)
        return Streams(
            digest=SesMailer(
                client,
                sender=settings.sender,
                configuration_set=settings.configuration_set,
                waiting=coalescer().aside,
            ),
            immediate=SesMailer(
                client,
                sender=settings.immediate_sender,
                configuration_set=settings.immediate_configuration_set,
                waiting=coalescer().aside,
            ),
        )
    # Imported here because only some stages use SMTP, and smtplib adds 15 ms to a cold start.
    from gazette.bootstrap.parts.smtp import smtp_mailers

    return smtp_mailers(settings, suppression_key)
