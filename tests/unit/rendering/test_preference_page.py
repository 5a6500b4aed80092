"""The preference page as HTML: whole, labelled, in words, and nothing breaks out of it."""

import base64
import hashlib
import json
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from gazette.adapters.contract.fields import TimeZone
from gazette.adapters.rendering.brand import DARK, LIGHT, contrast
from gazette.adapters.rendering.places import zones
from gazette.adapters.rendering.preference_page import PreferencePages
from gazette.adapters.rendering.sheets import Sheets
from gazette.domain.scheduling.calendar import Days, DigestTimes
from gazette.domain.stored import as_stored
from gazette.domain.subscribers.choices import NO_CHOICES, Choice
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.frequency import DEFAULT, Frequency, frequencies
from gazette.domain.subscribers.overview import Notice, Overview
from gazette.domain.subscribers.preference_form import (
    Act,
    Fields,
    Problem,
    Submission,
    follow_field,
)
from gazette.domain.subscribers.preference_form import asked as asked_of
from gazette.domain.subscribers.subscriber import SubscriberStatus
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from gazette_cdk.assets.templates.build import build_templates
from tests.builders import NOW, a_follow, a_subscriber

ROOT = Path(__file__).parents[3]
VOID = {"meta", "input", "img", "br", "link", "source"}


class Document(HTMLParser):
    """Every element with its attributes, the ids, and the text; fails where tags do not nest."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def of(self, *tags: str) -> list[dict[str, str]]:
        """The attributes of every such element."""
        return [attributes for tag, attributes in self.elements if tag in tags]

    def ids(self) -> Counter[str]:
        return Counter(attributes["id"] for _, attributes in self.elements if "id" in attributes)

    def selected(self, name: str) -> list[str]:
        """The values of a select that are chosen, or of boxes that are ticked."""
        found, inside = [], False
        for tag, attributes in self.elements:
            if tag in {"select", "input"}:
                inside = attributes.get("name") == name
            is_on = "selected" in attributes or "checked" in attributes
            if inside and is_on and tag in {"option", "input"}:
                found.append(attributes["value"])
        return found


@pytest.fixture(scope="module")
def pages(built_templates: Path) -> PreferencePages:
    return PreferencePages(Sheets(built_templates), built_templates)


def overview(**changed: Any) -> Overview:
    """Ann, who chose everything weekly and follows two posts."""
    reader = a_subscriber(like=Frequency.NEVER)
    own = NO_CHOICES.with_choice(NOW, Choice(frequency=Frequency.WEEKLY, weekly_on=5))
    titled = Follow("post#post2", "ann", ((NOW, FollowState(True, None, "On digests")),))
    given = {
        "subscriber": reader.with_choices(reader.service_choices, own),
        "follows": (a_follow(frequency=Frequency.DAILY), titled),
        "next_due_at": datetime(2026, 11, 26, 7, 0, tzinfo=UTC),
        **changed,
    }
    return Overview(now=NOW, defaults=(("build_failed", Frequency.IMMEDIATE),), **given)


def shown(pages: PreferencePages, what: Overview | None = None, **given: Any) -> Document:
    return Document(pages.page(what or overview(), **given))


def said(pages: PreferencePages, what: Overview | None = None, **given: Any) -> str:
    """What stands in the status message, on one line."""
    html = pages.page(what or overview(), **given)
    found = re.search(r'role="status">(.*?)</div>', html, re.DOTALL)
    assert found
    return " ".join(Document(f"<div>{found[1]}</div>").text.split())


# What is shown.


def test_settings_page_shows_effective_values(pages: PreferencePages) -> None:
    page = shown(pages)
    assert page.selected("frequency") == ["weekly"]
    assert page.selected("weekly_on") == ["5"]
    assert page.selected("days") == ["1", "2", "3", "4", "5"]
    assert page.selected("hour") == ["8"]
    assert page.selected("time_zone") == ["Europe/Berlin"]
    assert page.selected("category-like") == ["never"]
    assert page.selected("category-comment") == [""]
    assert page.selected("category-build_failed") == [""]
    assert page.selected(follow_field("post#post1")) == ["daily"]
    for words in ("Comments", "Build failed", "On digests", "post post1", "a•••@example.com"):
        assert words in page.text
    assert "ann@example.com" not in pages.page(overview())


def test_unset_general_frequency_stays_unset_on_the_page(pages: PreferencePages) -> None:
    page = shown(pages, overview(subscriber=a_subscriber()))
    assert page.selected("frequency") == [""]
    assert "frequency" not in [each.get("name") for each in page.of("select")]


def options(html: str, field: str) -> list[str]:
    """The words of a list's options, in order."""
    (found,) = re.findall(rf'<select id="{field}".*?</select>', html, re.DOTALL)
    return [" ".join(each.split()) for each in re.findall(r"<option[^>]*>(.*?)</option>", found)]


