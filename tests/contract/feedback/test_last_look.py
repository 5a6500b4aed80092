"""What a worker sees between claim and call, held against our fake and the adapters on moto."""

from datetime import timedelta

import pytest
from gazette.adapters.cached import Coalescer
from gazette.adapters.dynamodb.client import several_together
from gazette.adapters.dynamodb.feedback.suppressions import DynamoLastLook
from gazette.domain.identity import address_hash
from gazette.domain.ports.stores import LastLook, Subscribers, Suppressions
from gazette.domain.subscribers.suppression import Cause

from tests.builders import NOW, SUPPRESSION_KEY, a_subscriber
from tests.fake_stores import FakeSubscribers, FakeSuppressions
from tests.world import World

ANN, BO = address_hash("ann@example.com"), address_hash("bo@example.com")


@pytest.fixture
def look(subscribers: Subscribers, suppressions: Suppressions) -> LastLook:
    if isinstance(subscribers, FakeSubscribers):
        assert isinstance(suppressions, FakeSuppressions)
        return World(subscribers=subscribers, suppressions=suppressions).last_look
    return DynamoLastLook(key=SUPPRESSION_KEY, read=several_together(Coalescer()))


def test_last_look_reads_the_current_reader_and_suppression(
    look: LastLook, subscribers: Subscribers, suppressions: Suppressions
) -> None:
    assert look("ann", ANN) == (None, False)
    subscribers.put(a_subscriber(), replacing=None)
    assert look("ann", ANN) == (a_subscriber(), False)
    subscribers.mark_rerouted("ann", NOW)
    suppressions.add(ANN, Cause.BOUNCED)
    assert look("ann", ANN) == (subscribers.get("ann"), True)
    assert look("ann", BO) == (subscribers.get("ann"), False)
    subscribers.erase("ann", NOW + timedelta(days=1))
    assert look("ann", ANN) == (subscribers.get("ann"), True)


@pytest.mark.parametrize("cause", Cause)
def test_last_look_allows_critical_email_after_an_unsubscribe(
    look: LastLook, suppressions: Suppressions, cause: Cause
) -> None:
    suppressions.add(ANN, cause)
    assert look("ann", ANN, critical=True) == (None, cause is not Cause.UNSUBSCRIBED)
