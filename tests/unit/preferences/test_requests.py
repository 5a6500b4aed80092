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


def test_choice_is_saved_and_shown(world: World) -> None:
    shown = world.submit(LINK, {"hour": ["21"]})
    assert (shown.notice, shown.overview.subscriber.times.hour) == (Notice.SAVED, 21)


def test_invalid_field_saves_nothing_and_keeps_submitted_values(world: World) -> None:
    form = {"hour": ["25"], "weekly_on": ["3"]}
    shown = world.submit(LINK, form)
    assert (shown.notice, set(shown.problems), shown.sent) == (Notice.WRONG, {"hour"}, form)
    assert shown.overview == show(LINK, context=world.page_context()).overview


def test_page_unsubscribe_is_attributed_to_linking_email(world: World) -> None:
    assert world.submit(LINK, {"act": ["unsubscribe"]}).notice is Notice.UNSUBSCRIBED
    assert left_by(world) == [EMAIL]


def test_link_unsubscribe_is_attributed_to_its_email(world: World) -> None:
    assert world.leave(LINK)
    assert left_by(world) == [EMAIL]
    assert not world.leave(OF_NOBODY)


def test_old_address_unsubscribe_is_not_attributed_to_new_address_email(
    world: World,
) -> None:
    world.clock.now += timedelta(minutes=1)
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), email="b@example.com")))
    assert not world.leave(LINK)
    assert left_by(world) == []


def test_unreadable_form_changes_nothing(world: World) -> None:
    def unreadable() -> Fields:
        raise UnreadableForm("no form")

    before = show(LINK, context=world.page_context())
    context = world.page_context()
    shown = submit(LINK, unreadable, context=context, time_left=world.time_left)
    assert (shown.notice, shown.overview) == (Notice.UNREADABLE, before.overview)


def test_link_of_unknown_reader_is_invalid(world: World) -> None:
    with pytest.raises(InvalidToken):
        world.submit(OF_NOBODY, {})