def test_recommended_and_default_options_show_their_values(
    pages: PreferencePages,
) -> None:
    html = pages.page(overview(subscriber=a_subscriber()))
    text = " ".join(Document(html).text.split())
    assert "Every day (recommended) Right away: Build failed Every day" in text
    assert options(html, "category-build_failed")[0] == "Default: right away"
    assert options(html, "category-like")[0] == "Default: daily"
    assert options(html, follow_field("post#post1"))[0] == "Default for this type"
    assert options(pages.page(overview()), "category-build_failed")[0] == "Default: weekly"


@pytest.mark.parametrize(
    ("locale", "first_day", "hour"),
    [("en", "Monday", "15:00"), ("en-US", "Sunday", "3:00 PM"), ("he", "יום ראשון", "15:00")],
)
def test_clock_and_week_follow_the_readers_country(
    pages: PreferencePages, locale: str, first_day: str, hour: str
) -> None:
    html = pages.page(overview(subscriber=replace(a_subscriber(), locale=locale)))
    assert options(html, "weekly_on")[0] == first_day
    assert options(html, "hour")[15] == hour
    assert len(set(options(html, "hour"))) == 24


def test_digest_day_is_visible_if_a_default_requires_a_day(
    pages: PreferencePages,
) -> None:
    """The style sheet shows the others as they are chosen; without `:has()` it shows all."""

    def always(what: Overview, **given: Any) -> list[str]:
        return [
            each["class"]
            for each in shown(pages, what, **given).of("div")
            if "always" in each.get("class", "")
        ]

    reader = a_subscriber()
    assert always(overview(subscriber=reader)) == []
    weekly = replace(overview(subscriber=reader), defaults=(("like", Frequency.WEEKLY),))
    assert always(weekly) == ["row if-weekly always"]
    problems = {"days": Problem.NO_DAYS}
    assert always(overview(), notice=Notice.WRONG, problems=problems) == ["if-custom always"]


@pytest.mark.parametrize(
    ("field", "place"),
    [
        ("hour", "when"),
        ("quiet_until", "quiet-hours"),
        ("category-like", "categories"),
        (follow_field("post#post1"), "follows"),
    ],
)
def test_collapsed_section_is_open_if_a_field_is_invalid(
    pages: PreferencePages, field: str, place: str
) -> None:
    html = pages.page(overview(), notice=Notice.WRONG, problems={field: Problem.NOT_OFFERED})
    assert Document(html).of("details").count({"open": ""}) == 1
    (section,) = re.findall(rf'<section id="{place}".*?</section>', html, re.DOTALL)
    assert "<details open>" in section
    assert not [each for each in shown(pages).of("details") if "open" in each]


def test_sections_linked_from_emails_exist_once(pages: PreferencePages) -> None:
    ids = shown(pages).ids()
    for section in ("often", "when", "categories", "follows", "pause", "leave"):
        assert ids[section] == 1


