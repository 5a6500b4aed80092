"""A row that has always changed when it is written: the step ends, and its message comes again."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import pytest
from gazette.domain.errors import NotYet
from gazette.domain.identity import address_hash
from gazette.domain.model import Schedule
from gazette.domain.subscribers.following import Follow
from gazette.domain.subscribers.subscriber import Reader, Subscriber, SubscriberStatus
from gazette.steps.conflicts import ATTEMPTS
from gazette.steps.routing.follows import forget_follow
from gazette.steps.subscribers.schedules import remove_schedules, withdraw
from gazette.steps.subscribers.suppress import stop_reader
from gazette.steps.subscribers.unsubscribe import settle_suppression

from tests.builders import NOW, a_follow, a_schedule, a_subscriber
from tests.fake_stores import FakeFollows, FakeSchedules, FakeSubscribers
from tests.world import World

ADDRESS = address_hash(a_subscriber().email)


@dataclass
class Count:
    """How often a step has tried; more than a step may."""

    tries: int = 0

    def again(self) -> None:
        self.tries += 1
        assert self.tries <= len(ATTEMPTS), "it tries without end"


@dataclass
class ChangingFollows(FakeFollows):
    """As where a row says the same in another way: its condition never holds."""

    count: Count | None = None

    def remove(self, follow: Follow) -> bool:
        assert self.count
        self.count.again()
        return False


@dataclass
class ChangingSchedules(FakeSchedules):
    count: Count | None = None

    def withdraw(self, schedule: Schedule) -> bool:
        assert self.count
        self.count.again()
        return False

    remove = withdraw


@dataclass
class ChangingSubscribers(FakeSubscribers):
    """Somebody else always writes the profile first; with `flips`, another status each time."""

    count: Count | None = None
    flips: bool = False

    def get(self, user_id: str) -> Reader:
        reader = super().get(user_id)
        if not self.flips or not isinstance(reader, Subscriber):
            return reader
        has_left = reader.status is SubscriberStatus.UNSUBSCRIBED
        flipped = SubscriberStatus.ACTIVE if has_left else SubscriberStatus.UNSUBSCRIBED
        self.rows[user_id] = replace(reader, status=flipped)
        return self.rows[user_id]

    def put(self, subscriber: Subscriber, *, replacing: object) -> bool:
        assert self.count
        self.count.again()
        return False


def a_world(**given: object) -> World:
    """Ann, who has a schedule and a follow."""
    world = World(**given)  # type: ignore[arg-type]
    world.subscribers.rows["ann"] = a_subscriber()
    world.schedules.put(a_schedule(), replacing=None)
    world.follows.rows["post#post1", "ann"] = a_follow()
    return world


def forgetting(count: Count) -> Callable[[], object]:
    world = a_world(follows=ChangingFollows(count=count))
    return partial(forget_follow, "post#post1", "ann", None, context=world.context)


def stopping(count: Count) -> Callable[[], object]:
    world = a_world(subscribers=ChangingSubscribers(count=count))
    return partial(
        stop_reader,
        "ann",
        ADDRESS,
        subscribers=world.subscribers,
        schedules=world.schedules,
    )


def leaving(count: Count) -> Callable[[], object]:
    return a_world(subscribers=ChangingSubscribers(count=count)).unsubscribe


def settling(count: Count) -> Callable[[], object]:
    world = a_world(subscribers=ChangingSubscribers(flips=True))
    add = world.suppressions.unsubscribe

    def counted(address: str, user_id: str, at: datetime | None) -> None:
        count.again()
        add(address, user_id, at)

    world.suppressions.unsubscribe = counted  # type: ignore[method-assign, assignment]
    return partial(
        settle_suppression,
        "ann",
        ADDRESS,
        subscribers=world.subscribers,
        suppressions=world.suppressions,
        before=NOW,
    )


def withdrawing(count: Count) -> Callable[[], object]:
    world = a_world(schedules=ChangingSchedules(count=count))
    world.subscribers.set_status("ann", SubscriberStatus.DORMANT)
    return partial(withdraw, "ann", subscribers=world.subscribers, schedules=world.schedules)


def removing(count: Count) -> Callable[[], object]:
    world = a_world(schedules=ChangingSchedules(count=count))
    return partial(remove_schedules, "ann", NOW, context=world.context)


@pytest.mark.parametrize("step", [forgetting, stopping, leaving, settling, withdrawing, removing])
def test_write_to_a_changing_row_is_tried_five_times(
    step: Callable[[Count], Callable[[], object]],
) -> None:
    count = Count()
    act = step(count)
    with pytest.raises(NotYet, match="kept changing"):
        act()
    assert 2 <= count.tries <= len(ATTEMPTS) == 5
