"""Whatever a row holds, it is unreadable, or the domain can compute with it (rule 20).

A good row gets one attribute, or one value inside its JSON, that could be anything.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, date, timedelta
from typing import Any, NamedTuple

import pytest
from gazette.adapters.dynamodb import activities, follows, runs, schedules, subscribers
from gazette.adapters.dynamodb.activities import body_of_activity
from gazette.adapters.dynamodb.client import Row, decoded
from gazette.adapters.dynamodb.control import batches, experiments
from gazette.adapters.dynamodb.control.template_versions import in_force_of
from gazette.adapters.dynamodb.event_rows import body_of, brief_in, event_or_trace_in
from gazette.adapters.dynamodb.events import event_row
from gazette.adapters.dynamodb.feedback import bounces, statistics, suppressions
from gazette.adapters.dynamodb.histories import (
    write_changes,
    write_choices,
    write_mutes,
    write_reader_choices,
    write_service_choices,
)
from gazette.adapters.dynamodb.pacing import pace
from gazette.adapters.dynamodb.tables import (
    ActivityRow,
    BounceRow,
    ControlRow,
    EngagementRow,
    EventRow,
    FollowRow,
    PaceRow,
    RunRow,
    ScheduleRow,
    SubscriberRow,
    SuppressionRow,
)
from gazette.adapters.dynamodb.values import instant_number, write_days
from gazette.domain.content.asking import ContentPlan
from gazette.domain.content.items import REMEMBERED, Shown
from gazette.domain.delivery import pace as pacing
from gazette.domain.delivery import run as run_state
from gazette.domain.delivery.batch import Batch
from gazette.domain.delivery.circuit_breaker import tripped
from gazette.domain.delivery.compose import compose
from gazette.domain.delivery.lifecycle import transition
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import (
    Accepted,
    Cancel,
    Carry,
    Claim,
    DeadlinePassed,
    Evidence,
    GiveUp,
    GraceOver,
    NotAttempted,
    Policy,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    Signal,
    Skip,
    Stop,
    Uncertain,
)
from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.feedback.delivery_events import Engagement
from gazette.domain.feedback.experiment import Experiment, Variant, variant_of
from gazette.domain.identity import address_hash, run_id, shard_of
from gazette.domain.model import Retracted, Schedule, StoredEvent, Window
from gazette.domain.muting.mutes import Mute
from gazette.domain.scheduling.calendar import (
    Days,
    DigestTimes,
    due_by_the_clock_of_now,
    next_after_change,
    next_on_another_date,
    slot_id,
    slot_of,
)
from gazette.domain.scheduling.kinds import is_critical, kind_of
from gazette.domain.scheduling.lifetime import kept_until, lasts_until
from gazette.domain.subscribers.choices import NOTHING, Choice, Preferences, ReaderChoices
from gazette.domain.subscribers.following import Activity, Follow, FollowState, effective_frequency
from gazette.domain.subscribers.frequency import DIGESTS, Frequency, frequencies
from gazette.domain.subscribers.overview import next_digest
from gazette.domain.subscribers.subscriber import EarlyChoices, Erased, Reader, Subscriber
from gazette.domain.subscribers.suppression import SoftLimit, Suppression
from gazette.domain.templates.versions import InForce, version_for
from gazette.domain.window.briefs import stored_brief_of
from gazette.settings.ranges import RANGES
from gazette.steps.delivery.predecessors import deadline_passed
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW, a_run, a_schedule, a_subscriber, an_activity, an_event
from tests.every_field import ACTIVITY, EVENT

Item = dict[str, dict[str, Any]]
DAY = timedelta(days=1)
TWO = Days(frozenset({1, 4}), every=2, phase=1)


class Kind(NamedTuple):
    """A kind of row: a good one, how it is decoded, and who computes with what comes out."""

    good: Item
    model: type[Row]
    decode: Callable[[Any], Any]
    use: Callable[[Any], None]
    needs: tuple[str, ...] = ()


def item(row: Row) -> Item:
    """A row as DynamoDB has it."""
    found: Item = row.serialize()
    return found


# Who computes with what.


def use_schedule(schedule: Schedule) -> None:
    due, recurrence = schedule.next_due_at, schedule.recurrence
    next_on_another_date(recurrence, after=due, last=due)
    next_after_change(recurrence, after=NOW, last=schedule.last_due_at, pending=due)
    due_by_the_clock_of_now(recurrence, armed_for=due, last=schedule.last_due_at)
    moved = schedule.advanced(schedule.due_after(NOW))
    assert moved.listed
    for each in (schedule, moved, moved.idle(), moved.leaving(), moved.withdrawn()):
        writer = schedules.DynamoSchedules.__new__(schedules.DynamoSchedules)
        writer._shards = 4
        item(writer._row(each))
    lasts_until(recurrence, NOW, least=35 * DAY)
    kept_until(due, schedule.name)
    plan = ContentPlan(sources=("events", "recommendations"), lead=6, fresh_for=4 * DAY / 24)
    plan.is_fetched(schedule, due)
    plan.asked_by(schedule)
    assert len(Shown(schedule.shown).with_(["e1"]).hashes) <= 6 * REMEMBERED
    run = Run(replace(a_run().key, schedule=schedule.name, sequence=schedule.sequence), due, due)
    item(runs.run_row(run, retention=200 * DAY))
    run_id(run.key)


SIGNALS: tuple[Signal, ...] = (
    Claim(Window(NOW - DAY, NOW), NOW + DAY, "n"),
    Accepted(1, "m1"),
    Evidence(1, "m1", NOW),
    RefusedForNow(1, retry_at=NOW),
    RefusedForGood(1),
    RefusedAccount(1),
    NotAttempted(1),
    Uncertain(1),
    DeadlinePassed(1),
    *(GraceOver(policy) for policy in Policy),
    Skip(Reason.EMPTY),
    Cancel(Reason.SUPERSEDED),
    Carry(),
    GiveUp(),
    Stop(),
)


def use_run(run: Run) -> None:
    for after in (run, *(transition(run, signal) for signal in SIGNALS)):
        if isinstance(after, Run):
            item(runs.run_row(after, retention=200 * DAY))
    others = (run, a_run(7))
    run_state.settled_until(others)
    run_state.possibly_sent_until(others)
    run_state.is_given_up(NOW, others)
    run.has_shown("e1", NOW)
    run.has_passed_over("e1", NOW)
    run.is_too_late(NOW, DAY)
    run.ends_chain(run.key, NOW)
    deadline_passed(run, now=NOW, evidence_grace=DAY)
    sorted([run.check_at, NOW, run.due_at, run.deadline or NOW, run.created_at or NOW])
    run_id(run.key)
    kind_of(run.key.schedule)
    assert run.is_open or run.status.is_final or run.reason is Reason.CARRIED


def use_reader(reader: Reader) -> None:
    if not isinstance(reader, Subscriber):
        assert reader is None or isinstance(reader, Erased)
        return
    for digest in DIGESTS:
        wanted = reader.recurrence(digest)
        due = next_on_another_date(wanted, after=NOW, last=NOW)
        needed = lasts_until(wanted, NOW, least=35 * DAY)
        assert due > NOW < needed
    for sunset in (45 * DAY, None):
        reader.paused_or_dormant_at(NOW, sunset=sunset)
        reader.as_of(NOW, sunset=sunset)
    address_hash(reader.email)
    shard_of(reader.user_id, 7)
    chosen = reader.reader_choices.with_choice(NOW, Choice(frequency=Frequency.DAILY))
    assert reader.with_choices(reader.service_choices or a_service(), chosen).choices
    effective_frequency(an_event(), choices=reader.choices, follows=(), defaults=())
    next_digest(reader, [a_schedule()], [], defaults=(), now=NOW)
    write_choices(reader.choices)
    write_service_choices(reader.recorded_service_choices)
    use_choices(reader.reader_choices)


def use_choices(choices: ReaderChoices) -> None:
    write_reader_choices(choices.with_choice(NOW, NOTHING), a_service())
    assert choices.paused_last is None or isinstance(choices.paused_last, date)


def use_early(early: EarlyChoices | None) -> None:
    if early:
        a_subscriber().with_choices(a_service(), early.reader_choices)
        use_choices(early.reader_choices)


def use_follow(follow: Follow) -> None:
    assert isinstance(follow.title, str)
    assert follow.latest.frequency in {None, *Frequency} or str(follow.latest.frequency)
    event = replace(an_event(), via=(follow.entity,))
    effective_frequency(event, choices=(), follows=(follow,), defaults=())
    write_changes(((NOW, FollowState(True)), *follow.changes))


def use_event(found: StoredEvent | Retracted) -> None:
    if isinstance(found, Retracted):
        return
    event = found.event
    assert isinstance(found.is_over(NOW), bool)
    event.amends(an_event())
    body_of(event)
    kind_of(found.schedule)
    is_critical(found.schedule)
    kept_until(found.lasts_until, found.schedule)
    compose([event, an_event("other")], max_blocks=5, until=NOW)
    compose([event, an_event("other")], max_blocks=5, sources=("recommendations",))
    event.occurred_at.astimezone(UTC)
    effective_frequency(event, choices=((NOW, ()),), follows=(None,), defaults=())


def use_activity(found: Activity | Retracted) -> None:
    if isinstance(found, Retracted):
        return
    assert found.event_for("ann").via == found.sides
    assert set(found.to_walk).isdisjoint(found.walked)
    found.in_place_of(an_activity())
    found.amends(an_activity())
    body_of_activity(found)
    body_of(found.event_for("ann"))


def use_pace(found: pacing.Pace) -> None:
    for plan in (pacing.PacePlan(), pacing.PacePlan(ramp_from=1, warmup_from=NOW.date())):
        for now in (NOW, NOW + 400 * DAY):
            taken = pacing.take(found, plan, now=now, latest=now + DAY)
            if isinstance(taken, pacing.Reservation):
                taken.from_(found)
                taken.permits_from(taken.at)
            pacing.read(found, plan, now)
            pacing.outlook(found, plan, now)
    pacing.with_quota(found, pacing.Quota(rate=1.0), NOW)
    tripped(found.breaker, "why", NOW)


def use_batch(batch: Batch) -> None:
    slot_id(batch.slot)
    sorted([batch.started_at or NOW, batch.cancelled_at or NOW])


def use_experiment(found: Experiment | None) -> None:
    if found:
        assert isinstance(variant_of("ann", found), Variant)
        sorted([found.since, NOW])


def use_in_force(found: InForce) -> None:
    assert version_for("ann", found).number >= 0


def use_bounces(found: Any) -> None:
    sent = [NOW, *(bounce.sent_at for bounce in found)]
    limit = SoftLimit(bounces=2, span=DAY)
    limit.is_reached(sent)
    limit.is_reached_in_a_row(sent, sent)


def use_suppression(found: Suppression) -> None:
    sorted([found.since, NOW])
    assert isinstance(found.cause.lesser, tuple)


def use_engagement(found: Engagement) -> None:
    run_id(found.key)
    slot_of(found.slot)
    sorted([NOW, *found.first.values()])


# A good row of each kind.


def a_service() -> Any:
    chosen = frequencies({"comment": Frequency.DAILY})
    return ((NOW - DAY, Preferences(chosen, DigestTimes(custom_on=TWO), "Europe/Berlin")),)


READER_CHOICES = (
    ReaderChoices()
    .with_choice(NOW, Choice(Frequency.DAILY, frequencies({"like": Frequency.NEVER}), (9, 30), 3))
    .with_choice(
        NOW, Choice(custom_on=TWO, paused_until=date(2026, 12, 24), time_zone="Asia/Tokyo")
    )
)
STORED_CHOICES = write_reader_choices(READER_CHOICES, a_service())
EARLY_CHOICES = write_reader_choices(READER_CHOICES, ())


A_MUTE = (Mute("post#p1", NOW, title="On digests"),)


def a_reader_row() -> SubscriberRow:
    return SubscriberRow(
        "ann",
        email="ann@example.com",
        name="Ann",
        locale="en",
        time_zone="Europe/Berlin",
        status="active",
        changed_at=NOW,
        hour=8,
        minute=10,
        weekly_on=2,
        custom_on=write_days(TWO),
        paused_until="2026-12-01",
        choices=write_choices(((NOW, frequencies({"comment": Frequency.WEEKLY})),)),
        service_choices=write_service_choices(a_service()),
        reader_choices=STORED_CHOICES[0],
        reader_categories=STORED_CHOICES[1],
        mutes=write_mutes(A_MUTE),
        registered_on="2026-01-01",
        paused_last="2026-02-01",
        active_on="2026-11-01",
        resumed_at=NOW,
        routed_for="all",
        revision=3,
        erased_at=NOW - 9 * DAY,
        addressed_after=NOW - 9 * DAY,
    )


def a_schedule_row() -> ScheduleRow:
    schedule = replace(
        a_schedule(last_due_at=NOW - DAY),
        active_until=NOW + DAY,
        sources=("events", "recommendations"),
        fetched_at=NOW,
        fetched_for=NOW,
        shown=b"123456",
    )
    schedule = replace(
        schedule, recurrence=replace(schedule.recurrence, paused_until=date(2026, 11, 1))
    )
    writer = schedules.DynamoSchedules.__new__(schedules.DynamoSchedules)
    writer._shards = 4
    return writer._row(schedule)


def a_run_row() -> RunRow:
    run = replace(
        a_run(),
        status=Status.RETRYING,
        reason=Reason.REFUSED_FOR_NOW,
        attempt=2,
        refusals=1,
        epoch=3,
        uncertain=frozenset({1}),
        window=Window(NOW - DAY, NOW),
        deadline=NOW,
        nonce="n",
        created_at=NOW,
        claimed_at=NOW,
        retry_at=NOW,
        variant=Variant(2, "buttons"),
        asked_at=NOW,
        templates=3,
        sources=("events", "recommendations"),
        without=("recommendations",),
    )
    return runs.run_row(run, retention=200 * DAY)


def an_event_row() -> EventRow:
    return event_row(StoredEvent(EVENT, "daily", NOW, NOW + DAY))


def an_activity_row() -> ActivityRow:
    row = activities.activity_row(replace(ACTIVITY, retracted=False), NOW + DAY)
    row.walked = set(ACTIVITY.walked)
    return row


def a_pace_row() -> PaceRow:
    return PaceRow(
        "digest",
        quota=14.0,
        quota_at=instant_number(NOW),
        used_up_at=instant_number(NOW - DAY),
        daily=50_000,
        left=40_000,
        next_at=instant_number(NOW),
        stretch_at=instant_number(NOW),
        stretch_taken=5,
        last_taken=4,
        day=NOW.date().isoformat(),
        taken=9,
        breaker_why="refused",
        breaker_since=instant_number(NOW - DAY),
        breaker_until=instant_number(NOW - DAY / 2),
        breaker_step=60_000_000,
        breaker_by_hand=False,
        breaker_is_probed=True,
    )


def an_engagement_row() -> EngagementRow:
    return EngagementRow(
        "slot#01",
        run_id(a_run().key),
        due_in=NOW,
        delivered_at=NOW,
        locale="en",
        categories="comment like",
        variation=2,
        experiment="buttons",
        templates=3,
        expires_at=NOW + DAY,
    )


def decode_experiment(row: ControlRow) -> Experiment | None:
    try:
        return experiments.experiment_of(row)
    except Unavailable as err:
        raise UnreadableRow("control", row.key, str(err)) from err


KINDS: dict[str, Kind] = {
    "schedule": Kind(item(a_schedule_row()), ScheduleRow, schedules._schedule, use_schedule),
    "run": Kind(item(a_run_row()), RunRow, runs.run_of, use_run),
    "subscriber": Kind(item(a_reader_row()), SubscriberRow, subscribers.reader_of, use_reader),
    "early choices": Kind(
        item(
            SubscriberRow(
                "ann",
                reader_choices=EARLY_CHOICES[0],
                reader_categories=EARLY_CHOICES[1],
                mutes=write_mutes(A_MUTE),
            )
        ),
        SubscriberRow,
        subscribers._early,
        use_early,
    ),
    "follow": Kind(
        item(
            FollowRow(
                "post#post1",
                "ann",
                changes=write_changes(((NOW, FollowState(True, Frequency.WEEKLY, "A title")),)),
            )
        ),
        FollowRow,
        follows._follow,
        use_follow,
    ),
    "event": Kind(item(an_event_row()), EventRow, event_or_trace_in, use_event),
    "activity": Kind(item(an_activity_row()), ActivityRow, activities._activity_in, use_activity),
    "pace": Kind(item(a_pace_row()), PaceRow, pace._read, use_pace),
    "batch": Kind(
        item(ControlRow("batch", "s", slot=NOW, started_at=NOW, cancelled_at=NOW)),
        ControlRow,
        batches._batch,
        use_batch,
        ("slot",),
    ),
    "experiment": Kind(
        item(ControlRow("experiment", "email", since=NOW, name="buttons", weights='{"1": 5}')),
        ControlRow,
        decode_experiment,
        use_experiment,
        ("since",),
    ),
    "templates": Kind(
        item(
            ControlRow(
                "templates",
                "in_force",
                version=3,
                checksum="3" * 64,
                settings='{"max_blocks": 5}',
                candidate=4,
                candidate_checksum="4" * 64,
                candidate_settings='{"weights": {"like": 0.5}}',
                percent=20,
                revision=7,
                since=NOW,
                by="somebody",
            )
        ),
        ControlRow,
        lambda row: in_force_of(row, ranges=RANGES),
        use_in_force,
    ),
    "engagement": Kind(
        item(an_engagement_row()), EngagementRow, statistics.engagement_in, use_engagement
    ),
    "bounces": Kind(
        item(BounceRow("h", messages={f"{NOW.isoformat()} m1"}, expires_at=NOW)),
        BounceRow,
        bounces._bounces,
        use_bounces,
    ),
    "suppression": Kind(
        item(SuppressionRow("h", reason="bounced", since=NOW, by={"ann"})),
        SuppressionRow,
        suppressions._suppression,
        use_suppression,
    ),
}


# Anything.

NUMBERS = st.sampled_from(
    """0 -1 1 7 8 23 24 60 0.5 1E+30 -1E+120 1E-130 NaN Infinity 253402300799 253402300800000001
    9999999999 10000000000 99999999999999999999999999999999999999""".split()
)
HOSTILE = """null|[]|{}|[[1],0,0]|[0]|[32]|[[],1,0]|[[1],1,1]|[[8],1,0]|[true]|[[1],1000000000,0]
daily#-5|daily#7|daily|#1|#0000000001|daily#2026-11-22T07:00:00|daily#9999-12-31T23:59:59.999999Z
Mars/Olympus|../../etc/passwd|/etc/passwd|America|zone.tab|localtime|hourly|parked|2026-11-22
2026-13-01|0001-01-01|9999-12-31|9999-12-31T23:59:59.999999Z|0001-01-01T00:00:00.000000Z
2026-11-22T07:00:00|2026-W47-6T07:00:00.000000Z|2026-11-22T07:00:00.000000+""".replace("\n", "|")
WORDS = st.one_of(
    st.sampled_from(["", " ", "a\0b", "[" * 5000, "9" * 5000, *HOSTILE.split("|")]),
    st.text(max_size=30),
)
VALUES = st.one_of(
    NUMBERS.map(lambda number: {"N": number}),
    WORDS.map(lambda text: {"S": text}),
    st.booleans().map(lambda truth: {"BOOL": truth}),
    st.just({"NULL": True}),
    st.binary(max_size=20).map(lambda data: {"B": data}),
    st.lists(WORDS, min_size=1, max_size=3, unique=True).map(lambda texts: {"SS": texts}),
    st.lists(NUMBERS, min_size=1, max_size=3, unique=True).map(lambda numbers: {"NS": numbers}),
    st.sampled_from([{"L": []}, {"M": {}}, {"L": [{"N": "1"}]}, {"M": {"a": {"S": "b"}}}]),
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.sampled_from([0, -1, 1, 5, 7, 8, 24, 60, 10**9, 1e300, 0.5, 8.0])
    | WORDS
    | st.sampled_from(["2026-11-22T07:00:00+00:00", "daily", "never"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a JSON value, the whole of it included."""
    yield path
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for name, each in inner:
        yield from places(each, (*path, name))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    changed = deepcopy(value)
    within = changed
    for name in path[:-1]:
        within = within[name]
    within[path[-1]] = new
    return changed


