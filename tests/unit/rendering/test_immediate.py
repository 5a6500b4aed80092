"""Immediate and critical emails: headline, subject, times, footer and the sender's name."""

import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.texts import from_name
from gazette.domain.delivery.compose import compose
from gazette.domain.model import Actor, Edition, Event
from gazette.domain.ports.rendering import Links
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule

from tests.builders import NOW, a_subscriber, an_event
from tests.unit.rendering.test_critical import words
from tests.unit.rendering.test_leave_links import LINKS, all_in_html, all_in_text

THREAD, CRITICAL = immediate_schedule("post#1"), critical_schedule("post#1")
TITLE = "Sourdough for people with jobs"
DAILY_INSTEAD = replace(LINKS, fallback="daily")
ZOE, BO = Actor("zoe", "Zoë Marsh"), Actor("bo", "Bo Berg")


def happened(actor: Actor | None = ZOE, category: str = "comment", **more: Any) -> Event:
    event = an_event(f"{category}-{actor and actor.id}", category=category, entity_id="1", **more)
    return replace(event, actor=actor, entity=replace(event.entity, title=TITLE))


def email(
    renderer: JinjaRenderer,
    *events: Event,
    schedule: str = THREAD,
    locale: str = "en",
    follows_up: bool = False,
    links: Links = DAILY_INSTEAD,
) -> Edition:
    digest = compose(events, max_blocks=20, until=NOW + timedelta(hours=1))
    reader = replace(a_subscriber(), locale=locale, time_zone="Europe/Berlin")
    digest = replace(digest, follows_up=follows_up)
    return renderer.render(digest, reader, links, schedule, due_at=NOW + timedelta(hours=1))


def headline(made: Edition) -> Any:
    [found] = lxml.html.fromstring(made.html).xpath("//h1")
    return found


def preheader(made: Edition) -> str:
    page = lxml.html.fromstring(made.html)
    text = page.xpath("string(//*[@class='preheader'])").strip("\u034f\u2007\n ")
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("locale", "before", "after"),
    [
        ("en", "Zoë Marsh commented on ", ""),
        ("de", "Zoë Marsh hat ", " kommentiert"),
        ("he", "תגובה חדשה מ־\u2068Zoë Marsh\u2069 על ", ""),
    ],
)
def test_headline_is_a_sentence_with_a_linked_thing(
    renderer: JinjaRenderer, locale: str, before: str, after: str
) -> None:
    made = email(renderer, happened(), locale=locale)
    found = headline(made)
    [link] = found.xpath("./a[@class='title']")
    assert (found.text, link.text_content(), link.tail or "") == (before, TITLE, after)
    assert link.get("href") == happened().entity.url
    first, _, rest = made.text.partition("\n")
    assert first.startswith(before)
    assert first.endswith(after)
    assert TITLE in first
    assert TITLE not in rest, "the title has no line of its own"
    assert TITLE not in preheader(made)


@pytest.mark.parametrize(
    ("locale", "said"),
    [
        ("en", "Zoë Marsh commented on “Sourdough for people with jobs”"),
        ("de", "Zoë Marsh hat „Sourdough for people with jobs“ kommentiert"),
        (
            "he",
            "תגובה חדשה מ־\u2068Zoë Marsh\u2069 על ״\u2068Sourdough for people with jobs\u2069״",
        ),
    ],
)
def test_subject_is_a_sentence(renderer: JinjaRenderer, locale: str, said: str) -> None:
    assert email(renderer, happened(), locale=locale).subject == said


def test_headline_names_the_people_of_several_comments(renderer: JinjaRenderer) -> None:
    made = email(renderer, happened(), happened(BO))
    assert words(lxml.html.tostring(headline(made), encoding="unicode")) == (
        f"2 new comments from Zoë Marsh and Bo Berg on {TITLE}"
    )


def test_new_follower_is_not_a_title(renderer: JinjaRenderer) -> None:
    made = email(renderer, happened(category="follow"))
    assert made.subject == headline(made).text_content() == "Zoë Marsh started following you"


