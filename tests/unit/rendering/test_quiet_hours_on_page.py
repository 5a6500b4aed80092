"""Quiet hours on the preference page: what is offered, in the reader's words."""

import re
from collections import Counter
from dataclasses import replace
from datetime import date, time
from pathlib import Path
from typing import Any

import pytest
from gazette.adapters.rendering.preference_page import PreferencePages
from gazette.adapters.rendering.sheets import Sheets
from gazette.domain.scheduling.calendar import DigestTimes
from gazette.domain.scheduling.quiet import QuietHours
from gazette.domain.subscribers.frequency import EVERYTHING, Frequency
from gazette.domain.subscribers.overview import Notice, Overview
from gazette.domain.subscribers.preference_form import Fields, Problem

from tests.builders import NOW, a_follow, a_subscriber
from tests.unit.rendering.test_preference_page import Document, options, said

STAGE = QuietHours(time(23), time(6, 30))
AT_ONCE = {"mention": Frequency.IMMEDIATE}


@pytest.fixture(scope="module")
def pages(built_templates: Path) -> PreferencePages:
    return PreferencePages(Sheets(built_templates), built_templates)


def overview(
    quiet_hours: str = "default", locale: str = "en", /, *, times: Any = None, **given: Any
) -> Overview:
    """Ann, who gets mentions immediately, unless `defaults` or `chosen` differ."""
    chosen = given.pop("chosen", {})
    reader = replace(a_subscriber(times=times, **chosen), quiet_hours=quiet_hours, locale=locale)
    defaults = tuple(given.pop("defaults", AT_ONCE).items())
    return Overview(subscriber=reader, now=NOW, defaults=defaults, **given)


def section(html: str) -> str:
    (found,) = re.findall(r'<section id="quiet-hours".*?</section>', html, re.DOTALL)
    return str(found)


def offered(html: str) -> dict[str, str]:
    """The words of the options, by value."""
    found = re.findall(
        r'name="quiet" value="(\w*)"[^>]*><span>(.*?)</span>', section(html), re.DOTALL
    )
    return {value: " ".join(words.split()) for value, words in found}


def is_always_shown(html: str) -> bool:
    (opening,) = re.findall(r'<section id="quiet-hours" class="(.*?)"', html)
    assert "if-immediate" in opening.split()
    return "always" in opening.split()


@pytest.mark.parametrize(
    ("locale", "of_stage", "others", "from_words"),
    [
        ("en", "23:00 to 06:30 (recommended)", ["No quiet hours", "Certain hours"], "22:30"),
        ("en-US", "11:00 PM to 6:30 AM (recommended)", None, "10:30 PM"),
        (
            "de",
            "23:00 bis 06:30 (empfohlen)",
            ["Keine Ruhezeiten", "Zu bestimmten Zeiten"],
            "22:30",
        ),
        ("he", "23:00 עד 6:30 (מומלץ)", ["בלי שעות שקט", "בשעות מסוימות"], "22:30"),
    ],
)
def test_options_are_in_the_words_of_the_reader(
    pages: PreferencePages,
    locale: str,
    of_stage: str,
    others: list[str] | None,
    from_words: str,
) -> None:
    html = pages.page(overview("22:30-07:00", locale, default_quiet_hours=STAGE))
    words = offered(html)
    assert [*words] == ["default", "none", "hours"]
    assert words["default"].replace("\u202f", " ") == of_stage
    assert others is None or [words["none"], words["hours"]] == others
    page = Document(html)
    assert [page.selected(name) for name in ("quiet", "quiet_from", "quiet_until")] == [
        ["hours"],
        ["22:30"],
        ["07:00"],
    ]
    assert from_words in [each.replace("\u202f", " ") for each in options(html, "quiet_from")]


def test_without_default_quiet_hours_only_two_options_are_offered(pages: PreferencePages) -> None:
    html = pages.page(overview())
    assert [*offered(html)] == ["none", "hours"]
    page = Document(html)
    assert page.selected("quiet") == ["none"]
    assert page.selected("quiet_from") == ["22:00"]
    assert page.selected("quiet_until") == ["07:00"]


def test_lists_offer_full_hours_and_the_value_in_force(pages: PreferencePages) -> None:
    html = pages.page(overview("22:30-07:00"))
    begin, end = options(html, "quiet_from"), options(html, "quiet_until")
    assert end == [f"{hour:02}:00" for hour in range(24)]
    assert begin == sorted([*end, "22:30"])


@pytest.mark.parametrize(
    ("stored", "default", "words"),
    [
        ("default", None, "None"),
        ("default", STAGE, "23:00 to 06:30"),
        ("none", STAGE, "None"),
        ("22:30-07:00", STAGE, "22:30 to 07:00"),
    ],
)
def test_title_of_the_section_states_the_hours_in_force(
    pages: PreferencePages, stored: str, default: QuietHours | None, words: str
) -> None:
    html = section(pages.page(overview(stored, default_quiet_hours=default)))
    assert f"Quiet hours</h2> <span>{words}</span>" in html


