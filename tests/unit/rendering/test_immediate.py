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
    links: Links = DAILY_INSTEAD,
) -> Edition:
    digest = compose(events, max_blocks=20, until=NOW + timedelta(hours=1))
    reader = replace(a_subscriber(), locale=locale, time_zone="Europe/Berlin")
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
        ("he", "תגובה חדשה מאת \u2068Zoë Marsh\u2069 על ", ""),
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
    ("category", "said"),
    [
        ("comment", {"en": "New comments on {}", "de": "Neue Kommentare zu {}"}),
        ("reply", {"en": "New replies in {}", "de": "Neue Antworten in {}"}),
        ("mention", {"en": "You were mentioned in {}", "de": "Du wurdest in {} erwähnt"}),
        ("like", {"en": "New likes on {}", "de": "Neue Gefällt-mir-Angaben zu {}"}),
        ("follow", {"en": "You have new followers", "de": "Neue Personen folgen dir"}),
        ("recommendation", {"en": "Recommended for you: {}", "he": "מומלץ עבורך: {}"}),
        (
            "article",
            {"en": "A new article: {}", "de": "Ein neuer Artikel: {}", "he": "מאמר חדש: {}"},
        ),
        (
            "review_requested",
            {"en": "Review requested: {}", "he": "\u2068Review requested\u2069: {}"},
        ),
    ],
)
def test_subject_says_what_happened_to_which_thing(
    renderer: JinjaRenderer, category: str, said: dict[str, str]
) -> None:
    quoted = {"en": f"“{TITLE}”", "de": f"„{TITLE}“", "he": f"״\u2068{TITLE}\u2069״"}
    for locale, text in said.items():
        made = email(renderer, happened(category=category), locale=locale)
        assert made.subject == text.format(quoted[locale])


CATEGORIES = "article comment follow like mention message recommendation reply build_failed".split()


@pytest.mark.parametrize("locale", ["en", "de", "he"])
@pytest.mark.parametrize("category", CATEGORIES)
def test_emails_of_a_thread_have_one_subject(
    renderer: JinjaRenderer, category: str, locale: str
) -> None:
    """Gmail splits a thread where the subject changes."""
    first, other = happened(category=category), happened(BO, category)
    again = replace(
        other, id="again", excerpt="Again.", entity=replace(other.entity, url="https://x.example")
    )
    third = happened(Actor("kim", "Kim"), category)
    several = [[first, other], [first, other, again], [first, other, third]]
    alone = [[first], [other], [other, again], [other, happened(None, category)]]
    digests = [*several, [happened(None, category)], *([] if category == "message" else alone)]
    subjects = {email(renderer, *events, locale=locale).subject for events in digests}
    [subject] = subjects
    assert TITLE in subject or category == "follow"


@pytest.mark.parametrize("locale", ["en", "de", "he"])
def test_messages_of_one_person_have_one_subject(renderer: JinjaRenderer, locale: str) -> None:
    message = happened(BO, "message")
    [subject] = {
        email(renderer, *events, locale=locale).subject
        for events in ([message], [message, replace(message, id="again", excerpt="Again.")])
    }
    assert "Bo Berg" in subject
    assert TITLE in subject


def test_category_of_the_first_line_decides_the_subject(renderer: JinjaRenderer) -> None:
    """A less relevant category does not move the email to another thread."""
    made = email(renderer, happened(category="mention"), happened(BO, "like"))
    assert made.subject == f"You were mentioned in “{TITLE}”"


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([happened(excerpt="I tried it.")], "Zoë Marsh commented · I tried it."),
        ([happened()], "Zoë Marsh commented"),
        ([happened(), happened(BO, "like")], "Zoë Marsh commented · Bo Berg liked this"),
        ([happened(category="follow")], "Zoë Marsh started following you"),
        ([happened(BO, "message", excerpt="Noon?")], "Noon?"),
        ([happened(BO, "review_requested")], "Review requested by Bo Berg"),
        ([happened(None, excerpt="I tried it.")], "I tried it."),
        ([happened(None, "order_shipped")], "Today, 07:03"),
        ([happened(BO, "recommendation", excerpt="Flour and time.")], "Flour and time."),
    ],
)
def test_preheader_says_who_did_it_unless_the_subject_does(
    renderer: JinjaRenderer, events: list[Event], said: str
) -> None:
    shown = preheader(email(renderer, *events))
    assert shown.replace("08:03", "07:03") == said
    assert TITLE not in shown


def test_headline_names_the_people_of_several_comments(renderer: JinjaRenderer) -> None:
    made = email(renderer, happened(), happened(BO))
    assert words(lxml.html.tostring(headline(made), encoding="unicode")) == (
        f"2 new comments from Zoë Marsh and Bo Berg on {TITLE}"
    )


