"""Composition root of the `api_writes` function, which connects the routes that write to their
steps.
"""

from functools import cache, partial

from gazette.adapters.api.resolver import new_resolver, resolve
from gazette.adapters.api.writes import Writes, add_writes
from gazette.adapters.aws.bus import EventBridgeBus, events_client
from gazette.adapters.aws.intake import SqsIntake
from gazette.adapters.aws.queues import sqs_client
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.bootstrap.parts.api import Resolve, counted_consents, reader_context, report
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.routing import announce, routing_context
from gazette.bootstrap.parts.versions import versions_in_force
from gazette.domain.sources import PREFERENCES
from gazette.settings.preferences import ApiWritesSettings
from gazette.steps.api.choices import ChoiceContext, choose
from gazette.steps.api.consents import ConsentContext, state_consent
from gazette.steps.api.delivery_events import IntakeContext, submit_delivery_event
from gazette.steps.api.reader import read_reader


@cache
def build() -> Resolve:
    """Return the function that answers a request. Built once per process."""
    settings = ApiWritesSettings.from_env()
    in_force = versions_in_force(settings.control_table)
    context = ChoiceContext(
        routing=routing_context(settings, sqs_client(), in_force=in_force),
        bus=EventBridgeBus(events_client(), settings.bus, source=PREFERENCES),
        announce=cache(partial(announce, settings)),
    )
    consents = ConsentContext(
        schedules=context.routing,
        suppressions=cache(partial(_suppressions, settings)),
        announce=context.announce,
    )
    intake = IntakeContext(intake=SqsIntake(sqs_client(), settings.feedback_queue_url), clock=now)
    app = new_resolver(report)
    add_writes(
        app,
        Writes(
            choose=partial(choose, context=context),
            reader=partial(read_reader, context=reader_context(settings)),
            state_consent=counted_consents(partial(state_consent, context=consents)),
            submit_delivery_event=partial(submit_delivery_event, context=intake),
            report=report,
        ),
    )
    return partial(resolve, app)


def _suppressions(settings: ApiWritesSettings) -> DynamoSuppressions:
    """Return the suppressions. Only a stage that accepts consents may read their key."""
    key = read_suppression_key(settings.suppressions_secret)
    return DynamoSuppressions(settings.suppressions_table, key=key, clock=now)
