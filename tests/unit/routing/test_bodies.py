"""Tests of the bodies of a happening: which one is shown, and where the row waits."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from gazette.domain.happening.bodies import Wanted, settle, with_body, without_body
from gazette.domain.model import Entity, Event
from gazette.domain.scheduling.calendar import Days, Recurrence
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule, urgent_schedule

AT = datetime(2026, 3, 2, 12, tzinfo=UTC)  # a Monday
POST = Entity("post", "p1", "On digests", "https://example.com/p1")
COMMENT = Event(
    id="comment-1",
    user_id="ann",
    category="comment",
    entity=POST,
    actor=None,
    occurred_at=AT,
    via=(POST.key,),
)
MENTION = replace(COMMENT, own_id="mention-1", category="mention", via=())
REPLY = replace(MENTION, own_id="reply-1", category="reply")

NOW = immediate_schedule(POST.key)
EVERY_DAY = Recurrence(8, 0, "UTC")
MONDAYS = replace(EVERY_DAY, days=Days(frozenset({1})))
THURSDAYS = replace(EVERY_DAY, days=Days(frozenset({4})))


def immediate(event: Event) -> Wanted:
    return Wanted(event, NOW)


def daily(event: Event) -> Wanted:
    return Wanted(event, "daily", EVERY_DAY)


def test_row_without_wanted_bodies_is_not_stored() -> None:
    assert settle([]) is None


def test_single_body_is_stored_as_if_it_were_alone() -> None:
    settled = settle([daily(COMMENT)])
    assert settled
    assert (settled.shown, settled.others) == (COMMENT, ())
    assert (settled.schedule, settled.recurrence) == ("daily", EVERY_DAY)


def test_addressed_body_is_shown_where_the_followed_body_would_wait() -> None:
    settled = settle([immediate(COMMENT), daily(MENTION)])
    assert settled
    assert (settled.shown, settled.others) == (MENTION, (COMMENT,))
    assert (settled.schedule, settled.recurrence) == (NOW, None)


def test_body_that_is_sent_sooner_is_shown_among_addressed_bodies() -> None:
    settled = settle([daily(MENTION), immediate(REPLY)])
    assert settled
    assert settled.shown == REPLY


def test_own_id_decides_between_equal_bodies() -> None:
    settled = settle([daily(REPLY), daily(MENTION)])
    assert settled
    assert settled.shown == MENTION


def test_critical_body_is_shown_at_once() -> None:
    critical = Wanted(COMMENT, critical_schedule(POST.key))
    settled = settle([immediate(MENTION), critical])
    assert settled
    assert (settled.shown, settled.schedule) == (COMMENT, critical.schedule)


def test_urgent_body_is_sent_sooner_than_an_immediate_one() -> None:
    settled = settle([immediate(MENTION), Wanted(COMMENT, urgent_schedule(POST.key))])
    assert settled
    assert (settled.shown, settled.schedule) == (MENTION, urgent_schedule(POST.key))


@pytest.mark.parametrize(
    ("occurred_at", "schedule"),
    [(AT, "custom"), (AT + timedelta(days=4), "weekly")],
)
def test_row_waits_in_the_digest_that_is_due_first_after_the_happening(
    occurred_at: datetime, schedule: str
) -> None:
    mention = Wanted(replace(MENTION, occurred_at=occurred_at), "weekly", MONDAYS)
    comment = Wanted(replace(COMMENT, occurred_at=occurred_at), "custom", THURSDAYS)
    settled = settle([mention, comment])
    assert settled
    assert settled.schedule == schedule


def test_bodies_that_wait_for_a_profile_wait_together() -> None:
    settled = settle([Wanted(COMMENT, "waiting"), Wanted(MENTION, "waiting")])
    assert settled
    assert (settled.shown, settled.schedule) == (MENTION, "waiting")


def test_result_does_not_depend_on_the_order_of_the_bodies() -> None:
    wanted = [daily(COMMENT), daily(MENTION), immediate(REPLY)]
    assert len({settle(order) for order in permutations(wanted)}) == 1


def test_bodies_do_not_depend_on_the_order_of_arrival() -> None:
    for order in permutations((COMMENT, MENTION, REPLY)):
        bodies: tuple[Event, ...] = ()
        for event in order:
            bodies = with_body(bodies, event)
        assert bodies == (COMMENT, MENTION, REPLY)


def test_newer_version_of_a_body_replaces_the_older_one() -> None:
    amended = replace(MENTION, excerpt="Hi.", amended_at=AT)
    for order in permutations((MENTION, amended)):
        bodies: tuple[Event, ...] = (COMMENT,)
        for event in order:
            bodies = with_body(bodies, event)
        assert bodies == (COMMENT, amended)


def test_repeated_body_changes_nothing() -> None:
    bodies = (COMMENT, MENTION)
    assert with_body(bodies, MENTION) is bodies


def test_body_is_removed_by_its_own_id() -> None:
    assert without_body((COMMENT, MENTION), "mention-1") == (COMMENT,)
    assert without_body((COMMENT, MENTION), "") == (MENTION,)
    assert without_body((COMMENT,), "mention-1") == (COMMENT,)
