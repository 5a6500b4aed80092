"""Who comes with a link that has ended is mailed a new one, at the address on file."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.links import NEW_LINK, LinkToken
from gazette.domain.model import StoredEvent
from gazette.domain.scheduling.calendar import DigestTimes
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.steps.preferences.new_link import mail_new_link

from tests.builders import KEY, NOW, a_link, a_subscriber
from tests.unit.ingest.test_contract import changed, envelope
from tests.unit.ingest.test_contract_refusals import refusal
from tests.world import World, crashes

YEAR = timedelta(days=365)


@pytest.fixture
def world() -> World:
    """Ann has been there for a year, and wants everything weekly."""
    world = World()
    world.choose(at=NOW - YEAR, comment=Frequency.WEEKLY)
    return world


def ask(world: World, link: LinkToken | None = None) -> bool:
    """Press the button, and let minutes pass."""
    asked = mail_new_link(
        link or a_link(), base_url="https://mail.example.com", context=world.context
    )
    world.clock.now += timedelta(minutes=5)
    world.deliver_queued()
    return asked


def mailed_to(world: World) -> list[str]:
    return [mail.to for mail, _ in world.mailer.accepted]


def test_new_link_is_emailed_immediately_to_stored_address(world: World) -> None:
    world.say(ChangeSubscriber(a_subscriber(changed_at=NOW, email="new@example.com")))
    assert ask(world)
    assert mailed_to(world) == ["new@example.com"]
    ((mail, _),) = world.mailer.accepted
    assert mail.edition.categories == (NEW_LINK,)


def test_new_link_is_emailed_at_most_once_a_day(world: World) -> None:
    for _ in range(3):
        assert ask(world)
    assert len(mailed_to(world)) == 1
    world.clock.now += timedelta(days=1)
    assert ask(world)
    assert len(mailed_to(world)) == 2


def test_failed_new_link_request_can_be_retried() -> None:
    def known() -> World:
        world = World()
        world.choose(at=NOW - YEAR, comment=Frequency.WEEKLY)
        return world

    def press(world: World) -> None:
        mail_new_link(a_link(), base_url="https://mail.example.com", context=world.context)

    for world, where in crashes(known, press):
        world.clock.now += timedelta(hours=1)
        assert ask(world), where
        assert mailed_to(world) == ["ann@example.com"], where


def test_new_link_can_be_requested_again_after_address_change(world: World) -> None:
    assert ask(world)
    moved = a_subscriber(changed_at=world.clock(), email="new@example.com")
    world.say(ChangeSubscriber(moved))
    for _ in range(2):
        assert ask(world)
    assert mailed_to(world) == ["ann@example.com", "new@example.com"]


def test_new_link_is_emailed_to_paused_or_dormant_reader(world: World) -> None:
    paused = DigestTimes(minute=0, paused_until=date(2027, 1, 1))
    world.say(ChangeSubscriber(a_subscriber(changed_at=NOW, times=paused)))
    assert ask(world)
    world.clock.now += timedelta(days=1)
    world.subscribers.set_status("ann", SubscriberStatus.DORMANT)
    assert ask(world)
    assert len(mailed_to(world)) == 2


def test_digest_does_not_repeat_new_link_event(world: World) -> None:
    ask(world)
    world.arm()
    world.send_everything()
    assert len(mailed_to(world)) == 1


def test_attack_former_owner_of_id_cannot_request_new_link(world: World) -> None:
    world.erase()
    world.clock.now += timedelta(minutes=1)
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), email="bo@example.com")))
    assert not ask(world)
    assert not world.mailer.accepted
    bo = world.subscribers.rows["ann"]
    assert isinstance(bo, Subscriber)
    assert ask(world, LinkToken.of(KEY, NOW - YEAR, bo))
    assert mailed_to(world) == ["bo@example.com"]


@pytest.mark.parametrize("status", [SubscriberStatus.UNSUBSCRIBED, SubscriberStatus.SUPPRESSED])
def test_attack_new_link_is_never_emailed_to_unsubscribed_reader(
    world: World, status: SubscriberStatus
) -> None:
    world.subscribers.set_status("ann", status)
    assert not ask(world)
    assert not world.mailer.accepted
    assert not world.events.rows


def test_new_link_is_not_emailed_to_unknown_or_erased_reader() -> None:
    world = World()
    assert not ask(world)
    world.erase()
    assert not ask(world)
    assert not world.events.rows


@pytest.mark.parametrize("path", ["category", "entity.type"])
def test_attack_service_cannot_forge_new_link_event(world: World, path: str) -> None:
    """Nor one that shares its email."""
    ask(world)
    ((_, event_id),) = world.events.rows
    stored = world.events.get("ann", event_id)
    assert isinstance(stored, StoredEvent)
    event = stored.event
    own = {"category": event.category, "entity.type": event.entity.type}
    assert path in refusal(envelope("event.created", changed("event.created", path, own[path])))


def test_new_link_request_does_not_change_choices(world: World) -> None:
    before = replace(a_subscriber(), routed_for="")
    ask(world)
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    assert reader.chosen == (("comment", Frequency.WEEKLY),)
    assert reader.times == before.times