def test_new_follower_is_not_a_title(renderer: JinjaRenderer) -> None:
    made = email(renderer, happened(category="follow"))
    assert headline(made).text_content() == "Zoë Marsh started following you"
    assert TITLE not in made.text


@pytest.mark.parametrize(
    ("locale", "time", "notice"),
    [
        ("en", "Today, 08:03, Berlin time", "Gazette sends security notices to every account"),
        ("de", "Heute, 08:03, Berliner Zeit", "Gazette schickt Sicherheitshinweise an jedes Konto"),
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


FOLLOWED = ("post#1",)


def footer(made: Edition) -> list[tuple[str, str]]:
    """Return the visible and the accessible name of each link in the footer."""
    links = lxml.html.fromstring(made.html).xpath("//td[@class='footer']//a")
    assert all("underline" in link.get("style") or link.get("class") == "quiet" for link in links)
    return [(link.text_content(), link.get("aria-label", "")) for link in links]


def test_footer_of_an_immediate_email_has_its_controls_in_order(renderer: JinjaRenderer) -> None:
    made = email(renderer, happened())
    assert footer(made) == [
        (
            "Put these in my daily digest instead",
            "Put these in my daily digest instead: comments",
        ),
        ("Mute this", f"Mute this: {TITLE}"),
        ("Turn off comments", ""),
        ("Email settings", ""),
        ("Unsubscribe", "Unsubscribe from all"),
    ]
    labels = [label for label, _ in footer(made)]
    *_, foot = made.text.partition("because your settings say so for comments.\n")
    assert [line.partition(": ")[0] for line in foot.splitlines()[:5]] == labels


@pytest.mark.parametrize("locale", ["en", "de", "he"])
def test_block_of_an_immediate_email_has_no_controls(renderer: JinjaRenderer, locale: str) -> None:
    followed = replace(happened(), via=FOLLOWED)
    for event in (happened(), followed):
        made = email(renderer, event, locale=locale)
        [cell] = lxml.html.fromstring(made.html).xpath("//td[@class='cell']")
        assert {link.get("class") for link in cell.xpath(".//a")} == {"title", "open"}
        assert all("/unsubscribe/" not in href for href in cell.xpath(".//a/@href"))


def test_digest_with_one_update_has_the_controls_of_a_digest(renderer: JinjaRenderer) -> None:
    """Both kinds of email use the same block."""
    followed = replace(happened(), via=FOLLOWED)
    email(renderer, followed)
    made = email(renderer, followed, schedule="daily")
    [cell] = lxml.html.fromstring(made.html).xpath("//td[@class='cell']")
    assert {link.get("class") for link in cell.xpath(".//a")} == {"title", "open"}
    assert footer(made) == [
        ("Change what or when", ""),
        ("Pause", ""),
        ("View in browser", ""),
        ("Unsubscribe", ""),
        ("comments", "Turn off comments"),
        ("single things in this email", ""),
    ]
    assert all_in_text(made) == ["all"]


def test_followed_thing_can_be_unfollowed_in_the_footer(renderer: JinjaRenderer) -> None:
    made = email(renderer, replace(happened(), via=FOLLOWED))
    assert ("Unfollow", f"Unfollow: {TITLE}") in footer(made)
    made = email(renderer, replace(happened(), via=("blog#1",)))
    assert ("Unfollow", "Unfollow") in footer(made)
    assert "\nUnfollow: https://" in made.text


def test_footer_has_at_most_seven_links(named: JinjaRenderer) -> None:
    """The first categories have a link, and the others are on the preference page."""
    categories = ["mention", "comment", "like", "reply", "article"]
    events = [replace(happened(category=each), via=FOLLOWED) for each in categories]
    labels = [label for label, _ in footer(email(named, *events))]
    assert len(labels) == 7
    assert labels[-1] == "Help"
    assert [each for each in labels if each.startswith("Turn off")] == ["Turn off mentions"]
    for links in (DAILY_INSTEAD, LINKS):
        events = [happened(category=each) for each in categories]
        labels = [label for label, _ in footer(email(named, *events, links=links))]
        assert len(labels) == 7


def test_mute_link_precedes_the_links_of_categories(renderer: JinjaRenderer) -> None:
    made = email(renderer, happened())
    for scopes in (all_in_html(made), all_in_text(made)):
        kinds = [each.partition(":")[0] for each in scopes]
        assert kinds == ["i", "m", "c", "all"]


@pytest.fixture(scope="module")
def named(built_templates: Path, tmp_path_factory: pytest.TempPathFactory) -> JinjaRenderer:
    """The renderer of a brand with help pages, whose emails show the person in From."""
    folder = tmp_path_factory.mktemp("named") / "templates"
    shutil.copytree(built_templates, folder)
    brand = json.loads((folder / "brand.json").read_text())
    more = {
        "help": "https://shop.example/help",
        "person_in_from": True,
        "reply_to": {"message": "m@shop.example"},
    }
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
