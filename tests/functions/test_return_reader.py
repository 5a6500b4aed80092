"""A consent on the real adapters, in tables on moto."""

from datetime import UTC, datetime, timedelta

import pytest
from gazette.adapters.aws.clients import client
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.routing import routing_context
from gazette.bootstrap.parts.versions import versions_in_force
from gazette.domain.subscribers.consent import Consent, Refusal
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from gazette.settings.preferences import PreferencesSettings
from gazette.steps.context import RoutingContext
from gazette.steps.subscribers.return_reader import Returned, return_reader
from gazette.steps.subscribers.unsubscribe import unsubscribe

from tests.builders import SUPPRESSION_KEY
from tests.functions.conftest import Cloud
from tests.functions.messages import profile

SECOND = timedelta(seconds=1)


@pytest.fixture
def suppressions(cloud: Cloud) -> DynamoSuppressions:
    cloud.say("subscriber.changed", profile())
    return DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=now)


@pytest.fixture
def context(suppressions: DynamoSuppressions) -> RoutingContext:
    settings = PreferencesSettings.from_env()
    return routing_context(
        settings,
        client("sqs"),
        in_force=versions_in_force(settings.control_table),
        suppressions=suppressions,
    )


def consent(at: datetime) -> Consent:
    return Consent(
        user_id="ann", email="ann@example.com", stated_at=at, arrived_at=datetime.now(UTC)
    )


def test_consent_returns_a_reader_unless_another_stop_is_stored(
    suppressions: DynamoSuppressions, context: RoutingContext
) -> None:
    address, left_at = consent(now()).address, now() - 60 * SECOND

    def ann() -> Subscriber:
        reader = context.subscribers.get("ann")
        assert isinstance(reader, Subscriber)
        return reader

    for at in (left_at, left_at + 2 * SECOND):
        unsubscribe(
            "ann",
            address,
            subscribers=context.subscribers,
            suppressions=suppressions,
            schedules=context.schedules,
            at=at,
        )

    def state(after: timedelta) -> Returned:
        stated = consent(left_at + after)
        return return_reader(stated, suppressions=suppressions, context=context)

    assert state(SECOND) == Returned(Refusal.NEWER_UNSUBSCRIPTION)
    assert (ann().left_at, ann().left_again_at) == (left_at, left_at + 2 * SECOND)
    suppressions.add(address, Cause.COMPLAINED)
    assert state(3 * SECOND) == Returned(Refusal.COMPLAINED)
    suppressions.lift(address, Cause.COMPLAINED)
    assert state(3 * SECOND) == Returned(Refusal.NEWER_UNSUBSCRIPTION), "since the complaint"
    assert state(3600 * SECOND) == Returned(has_changed=True)
    assert ann().status is SubscriberStatus.ACTIVE
    assert ann().consented_at == left_at + 3600 * SECOND
    assert not suppressions.holds(address)
    assert state(3600 * SECOND) == Returned()