def test_zone_without_a_place_is_selected(pages: PreferencePages) -> None:
    reader = replace(a_subscriber(), time_zone="Etc/GMT+3")
    assert shown(pages, overview(subscriber=reader)).selected("time_zone") == ["Etc/GMT+3"]


def test_every_offered_zone_is_accepted_by_the_contract() -> None:
    take = TypeAdapter(TimeZone).validate_python
    assert len(zones()) > 300
    assert [take(name) for name in zones()] == list(zones())
    assert {"Europe/Berlin", "America/Argentina/Salta"} <= set(zones())
    assert not {"UTC", "EST", "Etc/UTC", "US/Eastern"} & set(zones())


def test_days_of_the_month_are_shown_as_text_without_checkboxes(pages: PreferencePages) -> None:
    reader = a_subscriber(times=DigestTimes(custom_on=Days(month_day=31)))
    page = shown(pages, overview(subscriber=reader))
    assert page.selected("days") == []
    assert "Now it is day 31 of each month." in page.text


def test_follow_count_is_shown(pages: PreferencePages) -> None:
    many = tuple(a_follow(entity=f"post#{number}") for number in range(1234))
    assert "You follow 1,234 items." in shown(pages, overview(follows=many)).text
    assert "What you follow" not in shown(pages, overview(follows=())).text


@pytest.mark.parametrize(
    ("after", "more", "links"),
    [
        ("", "post#a b&c", ["?follows=post%23a+b%26c#follows"]),
        ("post#1", "post#2", ["?follows=post%232#follows", "?#follows"]),
        ("post#2", "", ["?#follows"]),
    ],
)
def test_settings_page_links_to_the_remaining_follows(
    pages: PreferencePages, after: str, more: str, links: list[str]
) -> None:
    html = pages.page(overview(follows_after=after, more_follows=more))
    text = Document(html).text
    assert "You follow more than this page can show. Here are 2 of the items." in text
    assert [link for link in re.findall('href="([^"]*)"', html) if link.startswith("?")] == links
    emptied = shown(pages, overview(follows=(), follows_after=after, more_follows=more))
    assert "Here are 0 of the items." in emptied.text


# What comes next, in words.


def test_next_digest_time_uses_the_readers_clock(pages: PreferencePages) -> None:
    assert said(pages, notice=Notice.SAVED) == (
        "Saved. You get one digest every Friday, and no emails about likes. "
        "1 item that you follow has its own setting. "
        "Your next digest: Thursday, 26 November 2026, 08:00, Berlin time, "
        "if there is anything new."
    )
    at_once = overview(subscriber=a_subscriber(comment=Frequency.IMMEDIATE), next_due_at=None)
    assert said(pages, at_once) == (
        "You get one digest a day, and build failed and comments right away. "
        "1 item that you follow has its own setting. You have no digest scheduled."
    )


PAUSED = replace(a_subscriber(times=DigestTimes(paused_until=date(2026, 12, 14))))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"subscriber": PAUSED}, "Your emails are paused until 14 December 2026."),
        ({"next_due_at": None}, "You have no digest scheduled."),
        (
            {"subscriber": replace(PAUSED, status=SubscriberStatus.UNSUBSCRIBED)},
            "You're unsubscribed: Gazette sends you no emails.",
        ),
        (
            {"subscriber": replace(PAUSED, status=SubscriberStatus.SUPPRESSED)},
            "We don't send you emails, because earlier emails bounced",
        ),
        (
            {"subscriber": replace(PAUSED, status=SubscriberStatus.DORMANT)},
            "We paused your emails because you haven't visited for a while.",
        ),
    ],
)
def test_next_digest_is_described_in_words(
    pages: PreferencePages, changed: dict[str, Any], words: str
) -> None:
    assert words in said(pages, overview(**changed))


