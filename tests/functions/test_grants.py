"""What each function does to each table is what it may do in AWS: no less, and no more."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any, Never
from urllib.parse import urlencode

import pytest
from botocore.client import BaseClient
from gazette.adapters.aws.queues import decode_run_key
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.bootstrap import generate, resend
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.compose import Digest
from gazette.domain.delivery.run import Reason, Status, name_of
from gazette.domain.errors import RenderingFailed, Unavailable
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY, Edition, RunKey
from gazette.domain.ports.rendering import Links
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.preference_form import follow_field
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.delivery import windows
from gazette.steps.preferences import view
from gazette.steps.sweep import audit

from tests.builders import SUPPRESSION_KEY, a_claimed_run, a_run, a_window
from tests.functions.conftest import Cloud, fan_out, granted_with, make_cold
from tests.functions.failing import dead_letter, refused_to_the_end
from tests.functions.in_stages import Provider
from tests.functions.messages import (
    ago,
    bounce,
    complaint,
    delivery_event,
    event,
    follow,
    happening,
    http,
    profile,
    reference,
)
from tests.functions.recommending import recommendations_of_every_kind
from tests.functions.serving import services_of_every_kind
from tests.functions.supporting import support_of_every_kind

Meanwhile = Callable[[str, str, Callable[[], None]], None]


@pytest.fixture
def meanwhile(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[Meanwhile]:
    """Let something happen right after the next call of an operation on a table."""
    pending: list[tuple[str, str, Callable[[], None]]] = []
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def interrupted(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        answer = real(client, operation, request)
        tables = request.get("RequestItems", {request.get("TableName")})
        for each in [each for each in pending if each[0] in tables and each[1] == operation]:
            pending.remove(each)
            with cloud.meter.acting("somebody else"):
                each[2]()
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", interrupted)
        yield lambda table, operation, act: pending.append((table, operation, act))
    assert not pending, "it did not come to that"


def erase(user_id: str) -> None:
    DynamoSubscribers("subscribers").erase(user_id, datetime.now(UTC))


def follow_and_crash(user_id: str, entity: str, state: FollowState) -> None:
    """The row is written, and nothing that ought to follow."""
    follows = DynamoFollows("follows", retention=timedelta(days=90), clock=now)
    before = follows.get(entity, user_id)
    changes = before.changes if before else ()
    at = datetime.fromisoformat(ago(hours=2 - len(changes) / 10))
    assert follows.put(Follow(entity, user_id, (*changes, (at, state))), replacing=before)


def a_day_of_a_reader(cloud: Cloud) -> None:
    """From the first event to a follow that comes late, the link of an email, and erasure.

    And a follow from before the erasure.

    Emails go out at the account's quota.
    """
    cloud.say("event.created", event(1))
    cloud.say("subscriber.changed", profile())
    cloud.say("subscriber.active", {"user_id": "ann", "active_at": ago()})
    cloud.say("event.created", event(2), {**event(2), "amended_at": ago()})
    cloud.work("generate", *fan_out(cloud))
    cloud.say("event.retracted", {"id": "e9", "user_id": "ann"})
    cloud.say("activity.created", happening(7), happening(6))
    for _ in range(2):
        cloud.say("event.retracted", {"id": "e6", "entity": reference("post#p1")})
    cloud.say("follow.created", follow())
    DynamoRuns("runs", retention=timedelta(days=180)).create(a_run(2))
    path = cloud.unsubscribe_path()
    cloud.invoke("preferences", http("GET", path))
    cloud.invoke("preferences", http("POST", path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view, "MOST_WHOLE", 0)  # as of a window with very many events
        for name in ("email", "updates"):
            assert cloud.invoke("preferences", http("GET", cloud.link(name)))["statusCode"] == 200
    cloud.say("subscriber.changed", profile(changed_at=ago(days=1)))
    cloud.say("subscriber.deleted", {"user_id": "ann", "deleted_at": ago()})
    cloud.say("follow.created", follow())


def choices_that_change(cloud: Cloud) -> None:
    """What waits in a digest moves, with a run open and without, and is taken back."""
    for number, user_id, chosen in ((3, "bo", ("weekly", "never")), (4, "bea", ("immediate",))):
        cloud.say("subscriber.changed", profile(user_id))
        cloud.say("event.created", event(number, user_id=user_id))
        for day, frequency in enumerate(chosen, 1):
            frequencies = {"comment": frequency}
            changed_at = ago(days=9 - day)
            changed = profile(user_id, changed_at=changed_at, frequencies=frequencies)
            cloud.say("subscriber.changed", changed)


def a_reader_whose_leaving_broke_off(cloud: Cloud) -> None:
    """The status is written, and the schedule is still in the due index."""
    cloud.say("subscriber.changed", profile("ida"))
    cloud.arm("ida")
    with cloud.meter.acting("somebody else"):
        cloud.set_status("ida", SubscriberStatus.UNSUBSCRIBED)
    cloud.say("subscriber.changed", profile("ida", changed_at=ago(days=1)))


def a_dormant_reader(cloud: Cloud) -> None:
    """Nothing was seen of hal for long, and fan-out has to ask."""
    cloud.say("subscriber.changed", profile("hal"))
    cloud.arm("hal")
    subscribers, schedules = (
        DynamoSubscribers("subscribers"),
        DynamoSchedules("schedules", shards=1),
    )
    hal, daily = subscribers.get("hal"), schedules.get("hal", DAILY)
    assert isinstance(hal, Subscriber)
    assert daily is not None
    long_ago = replace(hal, registered_on=date(2026, 1, 1), revision=hal.revision + 1)
    assert subscribers.put(long_ago, replacing=hal)
    assert schedules.put(replace(daily, active_until=None), replacing=daily)
    assert [body for body in fan_out(cloud, "hal") if '"hal"' in body] == []


def bring(cloud: Cloud, number: int, entity: str = "post#p1") -> None:
    """The message of a page of followers."""
    page = {"entity": entity, "activity_id": f"e{number}", "side": entity, "after": ""}
    cloud.work("followers", json.dumps(page | {"through": "~"}))


def followers_of_every_kind(cloud: Cloud, meanwhile: Meanwhile) -> None:
    """At once and weekly, amended and retracted, and with what only a crash or a race leaves.

    Ingest brings an activity to a few by itself; here it finds nobody yet.
    """
    for user_id in ("cy", "di", "ed", "flo"):
        cloud.say("subscriber.changed", profile(user_id))
    for number, entity in ((4, "post#p1"), (5, "post#p5"), (6, "post#p6")):
        cloud.say("activity.created", happening(number, entity=entity))
    walk = {"entity": "post#p1", "activity_id": "e4", "side": "post#p1", "after": ""}
    cloud.work("followers", json.dumps(walk))

    follow_and_crash("cy", "post#p1", FollowState(True))
    follow_and_crash("di", "post#p1", FollowState(True, Frequency.IMMEDIATE))
    bring(cloud, 4)
    follow_and_crash("cy", "post#p1", FollowState(True, Frequency.WEEKLY))
    follow_and_crash("di", "post#p1", FollowState(False))
    bring(cloud, 4)

    follow_and_crash("ed", "post#p5", FollowState(True, Frequency.WEEKLY))
    meanwhile("schedules", "PutItem", lambda: cloud.set_status("ed", SubscriberStatus.UNSUBSCRIBED))
    bring(cloud, 5, "post#p5")
    follow_and_crash("flo", "post#p6", FollowState(True, Frequency.CUSTOM))
    meanwhile("schedules", "PutItem", lambda: erase("flo"))
    bring(cloud, 6, "post#p6")

    cloud.say("activity.created", {**happening(8), "occurred_at": ago(minutes=118)})
    DynamoSubscribers("subscribers").erase("gil", datetime.fromisoformat(ago(minutes=117)))
    cloud.say("subscriber.changed", profile("gil", changed_at=ago(minutes=116)))
    for state in (FollowState(True), FollowState(True, Frequency.WEEKLY)):
        follow_and_crash("gil", "post#p1", state)
    bring(cloud, 8)

    cloud.say("activity.created", {**happening(4), "amended_at": ago()})
    cloud.say("event.retracted", {"id": "e4", "entity": reference("post#p1")})
    bring(cloud, 4)


def touch(key: RunKey) -> None:
    """A stop, right before the claim."""
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    run = runs.get(key)
    assert run
    runs.swap(run, replace(run, epoch=run.epoch + 1))


def an_unknown_outcome_that_is_carried(
    cloud: Cloud, meanwhile: Meanwhile, step: str, user_id: str
) -> None:
    """What may have gone out was carried before, an event cannot be shown, and the claim loses.

    The change comes after an email could be rendered: what operators decide is read from the same
    table once a minute, which may be before the run is read a last time.
    """
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    cloud.say("subscriber.changed", profile(user_id))
    cloud.say("event.created", event(1, user_id=user_id), event(2, user_id=user_id))
    message = next(body for body in fan_out(cloud, user_id) if user_id in body)
    due = runs.get(RunKey(user_id, DAILY, 1))
    assert due
    claimed = replace(
        due,
        attempt=1,
        window=a_window(until=now()),
        deadline=now(),
        newest=(name_of("e1"), name_of("e2")),
    )
    closed = {
        RunKey(user_id, DAILY, 2): (Reason.REFUSED_FOR_GOOD, frozenset[int]()),
        RunKey(user_id, DAILY, 1): (Reason.CARRIED_INTO, frozenset({1})),
    }
    last = RunKey(user_id, DAILY, 3)
    with cloud.meter.acting("somebody else"):
        for key, (reason, uncertain) in closed.items():
            runs.create(replace(due, key=key))
            before = runs.get(key)
            assert before
            after = replace(claimed, key=key, reason=reason, uncertain=uncertain)
            runs.swap(before, replace(after, status=Status.FAILED))
        runs.create(replace(due, key=last))
    real = JinjaRenderer.render
    changes_before_the_claim = cache(
        lambda: meanwhile("control", "BatchGetItem", lambda: touch(RunKey(user_id, DAILY, 1)))
    )

    def choking(
        renderer: JinjaRenderer,
        digest: Digest,
        subscriber: Subscriber,
        links: Links,
        schedule: str,
        *,
        variation: int = 1,
        due_at: datetime | None = None,
        is_first: bool = False,
    ) -> Edition:
        if any(group.latest.id == "e1" for group in digest.groups) or digest.events == 2:
            raise RenderingFailed("poison")
        changes_before_the_claim()
        return real(renderer, digest, subscriber, links, schedule)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JinjaRenderer, "render", choking)
        cloud.work(step, message.replace('"sequence": 1', '"sequence": 3'))
    sent = runs.get(last)
    assert sent
    assert sent.status is Status.SENT


def a_run_whose_version_is_not_in_force(cloud: Cloud, step: str, user_id: str) -> None:
    """It was claimed with a version of the templates, which is looked up in the history."""
    cloud.say("subscriber.changed", profile(user_id))
    cloud.say("event.created", event(1, user_id=user_id))
    message = next(body for body in fan_out(cloud, user_id) if user_id in body)
    with cloud.meter.acting("somebody else"):
        runs = DynamoRuns("runs", retention=timedelta(days=180))
        found = runs.get(decode_run_key(message))
        assert found
        runs.swap(found, replace(found, status=Status.RETRYING, attempt=1, templates=7))
    cloud.work(step, message)


def a_digest_without_held_categories(cloud: Cloud, step: str, user_id: str) -> None:
    """One event is deferred, the other goes out."""
    holds = DynamoCategoryHolds("control")
    cloud.say("subscriber.changed", profile(user_id))
    like = event(2, user_id=user_id) | {"category": "like"}
    cloud.say("event.created", event(1, user_id=user_id), like)
    message = next(body for body in fan_out(cloud, user_id) if user_id in body)
    with cloud.meter.acting("somebody else"):
        holds.add(category_hold("like", "complaints", now()))
    build = generate.build if step == "generate" else resend.build
    build.cache_clear()
    with cloud.meter.acting(step):
        build()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "MOST_WHOLE", 0)  # as of a window with very many events
        cloud.work(step, message)
    with cloud.meter.acting("somebody else"):
        holds.release("like")
    build.cache_clear()
    assert cloud.recipients()[-1] == f"{user_id}@example.com"


def a_run_that_failed_and_is_redriven(cloud: Cloud) -> None:
    """Which goes on as any other from there."""
    cloud.say("subscriber.changed", profile("pat"))
    cloud.say("event.created", event(1, user_id="pat"))
    message = next(body for body in fan_out(cloud, "pat") if "pat" in body)
    with cloud.meter.acting("somebody else"):
        failed = refused_to_the_end(message)
    cloud.work("resend", dead_letter(failed))
    (started,) = [each["Body"] for each in cloud.take("resend") if "pat" in each["Body"]]
    cloud.work("resend", started)
    assert cloud.recipients()[-1] == "pat@example.com"


def a_reader_who_chooses(cloud: Cloud, meanwhile: Meanwhile) -> None:
    """Who leaves, starts again, moves, asks for a new link, and is erased while choosing.

    What waits moves, to a digest and to what goes out at once, and is taken back: also where
    somebody else moved it first, and where a run is open.
    """
    cloud.say("subscriber.changed", profile("nia"))
    cloud.say("follow.created", follow("nia"))
    cloud.say("event.created", event(1, user_id="nia"))
    cloud.say("activity.created", happening(3))
    path = cloud.preferences_path("nia")

    def press(**sent: str) -> None:
        form = http("POST", path, urlencode(sent), "application/x-www-form-urlencoded")
        assert cloud.invoke("preferences", form)["statusCode"] in {200, 410}, "410: it has ended"

    press(**{"hour": "5", follow_field("post#p1"): "daily"})
    weekly = profile("nia", changed_at=ago(days=9), frequencies={"comment": "weekly"})
    meanwhile("schedules", "GetItem", lambda: cloud.say("subscriber.changed", weekly))
    press(frequency="immediate")
    press(**{follow_field("post#p1"): "unfollow"})
    changed = profile("nia", changed_at=ago(days=9), digest={"hour": 20, "weekly": {}})

    def change_after_the_next_look() -> None:
        meanwhile("schedules", "Query", lambda: cloud.say("subscriber.changed", changed))

    meanwhile("schedules", "Query", change_after_the_next_look)
    press(hour="6")
    press(act="unsubscribe")
    press(act="start")
    moved = {"email": "nia@new.example", "changed_at": ago(days=8)}
    cloud.say("subscriber.changed", {**profile("nia"), **moved})
    press()
    path = cloud.preferences_path("nia")
    erased = {"user_id": "nia", "deleted_at": ago()}
    meanwhile("subscribers", "UpdateItem", lambda: cloud.say("subscriber.deleted", erased))
    press(hour="7")


def choose_and_crash(user_id: str, frequency: Frequency) -> None:
    """The choice is stored and marked, and nothing that waits was routed."""
    subscribers = DynamoSubscribers("subscribers")
    reader = subscribers.get(user_id)
    assert isinstance(reader, Subscriber)
    choices = (*reader.choices, (now(), (("comment", frequency),)))
    chosen = replace(reader, choices=choices, revision=reader.revision + 1)
    assert subscribers.put(chosen, replacing=reader)
    subscribers.mark_rerouted(user_id, now())


def choices_that_reach_a_run_which_was_started(
    cloud: Cloud, meanwhile: Meanwhile, step: str, *user_ids: str
) -> None:
    """What the reader does not follow any more is taken back, also where the first try loses.

    What they want weekly or at once moves, also of one who is erased meanwhile.
    """
    entity = f"post#{step}"
    follower, weekly, erased, at_once = user_ids
    messages = {}
    for number, user_id in enumerate(user_ids, start=20):
        cloud.say("subscriber.changed", profile(user_id))
        if user_id == follower:
            cloud.say("follow.created", follow(user_id, entity))
            cloud.say("activity.created", happening(number, entity=entity))
        else:
            cloud.say("event.created", event(number, user_id=user_id))
        messages[user_id] = next(body for body in fan_out(cloud, user_id) if user_id in body)
    with cloud.meter.acting("somebody else"):
        follow_and_crash(follower, entity, FollowState(False))
        DynamoSubscribers("subscribers").mark_rerouted(follower, now())
        choose_and_crash(weekly, Frequency.WEEKLY)
        choose_and_crash(erased, Frequency.WEEKLY)
        choose_and_crash(at_once, Frequency.IMMEDIATE)

    def raise_the_epoch() -> None:
        meanwhile("runs", "Query", lambda: touch(decode_run_key(messages[follower])))

    before = len(cloud.recipients())
    meanwhile("follows", "BatchGetItem", raise_the_epoch)
    cloud.work(step, messages[follower])
    cloud.work(step, messages[weekly])
    cloud.work(step, messages[at_once])
    meanwhile("schedules", "PutItem", lambda: erase(erased))
    cloud.work(step, messages[erased])
    assert len(cloud.recipients()) == before


def an_unknown_outcome_that_a_delivery_event_settles_and_one_that_the_sweep_does(
    cloud: Cloud,
) -> None:
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    long_ago = now() - timedelta(days=1)
    unknown = a_claimed_run(
        7,
        categories=("comment",),
        status=Status.UNKNOWN,
        uncertain=frozenset({1}),
        deadline=long_ago,
        check_at=long_ago,
    )
    with cloud.meter.acting("somebody else"):
        for user_id in ("jo", "kim"):
            key = RunKey(user_id, DAILY, 7)
            before = runs.create(replace(a_run(7), key=key))
            runs.swap(before, replace(unknown, key=key))
    cloud.work("feedback", delivery_event("Sent", "jo-daily-7"))
    cloud.say("subscriber.changed", profile("jo"))
    cloud.arm("jo")
    cloud.work("feedback", bounce("jo-daily-7", kind="Transient"), bounce("jo-daily-7"))
    cloud.work("feedback", complaint("jo-daily-7"))
    cloud.invoke("sweep", {"time": now().isoformat()})
    for partition in range(16):
        cloud.work("sweep", json.dumps({"partition": partition}))


def a_mailbox_that_is_full_for_weeks(cloud: Cloud) -> None:
    """The runs tell whether an email arrived in between."""
    about = {
        "bounceType": "Transient",
        "bounceSubType": "General",
        "reportingMTA": "dsn; mta.example.com",
    }
    for days in (22, 11, 0):
        minutes, message_id = days * 24 * 60, f"0100-full-{days}"
        bounced = delivery_event(
            "Bounced", "kim-daily-7", minutes=minutes, message_id=message_id, bounce=about
        )
        cloud.work("feedback", bounced)


def a_run_that_is_not_read_together_with_others(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_: object) -> Never:
        raise Unavailable("DynamoDB did not process a key.")

    with monkeypatch.context() as patch:
        patch.setattr(DynamoRuns, "get_many", unavailable)
        cloud.work("feedback", delivery_event("Sent", "kim-daily-7", record="send"))


def a_reader_whose_address_was_suppressed_by_hand(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile("noa"))
    cloud.say("event.created", event(1, user_id="noa"))
    with cloud.meter.acting("somebody else"):
        hashed = address_hash("noa@example.com")
        DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=now).add(hashed, Cause.MANUAL)
    cloud.work("generate", *fan_out(cloud, "noa"))


def a_critical_activity_for_a_follower_who_has_left(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("GAZETTE_CRITICAL_CATEGORIES", '["security"]')
        make_cold()
        cloud.say("subscriber.changed", profile("zoe"))
        cloud.say("activity.created", {**happening(9, entity="post#p9"), "category": "security"})
        follow_and_crash("zoe", "post#p9", FollowState(True))
        with cloud.meter.acting("somebody else"):
            cloud.set_status("zoe", SubscriberStatus.UNSUBSCRIBED)
        bring(cloud, 9, "post#p9")
    make_cold()


def a_schedule_that_changes_while_it_is_due(cloud: Cloud, meanwhile: Meanwhile) -> None:
    """Fan-out reads it again, and advances it."""
    schedules = DynamoSchedules("schedules", shards=1)

    def raise_revision() -> None:
        daily = schedules.get("sam", DAILY)
        assert daily
        assert schedules.put(replace(daily, revision=daily.revision + 1), replacing=daily)

    cloud.say("subscriber.changed", profile("sam"))
    cloud.say("event.created", event(1, user_id="sam"))
    meanwhile("runs", "PutItem", raise_revision)
    assert any('"sam"' in body for body in fan_out(cloud, "sam"))
    with cloud.meter.acting("somebody else"):
        daily = schedules.get("sam", DAILY)
        assert daily
        assert daily.sequence == 2


def an_event_that_is_forgotten(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever stored it died before arming its schedule, and the message is gone."""
    schedules = DynamoSchedules("schedules", shards=1)
    cloud.say("subscriber.changed", profile("ria"))
    cloud.say("event.created", event(1, user_id="ria"))
    with cloud.meter.acting("somebody else"):
        daily = schedules.get("ria", DAILY)
        assert daily
        assert schedules.put(daily.idle(), replacing=daily)
    monkeypatch.setattr(audit, "_ALL", audit._EVERY)
    for partition in range(16):
        cloud.work("sweep", json.dumps({"partition": partition}))
    with cloud.meter.acting("somebody else"):
        armed = schedules.get("ria", DAILY)
        assert armed
        assert armed.listed


