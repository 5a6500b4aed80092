"""Rows of every kind, written by the adapters of this version with a fixed clock."""

import json
import os
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import boto3
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.control.evidence import DynamoEvidenceLog
from gazette.adapters.dynamodb.control.experiments import DynamoExperiments
from gazette.adapters.dynamodb.control.template_versions import DynamoTemplateVersions
from gazette.adapters.dynamodb.control.withdrawals import DynamoWithdrawals
from gazette.adapters.dynamodb.deferred_events import DynamoDeferredEvents
from gazette.adapters.dynamodb.event_rows import stored_key
from gazette.adapters.dynamodb.events import DynamoEvents
from gazette.adapters.dynamodb.feedback.immediate_usage import DynamoImmediateUsage
from gazette.adapters.dynamodb.feedback.seen_marks import DynamoSeenMarks
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.tables import EventRow, PaceRow
from gazette.adapters.dynamodb.values import instant_number
from gazette.domain.delivery.run import Head, Reason, Status
from gazette.domain.feedback.delivery_events import EngagementEvent, Mark
from gazette.domain.feedback.experiment import Experiment, Variant
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.happening.bodies import LeftOut, Settlement
from gazette.domain.happening.rewriting import Pointing, Rewrite
from gazette.domain.model import DAILY, ScheduleState, StoredEvent, Window
from gazette.domain.muting.mutes import Mute
from gazette.domain.ports.stores import Guard
from gazette.domain.scheduling.cap import Usage
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequency, frequencies
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from gazette.domain.templates.versions import (
    NOTHING_PUSHED,
    Act,
    Candidate,
    Change,
    InForce,
    PushedVersion,
    Version,
)
from gazette.domain.window.seen import SeenMark
from gazette.domain.withdrawing.withdrawals import (
    Withdrawal,
    WithdrawalKind,
    WithdrawalList,
)
from gazette.settings.ranges import RANGES
from moto import mock_aws

from tests.builders import (
    NOW,
    SUPPRESSION_KEY,
    a_follow,
    a_run,
    a_schedule,
    a_subscriber,
    an_activity,
    an_event,
)
from tests.contract.conftest import dynamo_events
from tests.contract.dynamodb import test_newer_rows as stores
from tests.contract.dynamodb.test_newer_rows import CLOCK, STORE
from tests.every_field import ACTIVITY, EVENT
from tests.moto_tables import create_tables
from tests.unit.adapters.test_any_row import KINDS

Row = tuple[str, dict[str, dict[str, Any]]]
"""The name of a table, and an item in DynamoDB's format."""

_DAY = timedelta(days=1)
_TABLES = {
    "ActivityRow": "activities",
    "BounceRow": "bounces",
    "ControlRow": "control",
    "EngagementRow": "engagement",
    "EventRow": "events",
    "FollowRow": "follows",
    "PaceRow": "pace",
    "RunRow": "runs",
    "ScheduleRow": "schedules",
    "SubscriberRow": "subscribers",
    "SuppressionRow": "suppressions",
}


def as_json(row: Row, **more: Any) -> str:
    """Return a row as a line of JSON, with binary content in base64. `more` adds keys."""
    table, item = row
    document = {"table": table, "item": item, **more}
    return json.dumps(document, sort_keys=True, default=lambda data: b64encode(data).decode())


def rows() -> list[Row]:
    """Return rows of every kind: each attribute, and each value of each enumeration."""
    with _dynamodb():
        for store in STORE.values():
            store()
        _store_readers()
        _store_events()
        _store_runs()
        _store_delivery_events()
        _store_control()
        scanned = [*_scan()]
    full = [(_TABLES[kind.model.__name__], kind.good) for kind in KINDS.values()]
    return sorted([*scanned, *full, *_by_hand()], key=str)


@contextmanager
def _dynamodb() -> Iterator[None]:
    """Provide empty tables, in the process's memory."""
    credentials = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    CLOCK.now = NOW
    with mock.patch.dict(os.environ, credentials), mock_aws():
        create_tables()
        yield


