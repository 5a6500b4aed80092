"""What a request to the preference page does, and what is shown then."""

from datetime import timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.run import Run
from gazette.domain.errors import InvalidToken, UnreadableForm
from gazette.domain.feedback.delivery_events import EngagementEvent
from gazette.domain.model import DAILY, RunKey
from gazette.domain.subscribers.overview import Notice
from gazette.domain.subscribers.preference_form import Fields
from gazette.steps.preferences.requests import show, submit

from tests.builders import NOW, a_link, a_subscriber
from tests.world import World

EMAIL = RunKey("ann", DAILY, 1)
LINK = a_link(EMAIL)
OF_NOBODY = a_link(RunKey("nobody", DAILY, 1))


@pytest.fixture
def world() -> World:
    """Ann got an email, and opens her page."""
    world = World()
    world.subscribers.put(a_subscriber(), replacing=None)
    world.runs.create(Run(EMAIL, NOW, NOW + timedelta(hours=1)))
    return world


def left_by(world: World) -> list[RunKey]:
    return [
        key
        for key, row in world.engagements.rows.items()
        if EngagementEvent.UNSUBSCRIBED in row.first
    ]


def test_a_choice_is_saved_and_shown(world: World) -> None:
    shown = world.submit(LINK, {"hour": ["21"]})
    assert (shown.notice, shown.overview.subscriber.times.hour) == (Notice.SAVED, 21)


def test_where_a_field_is_wrong_nothing_is_saved_and_all_is_as_it_was_sent(world: World) -> None:
    form = {"hour": ["25"], "weekly_on": ["3"]}
    shown = world.submit(LINK, form)
    assert (shown.notice, set(shown.problems), shown.sent) == (Notice.WRONG, {"hour"}, form)
    assert shown.overview == show(LINK, context=world.page_context()).overview


def test_who_leaves_on_the_page_has_left_by_the_email_that_led_there(world: World) -> None:
    assert world.submit(LINK, {"act": ["unsubscribe"]}).notice is Notice.UNSUBSCRIBED
    assert left_by(world) == [EMAIL]


def test_who_leaves_by_the_link_of_an_email_has_left_by_it(world: World) -> None:
    assert world.leave(LINK)
    assert left_by(world) == [EMAIL]
    assert not world.leave(OF_NOBODY)


def test_who_leaves_by_an_email_of_an_old_address_has_not_left_by_the_email_of_the_new(
    world: World,
) -> None:
    world.clock.now += timedelta(minutes=1)
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), email="b@example.com")))
    assert not world.leave(LINK)
    assert left_by(world) == []


def test_a_form_that_cannot_be_read_changes_nothing(world: World) -> None:
    def unreadable() -> Fields:
        raise UnreadableForm("no form")

    before = show(LINK, context=world.page_context())
    context = world.page_context()
    shown = submit(LINK, unreadable, context=context, time_left=world.time_left)
    assert (shown.notice, shown.overview) == (Notice.UNREADABLE, before.overview)


def test_of_whom_nothing_is_known_the_link_is_invalid(world: World) -> None:
    with pytest.raises(InvalidToken):
        world.submit(OF_NOBODY, {})
