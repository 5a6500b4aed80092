"""Bounces and complaints are counted for each category that an email showed, and put it on hold."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Status
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.feedback.reputation import SPAN, CategoryCounts, CategoryHold
from gazette.domain.model import DAILY, RunKey

from tests.builders import NOW, a_bounce, a_claimed_run, a_complaint, a_run
from tests.world import World, crashes

WHOLE = NOW - SPAN


def sent_to(
    world: World, number: int, *categories: str, at: datetime = NOW, first: int = 0
) -> Iterator[RunKey]:
    """Emails that showed these categories, each to a reader of its own, reported as sent."""
    for each in range(first, first + number):
        key = RunKey(f"reader{each}", DAILY, 1)
        run = replace(a_claimed_run(status=Status.SENT, categories=categories), key=key)
        world.runs.create(run)
        world.feedback(DeliveryEvent(DeliveryEventType.SENT, key, 1, f"m{each}", at))
        yield key


def complained(key: RunKey, at: datetime = NOW) -> DeliveryEvent:
    return replace(a_complaint(), run=key, sent_at=at)


def bounced(key: RunKey) -> DeliveryEvent:
    return replace(a_bounce(), run=key)


def counted(world: World, category: str) -> CategoryCounts:
    return world.category_stats.since(category, WHOLE)


def test_email_counts_for_every_category_shown() -> None:
    world = World()
    first, second = sent_to(world, 2, "comment", "like")
    list(sent_to(world, 1, "like", first=2))
    world.feedback(complained(first))
    world.feedback(bounced(second))
    assert counted(world, "comment") == CategoryCounts(2, 1, 1)
    assert counted(world, "like") == CategoryCounts(3, 1, 1)


def test_duplicate_delivery_event_is_counted_once() -> None:
    world = World()
    (key,) = sent_to(world, 1, "comment")
    for _ in range(3):
        world.feedback(DeliveryEvent(DeliveryEventType.SENT, key, 1, "m0", NOW))
        world.feedback(complained(key))
        world.feedback(bounced(key))
    assert counted(world, "comment") == CategoryCounts(1, 1, 1)


def test_only_bounces_and_complaints_are_counted() -> None:
    world = World()
    (key,) = sent_to(world, 1, "comment")
    for kind in set(DeliveryEventType) - {DeliveryEventType.SENT}:
        world.feedback(DeliveryEvent(kind, key, 1, "m0", NOW))
    assert counted(world, "comment") == CategoryCounts(1)


def test_delivery_event_of_expired_run_is_not_counted() -> None:
    world = World()
    list(sent_to(world, 1, "comment"))
    world.feedback(complained(RunKey("nobody", DAILY, 1)))
    assert counted(world, "comment") == CategoryCounts(1)


def test_ten_complaints_per_thousand_emails_hold_only_that_category() -> None:
    world = World()
    keys = list(sent_to(world, 100, "comment"))
    list(sent_to(world, 100, "like", first=100))
    for key in keys[:9]:
        world.feedback(complained(key))
    assert world.category_holds.active() == []
    for key in keys[9:12]:
        world.feedback(complained(key))
    why = "10 complaints about 100 emails within 7 days: 10.00%"
    assert world.category_holds.active() == [CategoryHold(category="comment", why=why, since=NOW)]
    assert world.told_held == world.category_holds.active()


def test_twentieth_bounce_holds_the_category() -> None:
    world = World()
    for key in list(sent_to(world, 400, "comment"))[:20]:
        assert world.category_holds.active() == []
        world.feedback(bounced(key))
    (hold,) = world.category_holds.active()
    assert hold.why == "20 of 400 emails bounced for good within 7 days: 5.0%"


def test_categories_always_sent_together_are_held_together() -> None:
    """Nobody can tell which of the two a reader complained of."""
    world = World()
    for key in list(sent_to(world, 100, "comment", "like"))[:10]:
        world.feedback(complained(key))
    assert [hold.category for hold in world.category_holds.active()] == ["comment", "like"]


def test_emails_older_than_a_week_are_not_counted() -> None:
    world = World()
    for key in list(sent_to(world, 100, "comment"))[:9]:
        world.feedback(complained(key))
    world.clock.now += SPAN + timedelta(hours=1)
    late = world.clock()
    (key,) = sent_to(world, 1, "comment", at=late, first=100)
    world.feedback(complained(key, late))
    assert world.category_holds.active() == []


def test_crash_may_lose_a_count_but_never_a_suppression() -> None:
    def make() -> World:
        world = World()
        world.choose()
        world.runs.create(a_claimed_run(status=Status.SENT, categories=("comment", "like")))
        world.feedback(DeliveryEvent(DeliveryEventType.SENT, a_run().key, 1, "m1", NOW))
        return world

    for world, where in crashes(make, lambda world: world.feedback(a_complaint())):
        world.feedback(a_complaint())
        assert world.suppressions.rows, where
        for category in ("comment", "like"):
            assert counted(world, category) in {
                CategoryCounts(1),
                CategoryCounts(1, complained=1),
            }, where