def _scan() -> Iterator[Row]:
    client = boto3.client("dynamodb")
    for table in sorted(STORE):
        for page in client.get_paginator("scan").paginate(TableName=table):
            yield from ((table, dict(item)) for item in page["Items"])


def _store_readers() -> None:
    for status in SubscriberStatus:
        reader = replace(
            a_subscriber(f"reader-{status}"),
            status=status,
            choices=((NOW, frequencies({each.name.lower(): each for each in Frequency})),),
            left_at=NOW - _DAY,
            left_again_at=NOW,
            consented_at=NOW,
            returned_at=NOW,
            quiet_hours="22:00-07:00",
            mutes=(
                Mute("post#p1", NOW, title="On digests"),
                Mute("post#p2", NOW, is_muted=False),
            ),
        )
        stores.subscribers().put(reader, replacing=None)
    stores.subscribers().mark_rerouted("reader-active", NOW)
    stores.subscribers().mark_seen("reader-active", NOW.date())
    stores.subscribers().put(a_subscriber("erased"), replacing=None)
    stores.subscribers().erase("erased", NOW)
    for state in ScheduleState:
        schedule = replace(a_schedule(f"reader-{state}"), state=state)
        stores.schedules().put(schedule, replacing=None)
    for frequency in Frequency:
        stores.follows().put(a_follow(f"reader-{frequency}", frequency=frequency), replacing=None)
    ended = a_follow("ended")
    ended = replace(ended, changes=(*ended.changes, (NOW, FollowState(False))))
    stores.follows().put(ended, replacing=None)
    suppressions = DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=CLOCK)
    for cause in Cause:
        suppressions.add(f"hash-{cause}", cause)
    suppressions.unsubscribe("hash-left", "ann", NOW)


def _store_events() -> None:
    events = dynamo_events(CLOCK)
    events.store(replace(EVENT, id="full"), DAILY)
    events.store(an_event("retracted"), DAILY)
    events.retract("ann", "retracted", early=False)
    _, seen = events.store(an_event("seen"), DAILY)
    assert isinstance(seen, StoredEvent)
    DynamoDeferredEvents("events", clock=CLOCK).leave_out(replace(seen, seen_at=NOW))
    _, withdrawn = events.store(an_event("withdrawn"), DAILY)
    assert isinstance(withdrawn, StoredEvent)
    run = stores.runs().create(a_run(1, user_id="withdrawn"))
    removed = [replace(withdrawn, withdrawn_at=NOW)]
    assert DynamoDeferredEvents("events", clock=CLOCK).withdraw(removed, run)
    _store_happenings(events)
    marks = DynamoSeenMarks("events", kept_for=9 * _DAY, clock=CLOCK)
    marks.put(SeenMark("ann", "post#post1", NOW))
    events.store(an_event("capped"), DAILY, is_capped=True)
    DynamoImmediateUsage("events").put("ann", Usage(NOW + _DAY, NOW + _DAY), replacing=None)
    stores.activities().create(replace(ACTIVITY, id="full", retracted=False))
    stores.activities().create(an_activity("child", parent="post#parent"))
    stores.activities().create(an_activity("retracted"))
    stores.activities().retract("post#post1", "retracted")


def _store_happenings(events: DynamoEvents) -> None:
    comment, mention = an_event("happening"), replace(an_event("happening"), own_id="mention")
    _, stored = events.store(comment, DAILY)
    both = Rewrite(
        user_id="ann",
        event_id="happening",
        before=stored,
        after=Settlement(mention, (comment,), DAILY),
        pointing=Pointing("mention"),
    )
    assert events.rewrite(both, Guard())[0]
    alone = replace(mention, id="mark", own_id="retracted mention")
    first = Rewrite(
        user_id="ann",
        event_id="mark",
        before=None,
        after=Settlement(alone, (), DAILY),
        pointing=Pointing(alone.own_id),
    )
    _, stored_alone = events.rewrite(first, Guard())
    retracted = replace(
        first,
        before=stored_alone,
        after=None,
        retracted=alone.own_id,
        pointing=None,
    )
    events.retract("ann", alone.own_id, early=False)
    assert events.rewrite(retracted, Guard())[0]
    _leave_out(events)


