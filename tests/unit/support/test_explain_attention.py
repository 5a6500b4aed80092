"""Explain: muted things, seen and late events, the notice before dormancy, allowed recipients."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.scheduling.calendar import DigestTimes
from gazette.domain.scheduling.cap import ImmediateLimit
from gazette.domain.subscribers.addresses import AllowedRecipients
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.support.words.summary import verdict

from tests.builders import NOW, a_subscriber, an_event
from tests.explained import explained
from tests.world import World

DAY = timedelta(days=1)
SUNSET = timedelta(days=45)


def said(world: World) -> str:
    return " ".join(verdict(explained(world)))


def test_muted_event_that_still_waits_is_not_announced_as_waiting() -> None:
    world = World()
    world.choose()
    world.create(an_event("e1"))
    world.mute()
    text = said(world)
    assert "1 event about things that the reader muted will not be sent." in text
    assert "Waiting:" not in text


def test_event_that_was_seen_is_named_with_its_category() -> None:
    world = World()
    world.choose()
    world.create(an_event("e1"))
    world.see()
    world.send_digest()
    assert "Left out: 1 event of comment, because the reader had already seen" in said(world)


@pytest.mark.parametrize("is_followed", [False, True])
def test_late_events_wait_for_the_digest_instead_of_an_immediate_email(
    *, is_followed: bool
) -> None:
    world = World()
    often = Frequency.DAILY if is_followed else Frequency.IMMEDIATE
    world.choose(at=NOW - 9 * DAY, comment=often)
    world.follow(entity="blog#b1", at=NOW - 9 * DAY, often=Frequency.IMMEDIATE)
    via = ("blog#b1",) if is_followed else ()
    events = [replace(an_event(f"e{age}", occurred_at=NOW - age * DAY), via=via) for age in (2, 3)]
    world.create(*events, an_event("daily", category="like", occurred_at=NOW - 2 * DAY))
    text = said(world)
    assert "2 events wait for the daily digest instead of an immediate email" in text
    assert "3 events for the daily digest" in text
    (late,) = explained(world).late
    assert (late.schedule, late.category, late.count) == ("daily", "comment", 2)


def test_events_of_a_pause_or_of_today_are_not_late() -> None:
    world = World()
    times = DigestTimes(minute=0, paused_until=NOW.date())
    world.say(ChangeSubscriber(a_subscriber(times=times, comment=Frequency.IMMEDIATE)))
    world.create(an_event("e1", occurred_at=NOW - 2 * DAY), an_event("e2", occurred_at=NOW))
    assert explained(world).late == ()


def test_events_over_the_limit_wait_for_the_digest_instead_of_an_immediate_email() -> None:
    world = World(limit=ImmediateLimit(per_hour=1, per_day=1))
    world.choose(at=NOW - 9 * DAY, comment=Frequency.IMMEDIATE)
    world.create(*(an_event(f"e{number}", entity_id=f"post{number}") for number in range(3)))
    text = said(world)
    assert "2 events wait for the daily digest instead of an immediate email" in text
    assert "limit of immediate emails when they arrived (immediate_limit)" in text
    world.clock.now += 2 * DAY
    (over_limit,) = explained(world).over_limit
    assert (over_limit.schedule, over_limit.category, over_limit.count) == ("daily", "comment", 2)
    assert explained(world).late == ()


@pytest.mark.parametrize("is_sent", [False, True])
def test_event_that_is_shown_as_another_is_named(*, is_sent: bool) -> None:
    world = World()
    world.choose(at=NOW - 9 * DAY, comment=Frequency.DAILY, mention=Frequency.DAILY)
    mention = replace(an_event("e1", category="mention"), own_id="m1")
    world.create(an_event("e1", category="comment"), mention)
    if is_sent:
        world.send_digest()
    assert "Not shown:" not in said(World())
    assert "Not shown: 1 event of mention, because emails show another event" in said(world)
    (merged,) = explained(world).merged
    assert (merged.schedule, merged.category, merged.count) == ("daily", "mention", 1)
    assert sum(each.count for each in explained(world).waiting) == (0 if is_sent else 1)


def inactive(days: int) -> World:
    """A world with a reader whose last activity is some days old, and a waiting event."""
    world, then = World(sunset=SUNSET), (NOW - days * DAY).date()
    world.say(ChangeSubscriber(a_subscriber()))
    ann = world.subscribers.rows["ann"]
    assert isinstance(ann, Subscriber)
    world.subscribers.rows["ann"] = replace(ann, registered_on=then, active_on=then)
    world.create(an_event("e1"))
    return world


def test_digests_that_will_have_the_notice_are_named_with_the_end() -> None:
    """The next digests are on 23, 24 and 25 November."""
    text = said(inactive(days=44))
    assert "ann becomes dormant at 2026-11-24 00:00 UTC without a further activity." in text
    assert "If sent, the daily digest of Mon 2026-11-23 08:00 has a notice with links" in text
    text = said(inactive(days=43))
    assert "the daily digest of Mon 2026-11-23 08:00 and the daily digest of Tue" in text
    assert "have a notice" in text


@pytest.mark.parametrize("days", [1, 40])
def test_active_reader_is_told_of_no_notice(days: int) -> None:
    text = said(inactive(days))
    assert "notice" not in text


def test_no_sunset_means_no_notice() -> None:
    world = inactive(44)
    world.sunset = None
    assert explained(world).dormant_at is None
    assert "notice" not in said(world)


def test_reader_to_whom_the_stage_does_not_send_is_told_before_the_first_digest() -> None:
    world = World()
    world.choose()
    world.create(an_event("e1"))
    assert "allowed_recipients" not in said(world)
    world.allowed = AllowedRecipients.of(["@shop.example"])
    text = said(world)
    assert (
        "The stage does not send to their address, because its setting allowed_recipients" in text
    )
    assert "add the address or its domain to allowed_recipients and deploy" in text
    world.allowed = AllowedRecipients.of([a_subscriber("ann").email])
    assert "allowed_recipients" not in said(world)
