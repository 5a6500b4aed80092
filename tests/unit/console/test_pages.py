"""The pages of the support page: what they state, and that every text stays text."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.adapters.console.answers import answer_page, problem_page
from gazette.adapters.console.overview import EFFECTS, first_page, queue_page, verdict
from gazette.adapters.console.redrives import in_words, moved_page, plan_page
from gazette.adapters.console.values import (
    Moved,
    MovedQueue,
    PlannedQueue,
    QuarantineState,
    QueueState,
    Section,
)
from gazette.domain.console.orders import read_selection
from gazette.domain.dead_letters import Interrupted
from gazette.steps.support.dead_letters import Redrive
from gazette.steps.support.forecast_words import AGAIN, FAILS_AGAIN, STAYS

from tests.builders import NOW
from tests.unit.console.pages import (
    ARN,
    BUTTONS,
    HOSTILE,
    REDRIVE_ARN,
    Parsed,
    a_letter,
    a_quarantine,
    an_overview,
    assessed,
    queue,
)

ALLOWED = {
    *("button", "caption", "cwdb-action", "div", "form", "h2", "h3", "input", "label", "p", "span"),
    *("strong", "style", "table", "tbody", "td", "th", "thead", "tr"),
}
"""The tags of the page. CloudWatch removes scripts, `iframe` and `use`."""


def a_full_page(theme: str = "light") -> str:
    states = [
        QueueState(queue("failed"), 5000, [assessed(a_letter("failed"), "starts_next")]),
        QueueState(queue("ingest-dead"), 1, [assessed(a_letter("ingest-dead"), "again")]),
        QueueState(
            queue("ticks-undelivered"), 1, [assessed(a_letter("ticks-undelivered"), "stays")]
        ),
    ]
    return first_page(an_overview(*states, quarantine=a_quarantine()), BUTTONS, theme=theme)


def test_first_line_is_the_verdict() -> None:
    assert Parsed(a_full_page()).texts[0] == "4 queues need attention"
    assert verdict(an_overview()) == "All queues are empty"
    one = an_overview(QueueState(queue("failed"), 1))
    assert verdict(one) == "1 queue needs attention"
    unread = an_overview(QueueState(queue("failed"), None), quarantine=QuarantineState(2))
    assert verdict(unread) == "1 queue needs attention; 1 queue cannot be read"


def test_page_states_number_age_cause_and_effect() -> None:
    text = Parsed(a_full_page()).text
    assert "5,000" in text
    assert "3 hours or older" in text
    assert "failed: 1 of 5,000 messages" in text
    assert "The run failed: the provider rejected the email." in text
    assert "Safe: an email follows" in text
    assert "user_id: must not be empty" in text
    assert "CloudTrail" in text


def test_every_effect_of_a_redrive_has_a_heading() -> None:
    assert EFFECTS.keys() == {*(each.value for each in Redrive), AGAIN, FAILS_AGAIN, STAYS}


def test_buttons_are_immediately_before_their_action_and_have_valid_parameters() -> None:
    for html in (a_full_page(), a_plan(), an_outcome()):
        actions = Parsed(html).actions
        assert actions
        assert {each.before for each in actions} == {"button"}
        for each in actions:
            assert each.attributes["endpoint"] in {ARN, REDRIVE_ARN}
            assert each.attributes["action"] == "call"
            assert isinstance(each.parameters, dict)


def test_first_page_has_no_order_so_it_cannot_redrive() -> None:
    actions = Parsed(a_full_page()).actions
    assert {each.parameters.get("do", "") for each in actions} == {
        *("messages", "plan", "explain", "receipt", "run")
    }
    assert not [each for each in actions if "order" in each.parameters]
    to_redrive = [each for each in actions if each.attributes["endpoint"] == REDRIVE_ARN]
    assert {each.parameters["do"] for each in to_redrive} == {"plan"}


def test_queue_without_a_source_has_no_redrive() -> None:
    queues = {each.parameters.get("queue") for each in Parsed(a_full_page()).actions}
    plans = {
        each.parameters["queue"]
        for each in Parsed(a_full_page()).actions
        if each.parameters.get("do") == "plan"
    }
    assert "ticks-undelivered" in queues
    assert plans == {"all", "failed", "ingest-dead", "quarantine"}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_page_has_only_permitted_tags(theme: str) -> None:
    parsed = Parsed(a_full_page(theme) + a_plan() + an_outcome())
    assert set(parsed.tags) <= ALLOWED
    assert not [name for name, _ in parsed.attributes if name.startswith("on")]


def test_themes_differ() -> None:
    assert a_full_page("light") != a_full_page("dark")


def test_hostile_texts_stay_text() -> None:
    letter = replace(a_letter(), about=HOSTILE)
    states = [QueueState(queue("generate-dead"), 1, [assessed(letter, why=HOSTILE)])]
    overview = an_overview(*states, quarantine=a_quarantine(HOSTILE))
    pages = [
        first_page(overview, BUTTONS, theme="light"),
        queue_page(replace(overview, queues=states), BUTTONS, theme="light"),
        answer_page(
            HOSTILE, [HOSTILE], [Section(HOSTILE, [HOSTILE], [[HOSTILE]])], user="", theme=""
        ),
        problem_page(HOSTILE, theme="light"),
        plan_page(
            HOSTILE, [PlannedQueue(HOSTILE, 1, 1, 1, {})], order="o", buttons=BUTTONS, theme=""
        ),
    ]
    for html in pages:
        parsed = Parsed(html)
        assert set(parsed.tags) <= ALLOWED
        assert "<script>alert(1)</script>" in parsed.text
        assert "\u202e" not in html


def test_parameters_contain_no_markup_even_undecoded() -> None:
    letter = replace(a_letter("ingest-dead"), about="a", id="</cwdb-action><script>&amp;")
    states = [QueueState(queue("ingest-dead"), 1, [assessed(letter, "again")])]
    html = first_page(an_overview(*states), BUTTONS, theme="light")
    (message,) = (
        each.parameters["message"] for each in Parsed(html).actions if "message" in each.parameters
    )
    assert message == "</cwdb-action><script>&amp;"
    assert not [raw for raw in re.findall(r'"message": "[^"]*"', html) if set(raw) & set("<>&")]


def test_pages_do_not_show_email_addresses() -> None:
    letter = replace(
        a_letter("ingest-dead"), about='not a Gazette message: {"to":"ann@example.com"'
    )
    states = [QueueState(queue("ingest-dead"), 1, [assessed(letter, "fails_again")])]
    quarantine = a_quarantine("email: 'bo@mail.example.org' is not an address")
    html = first_page(an_overview(*states, quarantine=quarantine), BUTTONS, theme="light")
    assert "@" not in re.sub(r"@media", "", html)
    sections = [
        Section(
            "Run",
            ["a"],
            [
                [
                    "cy@example.com-daily-1",
                ]
            ],
            "",
        ),
        Section("x", ["a"], []),
    ]
    answer = answer_page("t", ["ann@example.com wrote"], sections, user="cy@example.com", theme="")
    assert "(address) wrote" in answer
    assert "cy@example.com-daily-1" in answer


def a_plan(note: str = "", waiting: int = 80) -> str:
    planned = [PlannedQueue("failed", waiting, 50, 50, {"starts_next": 49, "sent_since": 1})]
    what = in_words("failed", read_selection())
    return plan_page(what, planned, order="k1.a.b", buttons=BUTTONS, theme="light", note=note)


def an_outcome(*, is_complete: bool = False, is_everything: bool = True, failed: str = "") -> str:
    problem = Interrupted("Traceback: secret") if failed else None
    moved = Moved([MovedQueue("failed", 30, 50)], is_complete, failed, problem)
    return moved_page(
        "failed",
        moved,
        is_everything=is_everything,
        again="" if is_complete else "k1.a.b",
        buttons=BUTTONS,
        theme="light",
    )


def test_plan_states_effects_and_asks_before_it_redrives() -> None:
    parsed = Parsed(a_plan())
    assert "49 Safe: an email follows, 1 Sent already" in parsed.text
    (redrive,) = (each for each in parsed.actions if each.parameters.get("do") == "redrive")
    assert redrive.attributes["confirmation"] == "Redrive failed? No email is sent twice."
    assert redrive.parameters == {"do": "redrive", "order": "k1.a.b"}


@pytest.mark.parametrize(
    ("selected", "unread", "words"),
    [
        (50, 0, "50 Safe: an email follows"),
        (50, 30, "50 Safe: an email follows; unread messages: 30"),
        (0, 4950, "Not known; unread messages: 4,950"),
        (0, 0, "None is selected"),
    ],
)
def test_plan_states_when_effects_are_not_known(selected: int, unread: int, words: str) -> None:
    effects = {"sends": selected} if selected else {}
    planned = [PlannedQueue("failed", 50 + unread, 50, selected, effects, unread)]
    html = plan_page("failed", planned, order="k1.a.b", buttons=BUTTONS, theme="light")
    assert words in Parsed(html).texts


def test_plan_counts_each_heading_once_in_a_fixed_order() -> None:
    """The forecasts end in any order, and several effects have the same heading."""
    effects = {"no_schedule": 2, "unknown": 1, "sends": 4, "not_wanted": 13, "waits": 1}
    for each in (effects, dict(reversed(effects.items()))):
        planned = [PlannedQueue("failed", 21, 21, 21, each)]
        html = plan_page("failed", planned, order="o", buttons=BUTTONS, theme="light")
        words = "5 Safe: an email follows, 1 Unknown outcome, 15 Not wanted"
        assert words in Parsed(html).texts


def test_plan_of_no_messages_has_no_redrive() -> None:
    assert "order" not in str(Parsed(a_plan(waiting=0)).actions)


def test_outcome_states_how_many_were_moved() -> None:
    assert "30 of 80 moved; press Continue to move the others." in Parsed(an_outcome()).text
    assert "30 of 80 moved." in Parsed(an_outcome(is_complete=True)).text
    selected = Parsed(an_outcome(is_everything=False)).text
    assert "30 moved before the time ended" in selected
    failed = Parsed(an_outcome(failed="failed")).text
    assert "The queue failed then could not be used." in failed
    assert "Traceback" not in failed


def test_ages_have_one_unit() -> None:
    for age, words in (
        (timedelta(seconds=-5), "less than a minute"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(hours=47), "1 day"),
    ):
        letter = replace(a_letter(), since=NOW - age)
        overview = an_overview(QueueState(queue("generate-dead"), 1, [assessed(letter)]))
        assert words in Parsed(first_page(overview, BUTTONS, theme="light")).texts
