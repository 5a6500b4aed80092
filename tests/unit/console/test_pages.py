"""The pages of the support page: what they state, and that every text stays text."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.adapters.console.answers import answer_page, problem_page
from gazette.adapters.console.buttons import Buttons
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
    *(
        "button",
        "caption",
        "code",
        "cwdb-action",
        "div",
        "form",
        "h2",
        "h3",
        "input",
        "label",
        "p",
        "span",
    ),
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
    assert "Safe: sent once, if the cause is fixed" in text
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
            HOSTILE,
            [PlannedQueue(HOSTILE, 1, 1, 1, {}, letters=[assessed(letter, why=HOSTILE)])],
            order="o",
            stage="prod",
            buttons=BUTTONS,
            theme="",
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
    assert "@" not in html.replace("@timestamp", "")
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


def plan_of(*planned: PlannedQueue, what: str = "all queues", note: str = "") -> str:
    return plan_page(
        what, planned, order="k1.a.b", stage="prod", buttons=BUTTONS, theme="light", note=note
    )


def planned(number: int, effect: str = "sends", *, unread: int = 0) -> PlannedQueue:
    """A queue whose messages were all selected."""
    letters = [assessed(a_letter("failed", each), effect) for each in range(number)]
    effects = {effect: number} if number else {}
    return PlannedQueue("failed", number + unread, number, number, effects, unread, letters)


def a_plan(note: str = "", waiting: int = 80) -> str:
    effects = {"starts_next": 49, "sent_since": 1}
    return plan_of(
        PlannedQueue("failed", waiting, 50, 50, effects),
        what=in_words("failed", read_selection()),
        note=note,
    )


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
    assert "49 Safe: sent once, if the cause is fixed; 1 Sent already" in parsed.text
    (redrive,) = (each for each in parsed.actions if each.parameters.get("do") == "redrive")
    assert redrive.attributes["confirmation"].startswith("Move 50 messages? ")
    assert redrive.parameters == {"do": "redrive", "order": "k1.a.b"}


def confirmation_of(html: str) -> str:
    (redrive,) = (each for each in Parsed(html).actions if each.parameters.get("do") == "redrive")
    return redrive.attributes["confirmation"]


def test_confirmation_states_messages_and_emails() -> None:
    """Two messages of one run send one email."""
    twice = planned(1)
    sent = PlannedQueue("generate-dead", 2, 2, 2, {"already_sent": 2})
    assert confirmation_of(plan_of(planned(11), twice, sent)) == (
        "Move 14 messages? Up to 11 emails follow. No email is sent twice."
    )
    assert confirmation_of(plan_of(planned(1))) == (
        "Move 1 message? Up to 1 email follows. No email is sent twice."
    )
    assert confirmation_of(plan_of(planned(50, unread=6))) == (
        "Move 50 messages, and those that match of 6 others? Up to 50 emails follow from the first "
        "ones. No email is sent twice."
    )


def test_plan_lists_the_selected_messages() -> None:
    shown = Parsed(plan_of(planned(2), planned(60)))
    assert "Selected messages: the first 50 of 62" in shown.texts
    assert shown.texts.count("it is sent now") == 50
    assert "ann-daily-0" in shown.texts


def test_plan_without_a_match_has_no_button_that_redrives() -> None:
    shown = Parsed(plan_of(PlannedQueue("failed", 3, 3, 0, {})))
    assert "Nothing matches." in shown.texts
    assert not [each for each in shown.actions if each.parameters.get("do") == "redrive"]
    unread = plan_of(PlannedQueue("failed", 60, 50, 0, {}, 10))
    assert "10 messages were not looked at." in Parsed(unread).text
    assert confirmation_of(unread)


def test_plan_of_the_quarantine_does_not_look_like_a_redrive_of_nothing() -> None:
    html = plan_of(PlannedQueue("quarantine", 6, 0, 0, {}), what="the quarantine")
    text = Parsed(html).text
    assert "6 events. They return if their service is not fixed." in text
    assert "not known" in text
    assert "Looked at" not in text
    assert confirmation_of(html) == "Move 6 events? They return if their service is not fixed."


def test_one_message_is_named() -> None:
    what = in_words("ingest-dead", read_selection(message="0a1b2c3d-4e5f"))
    assert what == "message 0a1b2c3d…, ingest-dead"


def test_only_the_button_that_redrives_has_the_primary_style() -> None:
    assert "gz-primary" not in re.sub("<style>.*?</style>", "", a_full_page(), flags=re.DOTALL)
    primary = re.findall(r'<button[^>]*class="([^"]*)"[^>]*>([^<]*)', a_plan())
    assert [label for style, label in primary if "gz-primary" in style] == ["Redrive now"]


def test_messages_have_their_state_and_the_query_for_the_log() -> None:
    letters = [assessed(a_letter("generate-dead", 4)), assessed(a_letter("failed", 5))]
    states = [
        QueueState(queue("generate-dead"), 1, letters[:1], "/aws/lambda/gazette-prod-generate"),
        QueueState(queue("failed"), 1, letters[1:], "/aws/lambda/gazette-prod-resend"),
        QueueState(queue("ingest-dead"), 1, [assessed(a_letter("ingest-dead", 6), "again")]),
    ]
    shown = Parsed(first_page(an_overview(*states), BUTTONS, theme="light"))
    assert shown.texts.count("State of the run") == 2
    assert shown.texts.count("What happened") == 1
    assert not {"Received", "Why it failed"} & {*shown.texts}
    assert {"/aws/lambda/gazette-prod-generate", "/aws/lambda/gazette-prod-resend"} <= {
        *shown.texts
    }
    queries = [
        each for each in shown.texts if " | filter " in each and "message failed" not in each
    ]
    assert {each.split(" | ")[1] for each in queries} == {
        'filter message_id = "m4" or correlation_id = "ann-daily-4"',
        'filter correlation_id = "ann-daily-5"',
        'filter message_id = "m6"',
    }
    assert "message m4" in shown.texts


def test_run_has_one_button_for_all_its_messages() -> None:
    html = first_page(
        an_overview(QueueState(queue("failed"), 1, [assessed(a_letter("failed"))])),
        BUTTONS,
        theme="light",
    )
    plans = [each.parameters for each in Parsed(html).actions if each.parameters["do"] == "plan"]
    assert [each for each in plans if "run" in each or "message" in each] == [
        {"do": "plan", "queue": "all", "run": "ann-daily-1"}
    ]


def test_questions_are_above_the_queues_with_their_buttons() -> None:
    texts = Parsed(a_full_page()).texts
    order = (
        *("Find out what happened", "User id", "Explain the reader"),
        *("Event id", "Receipt of the event", "Run", "Find the run"),
        *("Queues that must be empty", "Redrive selected runs"),
    )
    places = [texts.index(each) for each in order]
    assert places == sorted(places)


def test_buttons_of_a_popup_stay_in_it() -> None:
    buttons = Buttons(looking=ARN, redriving=REDRIVE_ARN, in_popup=True)
    html = plan_page(
        "run ann-daily-1", [planned(1)], order="o", stage="prod", buttons=buttons, theme="light"
    )
    (redrive,) = Parsed(html).actions
    assert redrive.attributes["display"] == "popup"
    assert redrive.parameters["place"] == "popup"


@pytest.mark.parametrize(
    ("selected", "unread", "words"),
    [
        (50, 0, "50 Safe: sent once, if the cause is fixed"),
        (50, 30, "50 Safe: sent once, if the cause is fixed; not looked at: 30"),
        (0, 4950, "Not known; not looked at: 4,950"),
    ],
)
def test_plan_states_when_effects_are_not_known(selected: int, unread: int, words: str) -> None:
    effects = {"sends": selected} if selected else {}
    html = plan_of(PlannedQueue("failed", 50 + unread, 50, selected, effects, unread))
    assert words in Parsed(html).texts


def test_plan_counts_each_heading_once_in_a_fixed_order() -> None:
    """The forecasts end in any order, and several effects have the same heading."""
    effects = {"no_schedule": 2, "unknown": 1, "sends": 4, "not_wanted": 13, "waits": 1}
    for each in (effects, dict(reversed(effects.items()))):
        html = plan_of(PlannedQueue("failed", 21, 21, 21, each))
        words = "5 Safe: sent once, if the cause is fixed; 1 Unknown outcome; 15 No email"
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