@pytest.mark.parametrize("locale", ["en", "de", "he"])
def test_follow_up_emails_of_a_thread_have_one_subject(
    renderer: JinjaRenderer, locale: str
) -> None:
    """Gmail splits a thread where the subject changes."""
    subjects = {
        email(renderer, *events, locale=locale, follows_up=True).subject
        for events in (
            [happened()],
            [happened(BO)],
            [happened(), happened(BO)],
            [happened(BO, "mention")],
            [happened(BO, "like"), happened()],
        )
    }
    [subject] = subjects
    assert TITLE in subject
    assert subject != email(renderer, happened(), locale=locale).subject


def test_preheader_of_a_follow_up_says_what_happened(renderer: JinjaRenderer) -> None:
    made = email(renderer, happened(excerpt="I tried it."), follows_up=True)
    assert made.subject == f"More on “{TITLE}”"
    assert preheader(made) == "Zoë Marsh commented · I tried it."


@pytest.mark.parametrize("follows_up", [False, True])
def test_subject_of_a_conversation_of_two_stays_the_same(
    renderer: JinjaRenderer, follows_up: bool
) -> None:
    made = email(renderer, happened(BO, "message"), follows_up=follows_up)
    assert made.subject == f"Bo Berg: “{TITLE}”"


@pytest.mark.parametrize(
    ("locale", "time", "notice"),
    [
        ("en", "Today, 08:03, Berlin time", "Gazette sends security notices to every account"),
        ("de", "Heute, 08:03,", "Gazette schickt Sicherheitshinweise an jedes Konto"),
        ("he", "היום, 8:03,", "התראות אבטחה של Gazette נשלחות לכל חשבון"),
    ],
)
def test_critical_email_is_headed_by_its_title(
    renderer: JinjaRenderer, locale: str, time: str, notice: str
) -> None:
    event = happened(None, "security_alert", excerpt="Firefox on Windows. Was this you?")
    event = replace(event, entity=replace(event.entity, title="New sign-in from Lisbon"))
    made = email(renderer, event, schedule=CRITICAL, locale=locale)
    assert made.subject == headline(made).text_content() == "New sign-in from Lisbon"
    for part in (words(made.html), words(f"<p>{made.text}</p>")):
        assert time in part
        assert notice in part
        assert "security_alert" not in part.lower()
        assert "Security alert" not in part
    assert '"Firefox' not in made.text, "the excerpt is the service's own text"
    assert not lxml.html.fromstring(made.html).xpath("//blockquote")
    city = {"en": "Berlin", "de": "Berlin", "he": "ברלין"}[locale]
    assert city in made.text
    assert city not in email(renderer, event, locale=locale).text


def test_block_of_a_critical_email_is_not_shared_with_other_emails(
    renderer: JinjaRenderer,
) -> None:
    event = happened(None, "security_alert")
    first, second = (email(renderer, event, schedule=each).html for each in (THREAD, CRITICAL))
    assert "Berlin time" not in first
    assert "Berlin time" in second
    assert email(renderer, event).html == first


def test_critical_email_of_several_people_keeps_their_quotes(renderer: JinjaRenderer) -> None:
    made = email(renderer, happened(excerpt="Yes."), happened(BO, excerpt="No."), schedule=CRITICAL)
    assert headline(made).text_content() == TITLE
    assert "2 new comments from" in words(made.html)
    assert 'Zoë Marsh: "Yes."' in made.text


@pytest.mark.parametrize(
    ("locale", "often", "label"),
    [
        ("en", "daily", "Put these in my daily digest instead"),
        ("en", "weekly", "Put these in my weekly digest instead"),
        ("en", "custom", "Put these in my digest instead"),
        ("de", "daily", "Lieber in meine tägliche Zusammenfassung"),
        ("he", "daily", "העברה לתקציר היומי"),
    ],
)
def test_footer_offers_the_digest_instead(
    renderer: JinjaRenderer, locale: str, often: str, label: str
) -> None:
    made = email(renderer, happened(), locale=locale, links=replace(LINKS, fallback=often))
    for scopes in (all_in_html(made), all_in_text(made)):
        assert [each for each in scopes if each.startswith("i:")] == ["i:comment"]
    assert label in words(made.html)
    assert f"{label}: https://" in made.text