@st.composite
def changed_rows(draw: st.DrawFn, kind: Kind) -> Item:
    """A good row in which one thing is different."""
    changed = deepcopy(kind.good)
    name = draw(st.sampled_from(sorted(changed)))
    with suppress(KeyError, ValueError):
        if draw(st.booleans()):
            inside = json.loads(changed[name]["S"])
            if isinstance(inside, dict | list):
                where = draw(st.sampled_from(list(places(inside))))
                changed[name] = {"S": json.dumps(replaced(inside, where, draw(JSON)))}
                return changed
    if draw(st.integers(0, 9)) == 0:
        del changed[name]
    else:
        changed[name] = draw(VALUES)
    return changed


def read(kind: Kind, given: Item) -> None:
    """Decode, and compute with what comes out. Raises UnreadableRow."""
    row = kind.model.from_raw_data(deepcopy(given))
    value = decoded(row, kind.decode, needs=kind.needs)
    kind.use(value)


@pytest.mark.parametrize("name", KINDS)
def test_valid_row_can_be_processed(name: str) -> None:
    read(KINDS[name], KINDS[name].good)


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
@settings(max_examples=100)
def test_row_is_unreadable_or_can_be_processed(name: str, data: st.DataObject) -> None:
    kind = KINDS[name]
    with suppress(UnreadableRow):
        read(kind, data.draw(changed_rows(kind)))


