"""The acceptance: its steps and synthetic readers, the slot of the digest, and what it refuses."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from gazette.adapters.contract.decoding import read_detail
from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import PaceReading, Quota
from gazette.domain.delivery.streams import Streams
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.hosts import LinkHosts
from gazette.domain.sources import Sources
from gazette.domain.subscribers.addresses import SIMULATOR
from gazette.domain.subscribers.frequency import ASKED_CATEGORIES

from gazette_support.domain.acceptance.readers import (
    AT_ONCE,
    CATEGORY,
    Role,
    allowed_link,
    allowed_source,
    event,
    event_id,
    invalid_event,
    latest_start,
    next_due,
    profile,
    readers_of,
)
from gazette_support.domain.acceptance.rows import EXPECTED, REQUIRES, Step, selected
from gazette_support.steps.acceptance.ready import refusals
from gazette_support.steps.acceptance.run import SHOWS
from tests.builders import NOW

ID = "0123abcd"
READERS = readers_of(ID, to="", has_simulator=True)
LAG = timedelta(minutes=5)


def pace(**values: object) -> PaceReading:
    reading: dict[str, object] = {
        "rate": 1.0,
        "full_rate": 1.0,
        "taken": 0,
        "cap": None,
        "quota": None,
        "free_since": NOW,
        "breaker": None,
    }
    return PaceReading(**{**reading, **values})  # type: ignore[arg-type]


def refused(digest: PaceReading, immediate: PaceReading | None = None) -> list[str]:
    streams = Streams(digest=digest, immediate=immediate or pace())
    return [*refusals(streams, [], digests=4, immediate=1)]


def test_every_step_has_an_expectation_requirements_and_a_function() -> None:
    assert {*EXPECTED} == {*REQUIRES} == {*Step}
    assert {*SHOWS} == {*Step} - {Step.READY}


def test_required_steps_come_before_the_steps_that_require_them() -> None:
    order = [*Step]
    for step, required in REQUIRES.items():
        assert all(order.index(each) < order.index(step) for each in required)


@pytest.mark.parametrize(
    ("only", "steps"),
    [
        ((), [*Step]),
        ((Step.ERASE,), [Step.ERASE]),
        ((Step.EVENTS,), [Step.READY, Step.PROFILES, Step.EVENTS, Step.ERASE]),
        (
            (Step.REDRIVE,),
            [Step.READY, Step.PROFILES, Step.EVENTS, Step.DIGEST, Step.REDRIVE, Step.ERASE],
        ),
    ],
)
def test_selection_includes_required_steps_and_the_erasure(
    only: tuple[Step, ...], steps: list[Step]
) -> None:
    assert selected(only) == steps


def test_opt_outs_include_the_steps_that_stop_readers() -> None:
    assert {Step.BOUNCE, Step.COMPLAINT, Step.ONE_CLICK} < {*selected([Step.OPT_OUTS])}


def test_readers_have_labelled_addresses_at_the_simulator() -> None:
    assert {role: reader.email for role, reader in READERS.items()} == {
        Role.OK: f"success+{ID}-ok@{SIMULATOR}",
        Role.BOUNCE: f"bounce+{ID}-bounce@{SIMULATOR}",
        Role.COMPLAINT: f"complaint+{ID}-complaint@{SIMULATOR}",
        Role.LEAVES: f"success+{ID}-leaves@{SIMULATOR}",
    }
    assert all(each.is_simulated for each in READERS.values())
    assert READERS[Role.OK].user_id == f"accept-{ID}-ok"


def test_address_of_the_operator_is_used_for_the_reader_who_unsubscribes() -> None:
    readers = readers_of(ID, to="me@shop.example", has_simulator=True)
    assert [role for role in readers if not readers[role].is_simulated] == [Role.LEAVES]


def test_smtp_has_only_the_readers_that_need_no_simulator() -> None:
    readers = readers_of(ID, to="me@shop.example", has_simulator=False)
    assert {role: each.email for role, each in readers.items()} == {
        Role.OK: "me@shop.example",
        Role.LEAVES: "me@shop.example",
    }


@pytest.mark.parametrize("role", [*Role])
def test_details_match_their_schemas(role: Role) -> None:
    reader = READERS[role]
    due = next_due(NOW, settle_lag=LAG)
    assert not read_detail("subscriber.changed", profile(reader, due_at=due, now=NOW)).problems
    for category in (CATEGORY, AT_ONCE):
        detail = event(
            reader, event_id(ID, "x"), category=category, url="https://a.example/", now=NOW
        )
        assert not read_detail("event.created", detail).problems


def test_invalid_event_has_one_problem() -> None:
    detail = invalid_event(READERS[Role.OK], event_id(ID, "x"), now=NOW)
    (problem,) = read_detail("event.created", detail).problems
    assert problem.startswith("detail.entity.url")


def test_profile_queries_no_content_source_and_is_due_at_the_slot() -> None:
    due = datetime(2026, 11, 22, 6, 20, tzinfo=UTC)
    detail = profile(READERS[Role.OK], due_at=due, now=NOW)
    assert detail["digest"] == {"hour": 6, "minute": 20}
    assert {detail["frequencies"][each] for each in ASKED_CATEGORIES} == {"never"}


@pytest.mark.parametrize(
    ("now", "due"),
    [
        ("06:00:00", "06:10"),
        ("06:03:00", "06:10"),
        ("06:03:01", "06:20"),
        ("06:09:59", "06:20"),
        ("23:59:00", "00:10"),
    ],
)
def test_digest_is_due_at_a_slot_that_can_contain_the_events(now: str, due: str) -> None:
    begin = datetime.fromisoformat(f"2026-11-22T{now}+00:00")
    assert f"{next_due(begin, settle_lag=LAG):%H:%M:%S}" == f"{due}:00"


def test_fanout_has_started_a_digest_one_tick_after_its_slot() -> None:
    due = datetime(2026, 11, 22, 6, 20, tzinfo=UTC)
    assert due + timedelta(minutes=19) < latest_start(due) < due + timedelta(minutes=20)


@pytest.mark.parametrize(
    ("hosts", "link"),
    [
        ([], "https://example.com/"),
        (["b.example", "a.example"], "https://a.example/"),
        (["*.shop.example"], "https://www.shop.example/"),
    ],
)
def test_link_leads_to_an_allowed_host(hosts: list[str], link: str) -> None:
    allowed = LinkHosts.of(hosts)
    assert allowed_link(allowed) == link
    assert allowed.allow(link)


@pytest.mark.parametrize(
    ("listed", "source"),
    [
        ({}, "gazette.acceptance"),
        ({"event.created": ["b", "a"]}, "a"),
        ({"event.created": ["a", "gazette.acceptance"]}, "gazette.acceptance"),
        ({"subscriber.changed": ["a"]}, "gazette.acceptance"),
    ],
)
def test_source_is_allowed(listed: dict[str, list[str]], source: str) -> None:
    sources = Sources.of(json.loads(json.dumps(listed)))
    assert allowed_source("event.created", sources) == source
    assert not sources.refusal("event.created", source)


def test_stage_that_can_send_is_not_refused() -> None:
    roomy = pace(cap=200, taken=196, quota=Quota(rate=1.0, daily=200, left=4))
    assert refused(roomy) == []


@pytest.mark.parametrize(
    ("reading", "why"),
    [
        (pace(cap=200, taken=197), "warm-up has room for 3 of 4 digest emails"),
        (pace(cap=200, taken=250), "warm-up has room for 0 of 4 digest emails"),
        (
            pace(quota=Quota(rate=1.0, daily=200, left=3)),
            "quota of the account has room for 3 of 4",
        ),
        (
            pace(breaker=OpenBreaker(why="stop", since=NOW, until=NOW, step=timedelta(0))),
            "The stream of digest email is stopped.",
        ),
    ],
)
def test_stage_that_cannot_send_is_refused(reading: PaceReading, why: str) -> None:
    (line,) = refused(reading)
    assert why in line


def test_immediate_stream_needs_room_for_one_email() -> None:
    (line,) = refused(pace(), pace(cap=10, taken=10))
    assert "room for 0 of 1 immediate emails" in line


def test_hold_of_the_own_category_is_refused_and_of_others_is_not() -> None:
    holds = [category_hold(each, "bounces", NOW) for each in (CATEGORY, "comment")]
    (line,) = refusals(Streams(digest=pace(), immediate=pace()), holds, digests=4, immediate=1)
    assert f"gazette sending resume --category {CATEGORY}" in line
