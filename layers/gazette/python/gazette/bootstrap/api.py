"""Composition root of the `api` function, which connects the routes that read to their steps."""

from functools import cache, partial

from gazette.adapters.api.reads import Reads, add_reads
from gazette.adapters.api.resolver import new_resolver, resolve
from gazette.adapters.aws.link_keys import cached_keys
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.adapters.dynamodb.activities import DynamoActivities
from gazette.adapters.dynamodb.feedback.personal_rows import DynamoPersonalRows
from gazette.adapters.dynamodb.feedback.statistics import DynamoEngagements
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.web.links import SignedLinks
from gazette.bootstrap.parts.api import Resolve, reader_context, report
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.export import build_export
from gazette.bootstrap.support.receipt import build_receipts
from gazette.domain.scheduling.lifetime import longest_life
from gazette.settings.preferences import ApiSettings
from gazette.steps.api.app_link import app_link
from gazette.steps.api.emails import list_emails
from gazette.steps.api.reader import read_reader
from gazette.steps.support.activity_receipt import activity_receipt
from gazette.steps.support.export import export_page
from gazette.steps.support.receipt import receipt


@cache
def build() -> Resolve:
    """Return the function that answers a request. Built once per process."""
    settings = ApiSettings.from_env()
    app = new_resolver(report)
    add_reads(app, reads(settings))
    return partial(resolve, app)


def reads(settings: ApiSettings) -> Reads:
    """Return the functions of the routes that read."""
    run_retention, retention = settings.run_retention, longest_life(settings.event_retention)
    readers = reader_context(settings)
    rows = cache(partial(_personal_rows, settings))
    follows = DynamoFollows(settings.follows_table, retention=retention, clock=now)
    return Reads(
        reader=partial(read_reader, context=readers),
        emails=partial(
            list_emails,
            subscribers=readers.subscribers,
            runs=DynamoRuns(settings.runs_table, retention=run_retention),
            engagements=DynamoEngagements(settings.engagement_table, retention=run_retention),
        ),
        receipt=partial(
            receipt,
            context=build_receipts(
                settings,
                engagement_table=settings.engagement_table,
                withdrawals=readers.withdrawals,
            ),
        ),
        activity=partial(
            activity_receipt,
            activities=DynamoActivities(settings.activities_table, retention=retention, clock=now),
        ),
        followers=follows.count_followers,
        link=partial(
            app_link,
            subscribers=readers.subscribers,
            links=SignedLinks(
                base_url=settings.base_url, keys=cached_keys(settings.links_secret, clock=now).get
            ),
            clock=now,
        ),
        export=lambda user_id, cursor: export_page(user_id, cursor, rows=rows()),
    )


def _personal_rows(settings: ApiSettings) -> DynamoPersonalRows:
    """Return the rows of persons. Only an export needs the suppression key."""
    key = read_suppression_key(settings.suppressions_secret)
    return build_export(settings, settings, key=key)