PLAIN = an_event_row()
PLAIN.body = body_of(an_event(amended_at=NOW, via=("post#post1",)))
EVENT_ROWS = {"whole": KINDS["event"], "plain": KINDS["event"]._replace(good=item(PLAIN))}


@pytest.mark.parametrize("name", EVENT_ROWS)
def test_valid_event_row_has_summary(name: str) -> None:
    assert brief_in(EVENT_ROWS[name].good, NOW)


@pytest.mark.parametrize("name", EVENT_ROWS)
@given(data=st.data())
@settings(max_examples=300)
def test_readable_event_row_has_summary(name: str, data: st.DataObject) -> None:
    """A window that holds an unreadable event waits, also where nothing of it would be shown."""
    kind = EVENT_ROWS[name]
    given_row = data.draw(changed_rows(kind))
    row = EventRow.from_raw_data(deepcopy(given_row))
    try:
        found = decoded(row, event_or_trace_in)
    except UnreadableRow as unreadable:
        with pytest.raises(UnreadableRow, match=re.escape(str(unreadable))):
            brief_in(given_row, NOW)
        return
    brief = brief_in(given_row, NOW)
    if not isinstance(found, StoredEvent) or row.expires_at <= NOW:
        assert brief is None
        return
    assert brief
    assert brief.decode() == found
    assert brief[:-1] == stored_brief_of(found)[:-1]
