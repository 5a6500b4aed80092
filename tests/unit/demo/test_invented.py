"""What the demo invents: one believable event for each real message, and all of them counted."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

import pytest
from gazette.adapters.contract import decode
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.commands import ChangeSubscriber, CreateActivity, CreateEvents
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Event

from demo import campus
from demo.audit import audit
from demo.engine import ROOT
from demo.invented import PICTURES_AT, Happened, happened, thread, wants_at_once
from demo.ses import Accepted
from demo.texts import FACES, PICTURES
from tests.builders import LINKS, NOW
from tests.unit.ingest.test_contract import envelope

FIRST_DAY = date(2026, 11, 22)
CATEGORIES = ("message", "comment", "reply", "like", "mention", "article", "follow", "library")
BLOCKS = 20
FILES = ROOT / "demo" / "data" / "pictures"


@pytest.fixture(scope="module")
def week() -> list[Happened]:
    return happened(campus.messages())


@pytest.fixture(scope="session")
def renderer(built_templates: Path) -> JinjaRenderer:
    return JinjaRenderer(built_templates)


def test_every_source_message_becomes_exactly_one_event(week: list[Happened]) -> None:
    assert [each.message for each in week] == campus.messages()
    assert happened(campus.messages()) == week


def test_demo_events_cover_all_categories_and_optional_fields(week: list[Happened]) -> None:
    found = Counter(each.category for each in week)
    assert all(found[category] >= 100 for category in CATEGORIES)
    people = [each.detail(FIRST_DAY)["actor"] for each in week if each.has_actor]
    assert 100 < len(week) - len(people) < len(week) / 10
    faces = sum("avatar" in person for person in people)
    assert len(people) / 4 < faces < len(people) * 3 / 4
    assert {each.thing.picture for each in week} == {"", *PICTURES}


def test_demo_thread_uses_its_own_entity_and_readers(
    week: list[Happened],
) -> None:
    events = thread()
    assert len({each.thing for each in events}) == 1
    assert [each.message.day for each in events] == [1, 2, 3]
    readers = {each.message.target for each in week} | {each.message.source for each in week}
    assert {each.message.target for each in events}.isdisjoint(readers)
    assert {each.thing.url for each in events}.isdisjoint({each.thing.url for each in week})
    wanted = decode(envelope("subscriber.changed", wants_at_once(NOW)))
    assert isinstance(wanted, ChangeSubscriber)
    assert {each.category for each in events} == {*wants_at_once(NOW)["frequencies"]}


@pytest.mark.parametrize("is_followed", [True, False])
def test_demo_events_match_the_contract(week: list[Happened], is_followed: bool) -> None:
    some = [each for each in [*thread(), *week] if each.is_followed is is_followed][::20]
    expected = CreateActivity if is_followed else CreateEvents
    name = "activity.created" if is_followed else "event.created"
    for each in some:
        assert isinstance(decode(envelope(name, each.detail(FIRST_DAY))), expected)


def test_demo_actor_likes_mentions_or_follows_once_per_day(week: list[Happened]) -> None:
    """So that an email which counts people counts events."""
    did = Counter(
        (each.message.source, each.message.target, each.message.day, each.thing.url, each.category)
        for each in week
        if each.category in ("like", "mention", "follow")
    )
    assert set(did.values()) == {1}


def test_demo_entity_has_same_title_in_all_events(week: list[Happened]) -> None:
    titles = defaultdict(set)
    for each in week:
        titles[each.thing.url].add((each.thing.title, each.thing.picture))
    assert {len(some) for some in titles.values()} == {1}


def test_demo_texts_contain_no_unfilled_placeholders(week: list[Happened]) -> None:
    assert not [each for each in week if "{" in each.excerpt + each.thing.title]


def test_every_demo_image_exists(week: list[Happened]) -> None:
    named = set()
    for each in week:
        detail = each.detail(FIRST_DAY)
        named |= {
            detail.get("actor", {}).get("avatar"),
            detail["entity"].get("image", {}).get("url"),
        }
    files = {path.name for path in FILES.iterdir()}
    assert {url.removeprefix(PICTURES_AT) for url in named if url} == files
    assert files == {f"{name}.jpg" for name in [*PICTURES, *(f"face{n}" for n in range(FACES))]}


def days(week: list[Happened]) -> Iterator[list[Happened]]:
    """What happened to a reader on one day: the fullest one, and one with each category."""
    by_day = defaultdict(list)
    for each in week:
        by_day[each.message.target, each.message.day].append(each)
    full = sorted(by_day.values(), key=len)
    yield full[-1]
    for category in CATEGORIES:
        yield next(day for day in full if category in {each.category for each in day[1:]})


def email(renderer: JinjaRenderer, day: list[Happened]) -> Accepted:
    """The reader's digest, through the real contract, composer and templates."""
    reader = day[0].message.target
    profile = decode(envelope("subscriber.changed", campus.subscriber_changed(reader, NOW)))
    assert isinstance(profile, ChangeSubscriber)
    events: list[Event] = []
    for each in day:
        command = decode(
            envelope("event.created", replace(each, is_followed=False).detail(FIRST_DAY))
        )
        assert isinstance(command, CreateEvents)
        events += command.events
    edition = renderer.render(compose(events, max_blocks=BLOCKS), profile.subscriber, LINKS, DAILY)
    message = EmailMessage(policy=SMTP)
    message["To"] = campus.address(reader)
    message.set_content(edition.text)
    return Accepted("m", campus.address(reader), {"run": f"student{reader}-daily-1"}, message)


def test_audit_counts_every_demo_event(week: list[Happened], renderer: JinjaRenderer) -> None:
    for day in days(week):
        findings = audit(day, [email(renderer, day)])
        assert findings.problems == []
        assert findings.events_in_emails == len(day)


@pytest.mark.parametrize("category", CATEGORIES)
def test_audit_detects_lost_or_duplicate_event_of_any_category(
    week: list[Happened], renderer: JinjaRenderer, category: str
) -> None:
    for day in days(week):
        place = next((n for n, each in enumerate(day) if each.category == category), None)
        if place is None or len(day) == 1:
            continue
        less = day[:place] + day[place + 1 :]
        lost = audit(day, [email(renderer, less)])
        assert (lost.lost_events, lost.repeated_events, lost.clean) == (1, 0, False)
        doubled = audit(less, [email(renderer, day)])
        assert (doubled.lost_events, doubled.repeated_events, doubled.clean) == (0, 1, False)
