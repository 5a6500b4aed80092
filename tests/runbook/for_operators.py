"""What commands do to queues, functions, rows and tables: the state before, and the effect.

Each is a context manager: up to its `yield` it makes the state, behind it it looks at the effect,
counted in emails, rows and messages.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import boto3
from gazette.adapters.aws.queues import encode_run_key
from gazette.domain.delivery.run import Reason, Status

from tests.runbook.for_readers import Scenario, standing
from tests.runbook.state import ANN, KEY, State

_NOTHING_HAPPENS = 3
"""Seconds in which a function that runs would have taken a message."""

_LOST = {
    "subscribers": {"user_id": ANN},
    "schedules": {"user_id": ANN},
    "control": {"kind": "batch"},
}


@contextmanager
def ticks_are_deleted(state: State) -> Iterator[None]:
    """The queue is empty, so its alarm ends."""
    state.send("ticks-undelivered", '{"time": "2026-11-22T06:10:00Z"}')
    assert state.waiting("ticks-undelivered") == 1
    yield
    assert state.waiting("ticks-undelivered") == 0


@contextmanager
def a_pager_subscribes(state: State) -> Iterator[None]:
    """To the topic of the alarms, for those that wake somebody."""
    yield
    topics = boto3.client("sns")
    pages = topics.get_paginator("list_subscriptions").paginate()
    (pager,) = (each for page in pages for each in page["Subscriptions"])
    asked = topics.get_subscription_attributes(SubscriptionArn=pager["SubscriptionArn"])
    assert "GazetteProd-Alarms" in pager["TopicArn"]
    assert "NOW:" in asked["Attributes"]["FilterPolicy"]


@contextmanager
def events_are_replayed(state: State) -> Iterator[None]:
    """Ann gets nothing for what is stored already.

    The engine has archives, but its CloudFormation does not make them.
    """
    bus = boto3.client("events")
    source = bus.describe_event_bus(Name="gazette")["Arn"]
    bus.create_archive(ArchiveName="gazette-prod", EventSourceArn=source)
    try:
        with state.emails(0):
            yield
            state.settle()
    finally:
        bus.delete_archive(ArchiveName="gazette-prod")


@contextmanager
def a_row_is_repaired(state: State) -> Iterator[None]:
    """Its run can be read again, and goes out."""
    state.digest_is_due()
    state.damage("due_at", "yesterday")
    with state.emails(1):
        yield
        state.try_to_send()


@contextmanager
def a_row_is_deleted(state: State) -> Iterator[None]:
    """What it held up goes with the next digest."""
    state.digest_is_due()
    state.damage("due_at", "yesterday")
    yield
    assert state.runs.get(KEY) is None
    with state.emails(1):
        state.next_digest()


@contextmanager
def functions_stop(state: State) -> Iterator[None]:
    """What comes waits in its queue."""
    state.empty("generate")
    yield
    state.send("generate", encode_run_key(KEY))
    time.sleep(_NOTHING_HAPPENS)
    assert state.waiting("generate") == 1
    state.empty("generate")


@contextmanager
def functions_go_on(state: State) -> Iterator[None]:
    """What waited is worked off; no email goes out, because it is stopped."""
    state.digest_is_due()
    state.send("generate", encode_run_key(KEY))
    with state.emails(0):
        yield
        state.settle(delayed=False)
    assert standing(state) == (Status.PENDING, Reason.DUE)


@contextmanager
def tables_are_copied(state: State) -> Iterator[None]:
    """Each as it was: here, as it is, because the engine knows no earlier instant. Then the rows
    of Ann are lost."""
    yield
    for table, key in _LOST.items():
        assert state.rows(table, key) == state.rows(table, key, copy=True) != []
        state.forget(table, key)


def a_table_is_restored(table: str) -> Scenario:
    """It has its rows again."""

    @contextmanager
    def scenario(state: State) -> Iterator[None]:
        key = _LOST[table]
        assert state.rows(table, key) == []
        yield
        assert state.rows(table, key) == state.rows(table, key, copy=True) != []

    return scenario


@contextmanager
def copies_are_deleted(state: State) -> Iterator[None]:
    """The tables themselves stay."""
    yield
    left = boto3.client("dynamodb").list_tables()["TableNames"]
    assert [name for name in left if name.endswith("-restored")] == []
    assert state.subscribers.get(ANN)