def _leave_out(events: DynamoEvents) -> None:
    """Store the row of a happening, and the row of its event that was left out."""
    event = replace(an_event("divided"), own_id="left out of divided")
    other = an_event("divided")
    both = Rewrite(
        user_id="ann",
        event_id="divided",
        before=None,
        after=Settlement(event, (other,), DAILY),
        pointing=Pointing(event.own_id),
    )
    _, stored = events.rewrite(both, Guard())
    one = replace(
        both,
        before=stored,
        after=Settlement(other, (), DAILY),
        pointing=None,
        left_out=[LeftOut(event, withdrawn_at=NOW)],
    )
    assert events.rewrite(one, Guard())[0]


def _store_runs() -> None:
    for number, status in enumerate(Status):
        stores.runs().create(replace(a_run(number, user_id="statuses"), status=status))
    for number, reason in enumerate(Reason, 2):
        run = replace(
            a_run(number, user_id="reasons"),
            status=Status.SENT,
            reason=reason,
            attempt=2,
            refusals=1,
            epoch=3,
            uncertain=frozenset({1}),
            resent=True,
            overtaken=True,
            window=Window(NOW - _DAY, NOW),
            deadline=NOW,
            nonce="n",
            created_at=NOW,
            claimed_at=NOW,
            retry_at=NOW,
            sent_at=NOW,
            message_id="m1",
            detail="Throttling",
            variant=Variant(2, "buttons"),
            locale="en",
            categories=("comment", "like"),
            newest=("e1", "e2"),
            events=2,
            left_out=("e3",),
            sources=("events", "recommendations"),
            without=("recommendations",),
            asked_at=NOW,
            templates=3,
            templates_gone=2,
            head=Head(1, NOW - _DAY),
            step=2,
            removed=Reason.EXPIRED,
        )
        stores.runs().create(run)


def _store_delivery_events() -> None:
    for event in EngagementEvent:
        stores.engagements().record(a_run(), event, NOW)
    for mark in Mark:
        stores.category_stats().add("like", mark, NOW)


def _store_control() -> None:
    DynamoEvidenceLog("control").record(NOW)
    DynamoCategoryHolds("control").add(category_hold("news", "an operator", NOW, by_hand=True))
    withdrawals = (Withdrawal(kind, "post#p1", NOW, NOW + 9 * _DAY) for kind in WithdrawalKind)
    DynamoWithdrawals("control").change(WithdrawalList(tuple(withdrawals), 1))
    experiments = DynamoExperiments("control")
    for name in ("buttons", "subjects"):  # the second ends the period of the first
        experiments.start(Experiment(name, ((1, 50), (2, 50)), NOW))
    versions = DynamoTemplateVersions("control", ranges=RANGES)
    pushed = Version(3, "3" * 64)
    versions.add(PushedVersion(pushed, 1024, NOW, "ops", "a note", "f" * 64, "arn:layer"))
    before = NOTHING_PUSHED
    for revision, act in enumerate(Act, 1):
        after = InForce(pushed, Candidate(Version(4, "4" * 64), 20), revision, NOW, "ops")
        versions.change(before, after, Change(revision, act, NOW, "ops", 3, 4, 20, "a note"))
        before = after


def _by_hand() -> Iterator[Row]:
    """Rows that result only from a sequence of several steps."""
    excluded = EventRow(
        "ann",
        "excluded",
        was=DAILY,
        was_stored=stored_key(DAILY, NOW),
        retracted_at=NOW,
        why="unshowable",
        expires_at=datetime(2027, 1, 1, tzinfo=UTC),
    )
    yield "events", excluded.serialize()
    yield "pace", PaceRow("immediate", set_back_at=instant_number(NOW)).serialize()
