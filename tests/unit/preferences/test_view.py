"""What was sent, in the browser: what the window of the run holds now, and nothing is written."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from gazette.adapters.rendering.pages import JinjaPages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.sheets import Sheets
from gazette.adapters.web.links import links_of_view
from gazette.domain.commands import ChangeSubscriber, RetractEvent
from gazette.domain.delivery.arrangement import DEFAULT
from gazette.domain.delivery.run import Status
from gazette.domain.links import LinkToken
from gazette.domain.model import DAILY, RunKey
from gazette.domain.ports.rendering import VersionTemplates
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.delivery.versions import Chosen
from gazette.steps.preferences.view import ViewContext, view_email, view_updates

from tests.builders import KEY, a_link, a_run, a_subscriber, an_event
from tests.fakes import FakeLinks
from tests.world import World

View = Callable[..., str | None]

LINK = a_link()
SHARED = links_of_view("a-token", base_url="https://example.com/")


def view_shared(link: LinkToken, *, context: ViewContext) -> str | None:
    """The email in the browser."""
    return view_email(link, SHARED, context=context)


both = pytest.mark.parametrize("view", [view_shared, view_updates], ids=["email", "updates"])


@pytest.fixture
def world() -> World:
    """Ann, who was sent three events on two posts."""
    world = World()
    world.choose()
    world.create(an_event("e1"), an_event("e2"), an_event("e3", entity_id="post2"))
    world.send_digest()
    return world


@pytest.fixture
def pages(built_templates: Path) -> JinjaPages:
    return JinjaPages(Sheets(built_templates))


@pytest.fixture
def viewing(world: World, built_templates: Path, pages: JinjaPages) -> ViewContext:
    """With room for one group in an email."""
    return ViewContext(
        runs=world.runs,
        subscribers=world.subscribers,
        events=world.events,
        follows=world.follows,
        withdrawals=world.withdrawals.current,
        templates=lambda _: Chosen(VersionTemplates(0, JinjaRenderer(built_templates))),
        pages=pages,
        clock=world.clock,
        max_blocks=1,
        arrangement=DEFAULT,
    )


def test_viewed_email_matches_sent_email(world: World, viewing: ViewContext) -> None:
    (email,) = world.emails()
    assert email.lines == ("post1: 2", "post2: 1")
    context = replace(viewing, templates=world.run_templates(), max_blocks=20)
    html = view_email(LINK, FakeLinks().links(LINK), context=context)
    ((mail, _),) = world.mailer.accepted
    assert html == mail.edition.html


def test_viewed_email_omits_same_events_and_list_shows_all(viewing: ViewContext) -> None:
    email, updates = view_shared(LINK, context=viewing), view_updates(LINK, context=viewing)
    assert email is not None
    assert updates is not None
    assert "Title of post1" in email
    assert "Title of post2" not in email
    assert "And 1 more update" in email
    for said in ("3 updates", "Title of post1", "Title of post2", "2 new comments from Bo"):
        assert said in updates


def test_view_of_a_sent_email_does_not_change_when_the_reader_sees_its_entity(
    world: World, viewing: ViewContext
) -> None:
    before = view_shared(LINK, context=viewing), view_updates(LINK, context=viewing)
    for entity in ("post#post1", "post#post2"):
        world.see(entity, at=world.clock())
    world.send_everything()
    assert (view_shared(LINK, context=viewing), view_updates(LINK, context=viewing)) == before
    assert before[0] is not None


def test_views_of_a_sent_email_leave_out_what_was_withdrawn_afterwards(
    world: World, viewing: ViewContext
) -> None:
    world.withdraw(entity="post#post1")
    email, updates = view_shared(LINK, context=viewing), view_updates(LINK, context=viewing)
    for page in (email, updates):
        assert page is not None
        assert "Title of post1" not in page
        assert "Title of post2" in page
    assert updates is not None
    assert "1 update" in updates
    world.withdraw(actor="bo")
    for view in (view_shared, view_updates):
        assert view(LINK, context=viewing) == viewing.pages.nothing_left(a_subscriber())


def test_attack_shared_view_cannot_change_reader_choices(
    viewing: ViewContext,
) -> None:
    html = view_shared(LINK, context=viewing)
    assert html is not None
    links = re.findall(r'href="https://example\.com/([^"]*)"', html)
    assert {"email/a-token", "updates/a-token"} <= set(links)
    assert not re.search("unsubscribe|preferences", html, re.IGNORECASE)


@both
def test_viewed_email_keeps_order_weeks_later(
    world: World, viewing: ViewContext, view: View
) -> None:
    """Age is that at the end of the window: it says less and less of what is older."""
    yesterday = world.clock() - timedelta(hours=25)
    old = an_event("a", category="article", entity_id="old", occurred_at=yesterday)
    world.create(old, an_event("c", entity_id="new", occurred_at=world.clock()))
    world.send_digest()
    arranged = replace(DEFAULT, weights={"comment": 1, "article": 1.2})
    context = replace(viewing, arrangement=arranged, max_blocks=20)
    for days in (0, 20):
        world.clock.pass_time(days=days)
        shown = view(replace(LINK, run=replace(KEY, sequence=2)), context=context)
        assert shown is not None
        assert re.findall('dir="ltr">Title of (new|old)<', shown) == ["new", "old"]


def test_viewed_email_keeps_day_names_weeks_later(world: World, viewing: ViewContext) -> None:
    """From the day on which its run was due, not from that on which it is opened."""
    for days in (0, 20):
        world.clock.pass_time(days=days)
        shown = view_shared(LINK, context=viewing)
        assert shown is not None
        assert "Yesterday, " in shown


@both
def test_view_shows_only_events_of_its_run(world: World, viewing: ViewContext, view: View) -> None:
    world.create(an_event("e4", entity_id="post4"))
    world.send_digest()
    world.create(an_event("e5", entity_id="post5"))
    shown = view(replace(LINK, run=replace(KEY, sequence=2)), context=viewing)
    assert shown is not None
    assert "Title of post4" in shown
    for other in ("post1", "post2", "post5"):
        assert f"Title of {other}" not in shown


@both
def test_view_omits_events_retracted_after_sending(
    world: World, viewing: ViewContext, view: View
) -> None:
    for event_id in ("e1", "e2"):
        world.say(RetractEvent("ann", event_id))
    shown = view(LINK, context=viewing)
    assert shown is not None
    assert "Title of post2" in shown
    assert "Title of post1" not in shown


@both
def test_view_omits_events_expired_after_sending(
    world: World, viewing: ViewContext, view: View
) -> None:
    """An offer that was sent in time is not made once more when it is over."""
    now = world.clock.now
    world.create(replace(an_event("e1"), amended_at=now, expires_at=now + timedelta(hours=1)))
    world.create(replace(an_event("e2"), amended_at=now, expires_at=now + timedelta(hours=1)))
    assert "Title of post1" in (view(LINK, context=viewing) or "")
    world.clock.now += timedelta(hours=1)
    shown = view(LINK, context=viewing)
    assert shown is not None
    assert "Title of post2" in shown
    assert "Title of post1" not in shown


@both
def test_view_reports_that_all_events_have_expired(
    world: World, viewing: ViewContext, view: View, pages: JinjaPages
) -> None:
    now = world.clock.now
    for event_id, post in (("e1", "post1"), ("e2", "post1"), ("e3", "post2")):
        event = an_event(event_id, entity_id=post, amended_at=now)
        world.create(replace(event, expires_at=now))
    assert view(LINK, context=viewing) == pages.nothing_left(a_subscriber())


@both
def test_view_reports_that_no_events_are_left(
    world: World, viewing: ViewContext, view: View, pages: JinjaPages
) -> None:
    world.clock.now += timedelta(days=91)
    assert view(LINK, context=viewing) == pages.nothing_left(a_subscriber())


@both
def test_view_shows_current_text_of_amended_events(
    world: World, viewing: ViewContext, view: View
) -> None:
    amended = an_event("e3", entity_id="post2", actor="Cy", amended_at=world.clock.now)
    world.create(amended)
    context = replace(viewing, max_blocks=2)
    assert "Cy commented" in (view(LINK, context=context) or "")


@both
@pytest.mark.parametrize("status", [Status.PENDING, Status.RETRYING, Status.SKIPPED])
def test_view_of_unclaimed_run_reports_not_sent_yet(
    world: World, viewing: ViewContext, view: View, pages: JinjaPages, status: Status
) -> None:
    run = replace(a_run(2), status=status)
    world.runs.create(run)
    assert view(a_link(run.key), context=viewing) == pages.not_sent(a_subscriber())


@both
@pytest.mark.parametrize("status", [Status.SENDING, Status.UNKNOWN])
def test_email_with_unknown_outcome_can_be_viewed(
    world: World, viewing: ViewContext, view: View, status: Status
) -> None:
    """Whoever has its link has got it."""
    world.runs.rows[KEY] = replace(world.runs.rows[KEY], status=status)
    assert "Title of post1" in (view(LINK, context=viewing) or "")


@both
def test_unsubscribed_reader_can_view_sent_emails(
    world: World, viewing: ViewContext, view: View
) -> None:
    world.unsubscribe()
    assert "Title of post1" in (view(LINK, context=viewing) or "")


@both
def test_view_is_empty_for_erased_reader_or_missing_run(
    world: World, viewing: ViewContext, view: View
) -> None:
    runs = replace(KEY, sequence=2), replace(KEY, schedule="weekly"), RunKey("bo", DAILY, 1)
    others = [replace(LINK, run=run) for run in runs]
    for other in others:
        assert view(other, context=viewing) is None
    world.erase()
    assert view(LINK, context=viewing) is None


@both
def test_new_reader_with_reused_id_sees_no_earlier_email(
    world: World, viewing: ViewContext, view: View, pages: JinjaPages
) -> None:
    world.erase()
    world.clock.now += timedelta(minutes=1)
    world.choose()
    world.create(an_event("e9", occurred_at=world.clock.now))
    back = world.subscribers.rows["ann"]
    assert isinstance(back, Subscriber)
    assert view(a_link(reader=back), context=viewing) == pages.nothing_left(a_subscriber())
    assert view(LINK, context=viewing) is None


@both
def test_attack_former_owner_of_address_cannot_view_emails(
    world: World, viewing: ViewContext, view: View
) -> None:
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), email="new@example.com")))
    assert view(LINK, context=viewing) is None


@both
def test_immediate_email_can_be_viewed(viewing: ViewContext, world: World, view: View) -> None:
    world.choose(comment=Frequency.IMMEDIATE)
    world.create(an_event("e7", entity_id="post7", occurred_at=world.clock.now))
    world.clock.now += timedelta(minutes=2)
    world.deliver_queued()
    (key,) = (key for key in world.runs.rows if key.is_immediate)
    assert "Title of post7" in (view(a_link(key), context=viewing) or "")


@both
def test_view_writes_nothing(world: World, viewing: ViewContext, view: View) -> None:
    with world.calls() as made:
        context = replace(
            viewing, runs=world.runs, subscribers=world.subscribers, events=world.events
        )
        assert view(LINK, context=context)
    assert made == ["runs.get", "subscribers.get", "events.skim"]