@pytest.mark.parametrize("notice", list(Notice))
def test_notice_is_shown_unless_the_status_conveys_the_result(
    pages: PreferencePages, notice: Notice
) -> None:
    silent = {Notice.UNSUBSCRIBED, Notice.WRONG}
    assert (said(pages, notice=notice) == said(pages)) == (notice in silent)


@pytest.mark.parametrize(
    ("status", "buttons"),
    [
        (SubscriberStatus.ACTIVE, ["save", "1", "2", "4", "pause", "unsubscribe"]),
        (SubscriberStatus.DORMANT, ["wake", "save", "1", "2", "4", "pause", "unsubscribe"]),
        (SubscriberStatus.UNSUBSCRIBED, ["start", "save", "1", "2", "4", "pause"]),
        (SubscriberStatus.SUPPRESSED, ["start", "save", "1", "2", "4", "pause"]),
    ],
)
def test_only_effective_buttons_are_shown(
    pages: PreferencePages, status: SubscriberStatus, buttons: list[str]
) -> None:
    reader = replace(a_subscriber(), status=status)
    page = shown(pages, overview(subscriber=reader))
    assert [each["value"] for each in page.of("button")] == buttons
    names = {(each["name"], each["type"]) for each in page.of("button")}
    assert names == {("act", "submit"), ("pause_for", "submit")}


def test_resume_is_offered_only_to_paused_readers(pages: PreferencePages) -> None:
    page = shown(pages, overview(subscriber=PAUSED))
    assert "resume" in [each["value"] for each in page.of("button")]
    (until,) = [each for each in page.of("input") if each["name"] == "paused_until"]
    assert (until["value"], until["min"], until["max"]) == (
        "2026-12-14",
        "2026-11-23",
        "2027-02-14",
    )


@pytest.mark.parametrize(("locale", "direction"), [("de-AT", "ltr"), ("he", "rtl")])
def test_settings_page_declares_language_and_direction(
    pages: PreferencePages, locale: str, direction: str
) -> None:
    reader = replace(a_subscriber(), locale=locale)
    (root,) = shown(pages, overview(subscriber=reader)).of("html")
    assert root == {"lang": locale[:2], "dir": direction}


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({}, "You get one digest a day, and build failed right away."),
        ({"*": Frequency.DAILY}, "You get one digest a day."),
        ({"*": Frequency.WEEKLY}, "You get one digest every Monday."),
        (
            {"*": Frequency.CUSTOM},
            "You get one digest every 2 weeks on Monday and Wednesday.",
        ),
        ({"*": Frequency.IMMEDIATE}, "You get each update right away, in an email of its own."),
        (
            {"*": Frequency.NEVER, "like": Frequency.DAILY},
            "You get emails about some types of updates only: likes every day.",
        ),
        (
            {"*": Frequency.NEVER},
            "You get no emails, because you turned off all types of updates.",
        ),
    ],
)
def test_current_subscription_is_shown_first(
    pages: PreferencePages, chosen: dict[str, Frequency], words: str
) -> None:
    times = DigestTimes(custom_on=Days(frozenset({1, 3}), 2, 0))
    reader = replace(a_subscriber(times=times), choices=((NOW, frequencies(chosen)),))
    what = overview(subscriber=reader, follows=(), next_due_at=None)
    assert said(pages, what) == f"{words} You have no digest scheduled."


MIXED = {
    "mention": Frequency.IMMEDIATE,
    "reply": Frequency.IMMEDIATE,
    "like": Frequency.WEEKLY,
    "follow": Frequency.NEVER,
}