@pytest.mark.parametrize(
    ("schedule", "links"),
    [(THREAD, LINKS), (CRITICAL, replace(LINKS, fallback="daily"))],
    ids=["a reader without a digest", "a critical email"],
)
def test_footer_does_not_offer_a_missing_digest(
    renderer: JinjaRenderer, schedule: str, links: Links
) -> None:
    made = email(renderer, happened(), schedule=schedule, links=links)
    assert not any(each.startswith("i:") for each in all_in_html(made) + all_in_text(made))
    assert "instead" not in words(made.html) + made.text


def test_mute_link_precedes_the_links_of_categories(renderer: JinjaRenderer) -> None:
    made = email(renderer, happened())
    for scopes in (all_in_html(made), all_in_text(made)):
        kinds = [each.partition(":")[0] for each in scopes]
        assert kinds.index("m") < kinds.index("c") < kinds.index("all")


@pytest.fixture(scope="module")
def named(built_templates: Path, tmp_path_factory: pytest.TempPathFactory) -> JinjaRenderer:
    """The renderer of a brand whose emails show the person in From."""
    folder = tmp_path_factory.mktemp("named") / "templates"
    shutil.copytree(built_templates, folder)
    brand = json.loads((folder / "brand.json").read_text())
    more = {"person_in_from": True, "reply_to": {"message": "m@shop.example"}}
    (folder / "brand.json").write_text(json.dumps({**brand, **more}))
    return JinjaRenderer(folder)


def test_sender_is_the_person_who_acted(named: JinjaRenderer, renderer: JinjaRenderer) -> None:
    assert email(named, happened(BO)).from_name == "Bo Berg (Gazette)"
    assert email(named, happened(BO), happened(BO, "like")).from_name == "Bo Berg (Gazette)"
    assert email(renderer, happened(BO)).from_name == ""


def test_replies_go_to_the_address_of_the_category(named: JinjaRenderer) -> None:
    for schedule in (THREAD, "daily"):
        assert email(named, happened(BO, "message"), schedule=schedule).reply_to == "m@shop.example"
        assert email(named, happened(BO), schedule=schedule).reply_to == ""


@pytest.mark.parametrize(
    "given",
    [
        {"events": (happened(), happened(BO))},
        {"events": (happened(None), happened(BO))},
        {"events": (happened(None),)},
        {"events": (happened(), happened(BO, "like"))},
        {"events": (happened(BO),), "schedule": CRITICAL},
        {"events": (happened(BO),), "schedule": "daily"},
    ],
    ids=["two people", "and someone", "nobody", "two categories", "critical", "digest"],
)
def test_sender_is_the_service_unless_one_person_acted(
    named: JinjaRenderer, given: dict[str, Any]
) -> None:
    events = given.pop("events")
    assert email(named, *events, **given).from_name == ""


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Bo Berg", "Bo Berg (Shop)"),
        ("  Bo \n Berg ", "Bo Berg (Shop)"),
        ("Zoë O’Neill-Marsh", "Zoë O’Neill-Marsh (Shop)"),
        ("נועה לוי", "נועה לוי (Shop)"),
        ("Bo\r\nBcc: x@y.example", ""),
        ("Bo\u202egreB", "BogreB (Shop)"),
        ("Bo\u200e", ""),
        ("bo@example.com", ""),
        ("bo＠example.com", ""),
        ("example.com", ""),
        ("https://x", ""),
        ('Bo" <x@y.example>', ""),
        ("Bo, Berg", ""),
        ("=?utf-8?q?Bo?=", ""),
        ("Shop", ""),
        ("Ｓｈｏｐ team", ""),
        ("Shop Support", ""),
        ("Support", ""),
        ("a" * 200, ""),
        ("\u200b", ""),
        ("Bo\ud800", ""),
    ],
)
def test_attack_name_of_a_person_cannot_pose_as_another_sender(name: str, shown: str) -> None:
    assert from_name(name, "Shop") == shown
