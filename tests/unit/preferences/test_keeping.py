"""The notice in the last digests of an inactive reader, and the page behind it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from gazette.adapters.web.links import SignedLinks
from gazette.domain.delivery.run import Run, Status
from gazette.domain.errors import EndedLink, InvalidToken, UnreadableForm
from gazette.domain.links import LinkKeys, Purpose, verify
from gazette.domain.model import DAILY, RunKey
from gazette.domain.ports.rendering import SunsetNotice
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.frequency import Frequency, frequency_for
from gazette.domain.subscribers.leaving import KeepAct, Keeping
from gazette.domain.subscribers.preference_form import Fields
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.steps.delivery.edition import sunset_notice
from gazette.steps.preferences.keeping import look, press

from tests.builders import KEY, NOW, a_link, a_subscriber, an_event
from tests.world import World

DAY = timedelta(days=1)
SUNSET = timedelta(days=45)
KEYS = LinkKeys({"k1": b"1" * 32})
LINKS = SignedLinks(base_url="https://links.example.com", keys=lambda: KEYS).links(a_link())
LINK = a_link()
ENDS_AT = datetime(2027, 1, 10, tzinfo=UTC)


def reader(*, ends_at: datetime = ENDS_AT) -> Subscriber:
    """Ann, in Berlin, with a digest at eight, who becomes dormant at this time."""
    return replace(a_subscriber(), active_on=(ends_at - SUNSET - DAY).date())


def notice(due_at: datetime, schedule: str = DAILY, *, of: Subscriber | None = None) -> object:
    run = Run(RunKey("ann", schedule, 1), due_at, due_at)
    return sunset_notice(run, of or reader(), LINKS, SUNSET)


def at_eight(day: int, month: int = 1) -> datetime:
    return datetime(2027 if month == 1 else 2026, month, day, 7, tzinfo=UTC)


def test_last_two_daily_digests_have_the_notice() -> None:
    days = {day: notice(at_eight(day)) is not None for day in range(5, 12)}
    assert days == {5: False, 6: False, 7: False, 8: True, 9: True, 10: False, 11: False}


def test_last_two_weekly_digests_have_the_notice() -> None:
    """Digests are on Mondays: 21 and 28 December, 4 January."""
    weekly = Frequency.WEEKLY
    found = {day: notice(at_eight(day, 12), weekly) is not None for day in (21, 28)}
    assert found == {21: False, 28: True}
    assert notice(at_eight(4), weekly) is not None


def test_notice_has_the_date_in_the_time_zone_of_the_reader() -> None:
    made = notice(at_eight(9))
    assert isinstance(made, SunsetNotice)
    assert made.ends_on == date(2027, 1, 10)
    west = notice(at_eight(9), of=replace(reader(), time_zone="America/New_York"))
    assert isinstance(west, SunsetNotice)
    assert west.ends_on == date(2027, 1, 9)


def test_reader_who_was_active_gets_no_notice() -> None:
    assert notice(at_eight(9), of=replace(reader(), active_on=date(2027, 1, 8))) is None


def test_immediate_email_and_stage_without_sunset_have_no_notice() -> None:
    assert notice(at_eight(9), immediate_schedule("post#p1")) is None
    run = Run(KEY, at_eight(9), at_eight(9))
    assert sunset_notice(run, reader(), LINKS, None) is None


def test_delivery_adds_the_notice_to_the_email_without_a_call() -> None:
    """The fake renderer ignores the notice, as an older template version does."""

    def calls(sunset: timedelta | None) -> list[str]:
        world = World(sunset=sunset)
        world.subscribers.put(reader(ends_at=NOW + DAY), replacing=None)
        world.events.store(an_event(), DAILY)
        world.runs.create(Run(KEY, NOW, NOW + timedelta(hours=1)))
        world.clock.pass_time(minutes=1)
        with world.calls() as made:
            run = world.generate(KEY)
        assert run
        assert run.status is Status.SENT
        return made

    assert calls(SUNSET) == calls(None)


def test_link_to_keep_the_digest_is_valid_for_nothing_else() -> None:
    token = LINKS.keep().rpartition("/")[2]
    assert verify(token, purpose=Purpose.KEEP, keys=KEYS)
    for purpose in set(Purpose) - {Purpose.KEEP}:
        with pytest.raises(InvalidToken):
            verify(token, purpose=purpose, keys=KEYS)


@pytest.fixture
def world() -> World:
    """Ann becomes dormant tomorrow. She gets comments daily."""
    world = World(sunset=SUNSET)
    world.choose(at=NOW - 60 * DAY, comment=Frequency.DAILY)
    registered_on = (NOW - 60 * DAY).date()
    world.subscribers.rows["ann"] = replace(ann(world), registered_on=registered_on)
    world.subscribers.mark_active("ann", (NOW - SUNSET).date())
    return world


def ann(world: World) -> Subscriber:
    found = world.subscribers.get("ann")
    assert isinstance(found, Subscriber)
    return found


def often(world: World) -> Frequency:
    return frequency_for("comment", chosen=ann(world).chosen, defaults=())


def form(act: str) -> Callable[[], Fields]:
    return lambda: {"act": [act]}


def pressed(
    world: World, read_form: Callable[[], Fields], offer: KeepAct = KeepAct.KEEP
) -> Keeping:
    return press(
        LINK,
        read_form,
        offer,
        context=world.page_context(),
        time_left=lambda: timedelta(seconds=20),
    )


def test_opening_the_page_changes_no_row(world: World) -> None:
    before = ann(world)
    with world.calls() as made:
        shown = look(LINK, KeepAct.KEEP, context=world.page_context())
    assert (shown.act, shown.ends_at) == (None, before.dormant_at(SUNSET))
    assert made == ["subscribers.get"]
    assert ann(world) == before


@pytest.mark.parametrize("offer", KeepAct)
def test_page_does_not_say_that_the_digest_ends_after_an_activity(
    world: World, offer: KeepAct
) -> None:
    """By the button of the page, or by a visit."""
    world.subscribers.mark_active("ann", NOW.date())
    shown = look(LINK, offer, context=world.page_context())
    assert (shown.act, shown.ends_at) == (None, None)


@pytest.mark.parametrize(("later", "is_shown"), [(0, True), (1, True), (2, False), (60, False)])
def test_page_says_that_the_digest_ends_until_it_has_ended(
    world: World, later: int, *, is_shown: bool
) -> None:
    """Ann becomes dormant at the second midnight after the email, whether that is stored or not."""
    world.subscribers.mark_active("ann", (NOW - SUNSET + DAY).date())
    world.clock.now = NOW + later * DAY
    shown = look(LINK, KeepAct.KEEP, context=world.page_context())
    assert (shown.ends_at is not None) is is_shown
    assert (shown.reader.status is SubscriberStatus.DORMANT) is not is_shown


def test_button_counts_as_activity(world: World) -> None:
    assert pressed(world, form("keep")).act is KeepAct.KEEP
    assert ann(world).active_on == NOW.date()
    assert often(world) is Frequency.DAILY


def test_weekly_button_makes_the_digest_weekly(world: World) -> None:
    assert pressed(world, form("weekly"), KeepAct.WEEKLY).act is KeepAct.WEEKLY
    assert ann(world).active_on == NOW.date()
    assert often(world) is Frequency.WEEKLY


def unreadable() -> Fields:
    raise UnreadableForm("no form")


@pytest.mark.parametrize("read_form", [unreadable, form("leave"), dict])
def test_other_requests_change_no_row(world: World, read_form: Callable[[], Fields]) -> None:
    """A scanner may send a POST without the form, or the one of RFC 8058."""
    before = ann(world)
    assert pressed(world, read_form).act is None
    assert ann(world) == before


def test_old_link_resumes_the_email_of_a_dormant_reader(world: World) -> None:
    world.clock.now += 10 * DAY
    assert world.subscribers.set_dormant(ann(world))
    assert pressed(world, form("keep")).act is KeepAct.KEEP
    assert ann(world).status is SubscriberStatus.ACTIVE


def test_unsubscribed_reader_stays_unsubscribed(world: World) -> None:
    world.leave(LINK)
    assert pressed(world, form("keep")).act is None
    assert pressed(world, form("weekly"), KeepAct.WEEKLY).act is None
    assert ann(world).status is SubscriberStatus.UNSUBSCRIBED


def test_link_of_another_address_keeps_no_digest(world: World) -> None:
    world.subscribers.rows["ann"] = replace(ann(world), email="new@example.com")
    with pytest.raises(EndedLink):
        pressed(world, form("keep"))
    assert ann(world).active_on == (NOW - SUNSET).date()