@pytest.mark.parametrize(
    ("locale", "words"),
    [
        (
            "en",
            (
                "You get one digest a day, mentions and replies right away, likes once a week, "
                "and no emails about followers."
            ),
        ),
        (
            "de",
            (
                "Du bekommst eine Zusammenfassung am Tag, Erwähnungen und Antworten sofort, "
                "Gefällt-mir-Angaben einmal pro Woche und keine E-Mails über Follower."
            ),
        ),
        (
            "he",
            (
                "נשלחים אליך: תקציר אחד ביום, אזכורים ותשובות מיד, לייקים פעם בשבוע, "
                "בלי מיילים בנושא מעקבים."
            ),
        ),
    ],
)
def test_different_frequencies_are_one_sentence(
    pages: PreferencePages, locale: str, words: str
) -> None:
    reader = replace(a_subscriber(), locale=locale, choices=((NOW, frequencies(MIXED)),))
    what = replace(overview(subscriber=reader, follows=()), defaults=())
    assert said(pages, what).startswith(words + " ")


@pytest.mark.parametrize(
    ("zone", "locale", "words"),
    [
        ("Europe/Berlin", "en", "Berlin time"),
        ("Europe/Berlin", "de", "Berliner Zeit"),
        ("Europe/Zurich", "de-CH", "Zürcher Zeit"),
        ("America/New_York", "de", "Ortszeit New York"),
        ("Asia/Tel_Aviv", "en", "Jerusalem time"),
        ("Etc/UTC", "de", "UTC"),
        ("UTC", "en", "UTC"),
        ("America/New_York", "en", "New York time"),
    ],
)
def test_time_zone_is_written_as_the_language_does(
    pages: PreferencePages, zone: str, locale: str, words: str
) -> None:
    reader = replace(a_subscriber(), time_zone=zone, locale=locale)
    html = pages.page(overview(subscriber=reader))
    assert f", {words}, " in said(pages, overview(subscriber=reader))
    assert f", {words}</span>" in html


def test_recommended_frequency_is_one_option(pages: PreferencePages) -> None:
    """It is not offered a second time, unless the recommendation has exceptions."""

    def offered(what: Overview, **given: Any) -> list[tuple[str, str]]:
        html = pages.page(what, **given)
        found = re.findall(
            r'name="frequency" value="(\w*)"[^>]*><span>(.*?)</span>', html, re.DOTALL
        )
        return [(value, " ".join(re.sub("<.*?>", " ", words).split())) for value, words in found]

    unset = replace(overview(subscriber=a_subscriber()), defaults=())
    assert offered(unset)[:2] == [("", "Every day (recommended)"), ("weekly", "Every week")]
    daily = replace(overview(subscriber=a_subscriber()), defaults=())
    own = NO_CHOICES.with_choice(NOW, Choice(frequency=Frequency.DAILY))
    reader = a_subscriber()
    daily = replace(daily, subscriber=reader.with_choices(reader.service_choices, own))
    assert offered(daily)[:2] == [("daily", "Every day (recommended)"), ("weekly", "Every week")]
    mixed = overview(subscriber=a_subscriber())
    assert offered(mixed)[:2] == [
        ("", "Every day (recommended) Right away: Build failed"),
        ("daily", "Every day"),
    ]
    sent: Fields = {"frequency": ["daily"], "hour": ["25"]}
    assert Document(pages.page(unset, sent=sent)).selected("frequency") == ["daily"]