def a_slot_in_which_something_was_left_behind(cloud: Cloud) -> None:
    """And is there no more: its row goes."""
    slot = slot_of(now() - timedelta(days=3))
    batches = DynamoBatches("control", retention=timedelta(days=180), clock=now)
    with cloud.meter.acting("somebody else"):
        batches.leave_behind(0, slot)
    at = slot.isoformat()
    cloud.work("fanout", json.dumps({"shard": 0, "since": at, "until": at}))
    with cloud.meter.acting("somebody else"):
        assert not batches.left_behind()


@pytest.mark.enable_socket
@pytest.mark.usefixtures("later")
def test_every_function_uses_exactly_its_table_permissions(
    cloud: Cloud, provider: Provider, meanwhile: Meanwhile, monkeypatch: pytest.MonkeyPatch
) -> None:
    if provider.name == "ses":
        monkeypatch.setenv("GAZETTE_EMAILS_PER_SECOND", "0")
    cloud.send_quota.update(MaxSendRate=500.0, Max24HourSend=50_000.0)
    a_day_of_a_reader(cloud)
    choices_that_change(cloud)
    followers_of_every_kind(cloud, meanwhile)
    a_reader_whose_leaving_broke_off(cloud)
    a_dormant_reader(cloud)
    a_reader_who_chooses(cloud, meanwhile)
    a_reader_whose_address_was_suppressed_by_hand(cloud)
    a_mailbox_that_is_full_for_weeks(cloud)
    a_run_that_is_not_read_together_with_others(cloud, monkeypatch)
    an_unknown_outcome_that_is_carried(cloud, meanwhile, "generate", "lea")
    an_unknown_outcome_that_is_carried(cloud, meanwhile, "resend", "max")
    a_digest_without_held_categories(cloud, "generate", "ned")
    a_digest_without_held_categories(cloud, "resend", "oli")
    a_run_whose_version_is_not_in_force(cloud, "generate", "pam")
    a_run_whose_version_is_not_in_force(cloud, "resend", "quy")
    a_run_that_failed_and_is_redriven(cloud)
    support_of_every_kind(cloud)
    a_critical_activity_for_a_follower_who_has_left(cloud, monkeypatch)
    choices_that_reach_a_run_which_was_started(
        cloud, meanwhile, "generate", "rio", "sol", "tia", "udo"
    )
    choices_that_reach_a_run_which_was_started(
        cloud, meanwhile, "resend", "uma", "vic", "wim", "xia"
    )
    an_unknown_outcome_that_a_delivery_event_settles_and_one_that_the_sweep_does(cloud)
    a_schedule_that_changes_while_it_is_due(cloud, meanwhile)
    an_event_that_is_forgotten(cloud, monkeypatch)
    a_slot_in_which_something_was_left_behind(cloud)
    recommendations_of_every_kind(cloud, monkeypatch, meanwhile)
    services_of_every_kind(cloud, meanwhile)
    granted = granted_with(provider.name)
    nothing: dict[str, set[tuple[str, str]]] = {step: set() for step in granted}
    used = cloud.meter.actions
    assert {step: used[step] - may for step, may in granted.items()} == nothing
    assert {step: may - used[step] for step, may in granted.items()} == nothing