@pytest.mark.parametrize(
    ("what", "is_shown"),
    [
        (overview(), True),
        (overview(defaults={}), False),
        (overview(defaults={}, default_quiet_hours=STAGE), False),
        (overview("none", defaults={}, default_quiet_hours=STAGE), False),
        (overview("22:00-07:00", defaults={}), True),
        (overview(chosen={EVERYTHING: Frequency.DAILY}), False),
        (overview(defaults={"security": Frequency.IMMEDIATE}, critical=("security",)), False),
        (overview(defaults={}, follows=(a_follow(),), more_follows="post#9"), True),
    ],
)
def test_section_is_hidden_if_no_update_may_come_immediately(
    pages: PreferencePages, what: Overview, is_shown: bool
) -> None:
    """The style sheet shows it as soon as the reader selects immediate email on the page."""
    assert is_always_shown(pages.page(what)) == is_shown


def test_section_stays_visible_while_the_reader_corrects_it(pages: PreferencePages) -> None:
    sent: Fields = {"quiet": ["hours"], "quiet_from": ["21:00"], "quiet_until": ["21:00"]}
    problems = {"quiet_until": Problem.SAME_TIMES}
    html = pages.page(overview(defaults={}), notice=Notice.WRONG, problems=problems, sent=sent)
    assert is_always_shown(html)
    assert "<details open>" in section(html)
    page = Document(html)
    assert page.selected("quiet") == ["hours"]
    assert page.selected("quiet_from") == page.selected("quiet_until") == ["21:00"]
    assert page.text.count("Choose two different times, or no quiet hours.") == 2
    assert "Quiet until" in html[html.index('role="alert"') : html.index("<form")]


@pytest.mark.parametrize("field", ["quiet", "quiet_from", "quiet_until"])
@pytest.mark.parametrize("problem", [Problem.SAME_TIMES, Problem.NOT_OFFERED])
def test_problem_of_quiet_hours_is_linked_and_described(
    pages: PreferencePages, field: str, problem: Problem
) -> None:
    html = pages.page(overview(), notice=Notice.WRONG, problems={field: problem})
    page = Document(html)
    (link,) = [each["href"] for each in page.of("a") if each["href"].startswith("#")]
    assert link == f"#{field}"
    assert page.ids()[field] == page.ids()[f"{field}-problem"] == 1
    (wrong,) = [each for _, each in page.elements if "aria-invalid" in each]
    assert f"{field}-problem" in wrong["aria-describedby"].split()


@pytest.mark.parametrize("locale", ["en", "de", "he"])
def test_quiet_hours_are_a_labelled_group_with_a_description(
    pages: PreferencePages, locale: str
) -> None:
    html = pages.page(overview("22:30-07:00", locale, default_quiet_hours=STAGE))
    page, group = Document(html), Document(section(html))
    (fieldset,) = group.of("fieldset")
    assert fieldset["aria-describedby"] == "quiet-hint"
    assert page.ids()["quiet-hint"] == 1
    assert len(group.of("legend")) == 1
    labelled = {each["for"] for each in group.of("label") if "for" in each}
    assert labelled == {each["id"] for each in group.of("select")} == {"quiet_from", "quiet_until"}
    levels = [tag for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert Counter(levels).keys() == {"h1", "h2"}
    assert [tag for tag, _ in group.elements if re.fullmatch("h[1-6]", tag)] == ["h2"]


@pytest.mark.parametrize("critical", [(), ("security",)])
def test_hint_mentions_critical_emails_only_if_there_are_any(
    pages: PreferencePages, critical: tuple[str, ...]
) -> None:
    text = " ".join(Document(section(pages.page(overview(critical=critical)))).text.split())
    assert "Emails that would come right away wait until the end of these hours." in text
    assert ("Emails about your account don't wait." in text) == bool(critical)


# The summary.


@pytest.mark.parametrize(
    ("locale", "words"),
    [
        ("en", "You get one digest a day, and mentions right away. Quiet hours: 22:30 to 07:00."),
        (
            "de",
            (
                "Du bekommst eine Zusammenfassung am Tag und Erwähnungen sofort. "
                "Ruhezeiten: 22:30 bis 07:00."
            ),
        ),
        ("he", "נשלחים אליך: תקציר אחד ביום, אזכורים מיד. שעות שקט: 22:30 עד 7:00."),
    ],
)
def test_summary_mentions_quiet_hours(pages: PreferencePages, locale: str, words: str) -> None:
    assert said(pages, overview("22:30-07:00", locale)).startswith(words + " ")


NIGHT = "22:00-07:00"
PAUSED = DigestTimes(paused_until=date(2026, 12, 14))


@pytest.mark.parametrize(
    ("what", "is_mentioned"),
    [
        (overview(NIGHT), True),
        (overview(default_quiet_hours=STAGE), True),
        (overview(NIGHT, chosen={EVERYTHING: Frequency.IMMEDIATE}), True),
        (overview(NIGHT, defaults={}, follows=(a_follow(frequency=Frequency.IMMEDIATE),)), True),
        (overview(), False),
        (overview("none", default_quiet_hours=STAGE), False),
        (overview(NIGHT, defaults={}), False),
        (overview(NIGHT, times=PAUSED), False),
    ],
)
def test_summary_mentions_only_quiet_hours_that_have_an_effect(
    pages: PreferencePages, what: Overview, is_mentioned: bool
) -> None:
    assert ("Quiet hours: " in said(pages, what)) == is_mentioned


def test_critical_emails_are_mentioned_after_quiet_hours(pages: PreferencePages) -> None:
    assert (
        "Quiet hours: 22:00 to 07:00. These always come right away, because they're about your "
        "account: Security."
    ) in said(pages, overview(NIGHT, critical=("security",)))