def test_help_link_is_shown_if_resubscribing_is_impossible(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    brand = {"name": "Shop", "postal_address": "1 Street", "help": "https://shop.example/help"}
    (own / "brand.json").write_text(json.dumps(brand))
    build_templates(ROOT / "templates", tmp_path / "built", overlay=own)
    pages = PreferencePages(Sheets(tmp_path / "built"), tmp_path / "built")
    page = shown(pages, notice=Notice.NOT_STARTED)
    assert {"href": "https://shop.example/help"} in page.of("a")


# For everybody.


def test_every_field_has_a_label_and_every_group_a_legend(pages: PreferencePages) -> None:
    html = pages.page(overview())
    page = Document(html)
    labelled = {each["for"] for each in page.of("label") if "for" in each}
    for field in page.of("select", "input"):
        if field.get("type") not in {"radio", "checkbox", "hidden"}:
            assert field["id"] in labelled, field
    boxes = [each for each in page.of("input") if each["type"] in {"radio", "checkbox"}]
    assert len(re.findall(r'<label class="choice"><input ', html)) == len(boxes)
    assert len(page.of("fieldset")) == len(page.of("legend")) == 4
    assert labelled <= set(page.ids())
    assert len(page.of("h1")) == 1
    assert max(page.ids().values()) == 1


def test_referenced_label_and_description_ids_exist(pages: PreferencePages) -> None:
    problems = dict.fromkeys(
        ["frequency", "days", "hour", "time_zone", "quiet", "category-like", "paused_until"],
        Problem.NOT_OFFERED,
    )
    page = shown(pages, notice=Notice.WRONG, problems=problems)
    for _, attributes in page.elements:
        for name in ("aria-describedby", "aria-labelledby"):
            assert set(attributes.get(name, "").split()) <= set(page.ids())


@pytest.mark.parametrize("field", ["hour", "category-like", "days", follow_field("post#post1")])
@pytest.mark.parametrize("problem", list(Problem))
def test_problem_is_summarised_on_top_and_shown_at_its_field(
    pages: PreferencePages, field: str, problem: Problem
) -> None:
    html = pages.page(overview(), notice=Notice.WRONG, problems={field: problem})
    page = Document(html)
    (link,) = [each["href"] for each in page.of("a") if each["href"].startswith("#")]
    assert link == f"#{field}"
    assert page.ids()[field] == page.ids()[f"{field}-problem"] == 1
    (title,) = re.findall("<title>(.*)</title>", html)
    assert title.startswith("Not saved: ")
    (wrong,) = [each for _, each in page.elements if "aria-invalid" in each]
    assert f"{field}-problem" in wrong["aria-describedby"].split()
    assert html.index('role="alert"') < html.index("<form")


def test_form_keeps_submitted_values_after_a_validation_error(pages: PreferencePages) -> None:
    sent: Fields = {"hour": ["25"], "frequency": ["custom"], "weeks": ["2"], "category-like": [""]}
    page = shown(pages, notice=Notice.WRONG, problems={"hour": Problem.NOT_OFFERED}, sent=sent)
    assert page.selected("frequency") == ["custom"]
    assert page.selected("days") == []
    assert page.selected("weeks") == ["2"]
    assert page.selected("category-like") == [""]


def sent_by_a_browser(page: Document) -> dict[str, list[str]]:
    """The fields of the page as a browser sends them if nothing is changed, but for `was`."""
    fields: dict[str, list[str]] = {}
    select, chosen = "", False
    for tag, attributes in page.elements:
        name = attributes.get("name", "")
        if tag == "select":
            select, chosen = name, False
        elif tag == "option" and select and not chosen:
            if "selected" in attributes or select not in fields:
                fields[select] = [attributes["value"]]
            chosen = "selected" in attributes
        elif tag == "input" and attributes.get("type") == "date":
            fields[name] = [attributes["value"]]
        elif tag == "input" and "checked" in attributes:
            fields.setdefault(name, []).append(attributes["value"])
        if tag == "form" and fields:
            break
    return fields


def hidden(page: Document, name: str) -> list[str]:
    return [each["value"] for each in page.of("input") if each.get("name") == name]


HOURLY = as_stored(Frequency, "hourly")
"""What only another version knows."""


@pytest.mark.parametrize(
    ("times", "chosen", "asked"),
    [
        (DigestTimes(), Choice(), ()),
        (DigestTimes(custom_on=Days(month_day=31)), Choice(frequency=Frequency.CUSTOM), ()),
        (DigestTimes(custom_on=Days(frozenset({7, 2}), 3, 1)), Choice(time_zone="Etc/GMT+5"), ()),
        (DigestTimes(paused_until=date(2026, 12, 1)), Choice(clock=(0, 30)), ()),
        (
            DigestTimes(),
            Choice(frequencies=(("like", HOURLY), ("recommendation", Frequency.IMMEDIATE))),
            ("recommendation",),
        ),
        (DigestTimes(), Choice(frequencies=(("like", DEFAULT),)), ()),
        (DigestTimes(), Choice(quiet_hours="22:30-07:00"), ()),
        (DigestTimes(), Choice(quiet_hours="none"), ()),
    ],
)
def test_hidden_field_contains_the_values_a_browser_would_submit(
    pages: PreferencePages, times: DigestTimes, chosen: Choice, asked: tuple[str, ...]
) -> None:
    reader = replace(a_subscriber(like=Frequency.NEVER), times=times)
    reader = reader.with_choices(reader.service_choices, NO_CHOICES.with_choice(NOW, chosen))
    odd = Follow("post#post3", "ann", ((NOW, FollowState(True, HOURLY, "Odd")),))
    what = overview(
        subscriber=reader,
        queried_categories=asked,
        follows=(a_follow(frequency=Frequency.DAILY), odd),
    )
    page = shown(pages, what)
    (was, *others) = hidden(page, "was")
    assert set(others) <= {was}
    told = parse_qs(was, keep_blank_values=True)
    sent = sent_by_a_browser(page)
    filled = {name: sorted(values) for name, values in sent.items() if any(values)}
    assert {name: sorted(values) for name, values in told.items()} == filled
    for each in page.of("input"):
        assert each.get("type") != "hidden" or each["autocomplete"] == "off"
    submission = pages_asked({**sent, "was": [was]}, what, pages)
    assert submission == Submission(Act.SAVE)


def pages_asked(sent: Fields, what: Overview, pages: PreferencePages) -> Submission:
    return asked_of(sent, what, categories=pages.categories(what), zones=zones())


def test_form_with_problems_keeps_the_originally_shown_values(pages: PreferencePages) -> None:
    sent: Fields = {"hour": ["25"], "frequency": ["custom"], "was": ["hour=8&frequency=weekly"]}
    page = shown(pages, notice=Notice.WRONG, problems={"hour": Problem.NOT_OFFERED}, sent=sent)
    assert hidden(page, "was") == ["hour=8&frequency=weekly"]


def test_resubscribe_button_identifies_the_unsubscribe_to_undo(pages: PreferencePages) -> None:
    left = replace(overview().subscriber.left(NOW))
    assert hidden(shown(pages, overview(subscriber=left)), "left") == [NOW.isoformat()]
    unknown = replace(left, left_at=None)
    assert hidden(shown(pages, overview(subscriber=unknown)), "left") == [""]


def test_first_button_of_the_form_saves(pages: PreferencePages) -> None:
    """Enter in a field presses it: https://html.spec.whatwg.org/#implicit-submission."""
    html = pages.page(overview())
    form = html[html.index("<form method") :]
    assert form.index('value="save"') < form.index('value="pause"')


def test_colours_have_enough_contrast_in_light_and_dark_mode() -> None:
    css = (ROOT / "templates" / "preferences" / "page.css").read_text()
    day, night = re.findall(r":root \{(.*?)\}", re.sub(r"\{\{.*?\}\}", "brand", css))
    for values, sheet in ((day, LIGHT), (night, DARK)):
        named = dict(re.findall(r"--([\w-]+): (#\w+)", values))
        assert named["sheet"] == sheet
        for text in ("ink", "quiet", "wrong"):
            assert contrast(named[text], sheet) >= 4.5, text
        assert contrast(named["ink"], named["done"]) >= 4.5
        assert contrast(named["line"], sheet) >= 3, "the edge of a field"


# Nothing from outside gets in.


def test_only_the_hashed_style_is_allowed_by_the_csp(
    pages: PreferencePages, built_templates: Path
) -> None:
    page = pages.page(overview())
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    sheets = Sheets(built_templates)
    assert (sheets.styles, sheets.images) == (f"'sha256-{digest}'", "")
    assert "{{" not in style
    assert "#1d4ed8" in style
    document = Document(page)
    assert not document.of("script", "link", "iframe")
    assert not [each for _, each in document.elements if "style" in each]
    assert {each["method"] for each in document.of("form")} == {"post"}


def test_only_the_logo_image_is_allowed_by_the_csp(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    brand = {"name": "Shop", "postal_address": "1 Street", "logo": "https://cdn.example/a.png"}
    (own / "brand.json").write_text(json.dumps(brand))
    build_templates(ROOT / "templates", tmp_path / "built", overlay=own)
    sheets = Sheets(tmp_path / "built")
    page = PreferencePages(sheets, tmp_path / "built").page(overview())
    assert sheets.images == "https://cdn.example"
    assert [each["alt"] for each in Document(page).of("img")] == ["Shop"]
    assert not [each for _, each in Document(page).elements if "style" in each]


def test_dark_mode_logo_is_allowed_by_the_csp(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    logos = {"logo": "https://cdn.example/a.png", "logo_dark": "https://dark.example/b.png"}
    (own / "brand.json").write_text(
        json.dumps({"name": "Shop", "postal_address": "1 Street", **logos})
    )
    build_templates(ROOT / "templates", tmp_path / "built", overlay=own)
    sheets = Sheets(tmp_path / "built")
    page = PreferencePages(sheets, tmp_path / "built").page(overview())
    assert sheets.images == "https://cdn.example https://dark.example"
    (source,) = Document(page).of("source")
    assert source == {
        "media": "(prefers-color-scheme: dark)",
        "srcset": "https://dark.example/b.png",
    }


hostile = st.text(max_size=30) | st.sampled_from(
    [
        '"><script>alert(1)</script>',
        "</select></form>",
        "{{ 7 * 7 }}",
        "\u202eevil",
        "' onx='",
        "\ud800",
    ]
)


@pytest.fixture(scope="module")
def plain(pages: PreferencePages) -> Counter[str]:
    """The elements of a page on which nobody has said anything."""
    return Counter(tag for tag, _ in shown(pages).elements)


@settings(max_examples=100, deadline=None)
@given(
    title=hostile,
    sent=st.dictionaries(
        st.sampled_from(
            [
                *("frequency", "hour", "days", "weeks", "time_zone", "paused_until"),
                *("quiet", "quiet_from", "category-like"),
            ]
        ),
        st.lists(hostile, min_size=1, max_size=3),
    ),
    address=hostile,
)
def test_attack_input_cannot_inject_markup_into_the_settings_page(
    pages: PreferencePages,
    plain: Counter[str],
    title: str,
    sent: dict[str, list[str]],
    address: str,
) -> None:
    follow = Follow("post#post2", "ann", ((NOW, FollowState(True, None, title)),))
    reader = replace(overview().subscriber, email=f"{address}@example.com")
    what = overview(follows=(a_follow(frequency=Frequency.DAILY), follow), subscriber=reader)
    clean = {
        name: [each.encode(errors="replace").decode() for each in v] for name, v in sent.items()
    }
    page = shown(pages, what, notice=Notice.WRONG, sent=clean)
    found = Counter(tag for tag, _ in page.elements)
    assert found - plain <= Counter({"option": 1}), "the zone that is no place"
    assert not [each for _, each in page.elements if any(n.startswith("on") for n in each)]


def test_immediate_frequency_is_offered_for_events_but_not_for_content(
    pages: PreferencePages,
) -> None:
    asking = replace(overview(), queried_categories=("recommendation",))
    html = pages.page(asking)
    comment, asked = (options(html, f"category-{name}") for name in ("comment", "recommendation"))
    assert len(comment) == len(asked) + 1
    assert "Right away" in comment
    assert "Right away" not in asked
    assert "category-recommendation" not in pages.page(overview())
