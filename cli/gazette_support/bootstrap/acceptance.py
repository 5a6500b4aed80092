"""Dependencies of `gazette accept`."""

import json
from dataclasses import dataclass
from functools import partial

from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.feedback.statistics import DynamoCategoryStats
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.receipt import build_receipts
from gazette.domain.hosts import LinkHosts
from gazette.settings.delivery import GenerateSettings
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import IngestSettings
from gazette.settings.preferences import PreferencesSettings
from gazette.steps.support.receipt import receipt

from gazette_support.adapters.acceptance_queues import SqsDeadLetters, SqsStageQuarantine
from gazette_support.adapters.delivery_log import CloudWatchDeliveryLog
from gazette_support.adapters.unsubscribe_links import UnsubscribeLinks
from gazette_support.bootstrap.suppression import build_ses_suppressions, build_suppression
from gazette_support.domain.acceptance.readers import allowed_link
from gazette_support.steps.acceptance.context import AcceptanceContext, Publish, Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceSettings:
    """The settings of the deployed functions that an acceptance uses."""

    ingest: IngestSettings
    generate: GenerateSettings
    feedback: FeedbackSettings
    preferences: PreferencesSettings

    @property
    def is_ses(self) -> bool:
        """True if the stage sends by SES."""
        return self.generate.mail_provider == "ses"


def build_acceptance(
    stage: str,
    settings: AcceptanceSettings,
    *,
    suppression_key: bytes,
    publish: Publish,
    waiting: Waiting,
    in_sandbox: bool,
) -> AcceptanceContext:
    """Return the context of an acceptance.

    In the sandbox, SES does not offer the calls that manage its suppression list.
    https://docs.aws.amazon.com/ses/latest/dg/request-production-access.html
    """
    feedback = settings.feedback
    suppression = build_suppression(feedback, suppression_key)
    receipts = build_receipts(settings.ingest, engagement_table=feedback.engagement_table)
    has_list = settings.is_ses and not in_sandbox
    return AcceptanceContext(
        publish=publish,
        subscribers=DynamoSubscribers(settings.ingest.subscribers_table),
        suppressions=suppression.suppressions,
        bounces=suppression.bounces,
        receipt=partial(receipt, context=receipts),
        quarantine=SqsStageQuarantine(stage),
        dead_letters=SqsDeadLetters(stage),
        log=CloudWatchDeliveryLog(stage),
        one_click=UnsubscribeLinks(
            settings.preferences.links_secret, base_url=settings.preferences.base_url
        ),
        provider_list=build_ses_suppressions() if has_list else None,
        holds=DynamoCategoryHolds(feedback.control_table),
        category_stats=DynamoCategoryStats(feedback.category_stats_table),
        clock=now,
        waiting=waiting,
        url=allowed_link(LinkHosts.of(json.loads(settings.ingest.link_hosts))),
        settle_lag=settings.generate.settle_lag,
        collapse=settings.ingest.collapse,
        is_ses=settings.is_ses,
    )
