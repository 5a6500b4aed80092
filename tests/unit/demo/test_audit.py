"""The audit of the demo finds what it is there to find, from the emails alone."""

from collections.abc import Callable
from datetime import date
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

import pytest
from gazette.adapters.contract import decode
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.commands import ChangeSubscriber, CreateEvents
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Event

from demo import campus
from demo.audit import Findings, audit, read
from demo.invented import Happened, Thing
from demo.ses import Accepted
from tests.builders import LINKS, NOW
from tests.unit.ingest.test_contract import envelope

# (reader, day): how many messages come from each of the others.
WEEK = {
    (1, 0): {2: 3, 3: 2, 4: 1},
    (1, 1): {2: 1},
    (1, 4): {3: 2, 5: 2},
    (2, 0): {1: 1},
    (2, 1): dict.fromkeys(range(3, 9), 1),
}
CAP = 4


def events() -> list[Happened]:
    """The week as the log has it, each message as a message."""
    rows = [
        (source, reader, day)
        for (reader, day), senders in WEEK.items()
        for source, count in senders.items()
        for _ in range(count)
    ]
    messages = (
        campus.Message(row, source, reader, day, minute_of_day=row)
        for row, (source, reader, day) in enumerate(rows)
    )
    return [
        Happened(each, "message", Thing("chat", each.conversation, "Lunch"), "", is_followed=False)
        for each in messages
    ]


def told(conversation: str) -> tuple[str, str]:
    """What the audit counts messages of a conversation under."""
    return f"https://campus.example/chat/{conversation}", "message"


@pytest.fixture(scope="session")
def week(built_templates: Path) -> list[Accepted]:
    """The five emails of a right week, through the real contract, composer and templates."""
    renderer = JinjaRenderer(built_templates)
    return [
        email(renderer, reader, day, run=f"student{reader}-daily-{number}")
        for number, (reader, day) in enumerate(WEEK)
    ]


def email(renderer: JinjaRenderer, reader: int, day: int, *, run: str) -> Accepted:
    """One student's email of one day."""
    profile = decode(envelope("subscriber.changed", campus.subscriber_changed(reader, NOW)))
    assert isinstance(profile, ChangeSubscriber)
    happened: list[Event] = []
    for each in events():
        if (each.message.target, each.message.day) == (reader, day):
            command = decode(envelope("event.created", each.detail(date(2026, 11, 22))))
            assert isinstance(command, CreateEvents)
            happened += command.events
    edition = renderer.render(compose(happened, max_blocks=CAP), profile.subscriber, LINKS, DAILY)
    return accepted(campus.address(reader), edition.text, run)


def accepted(to: str, text: str, run: str) -> Accepted:
    """A message as the stand-in keeps it."""
    message = EmailMessage(policy=SMTP)
    message["To"] = to
    message.set_content(text)
    return Accepted(f"id of {run}", to, {"run": run, "attempt": "1"}, message)


def altered(mail: Accepted, change: Callable[[str], str]) -> Accepted:
    """The same email with another text."""
    text = mail.part("plain").replace("\r\n", "\n")
    assert change(text) != text
    return accepted(mail.to, change(text), mail.tags["run"])


def test_audit_of_correct_week_finds_no_errors(week: list[Accepted]) -> None:
    findings = audit(events(), week)
    assert findings.clean
    assert findings == Findings(events_in_emails=len(events()))


def test_audit_reads_email_as_displayed(week: list[Accepted]) -> None:
    seen = read(week[0])
    assert seen.counts == {
        told("1-2"): 3,
        told("1-3"): 2,
        told("1-4"): 1,
    }
    assert (seen.total, seen.more_events) == (6, 0)
    alone = read(week[1])
    assert (alone.counts.total(), alone.total) == (1, 1)
    capped = read(week[4])
    assert (len(capped.counts), capped.total) == (CAP, 6)
    assert capped.more_events == 2


@pytest.mark.parametrize("number", range(len(WEEK)))
def test_audit_detects_name_of_person_who_did_not_act(week: list[Accepted], number: int) -> None:
    (_, name), *_ = sorted(read(week[number]).acts)
    wrong = altered(week[number], lambda text: text.replace(name, campus.name(77)))
    findings = audit(events(), [*week[:number], wrong, *week[number + 1 :]])
    assert (findings.wrong_names, findings.lost_events, findings.repeated_events) == (1, 0, 0)
    assert campus.name(77) in findings.problems[0]


def test_audit_reads_names_in_lines_and_beside_quotes() -> None:
    text = """Hi Ann

2 mentions and 6 likes

Bo Berg and Mia Lund mentioned you: “Lunch”
  Zoë Marsh: "Is it far?"
  Siri Ito: "Not by bus"
  https://campus.example/thread/1

“Boats”
  Bo Berg, Mia Lund, and 4 others liked this
  3 new comments from Omar Haas and Bo Berg · Omar Haas: “Lovely”
  New messages from Mia Lund: “No”
  2 new messages from Siri Ito: “Yes”
  https://campus.example/album/1
"""
    seen = read(accepted(campus.address(1), text, "student1-daily-1"))
    thread, album = "https://campus.example/thread/1", "https://campus.example/album/1"
    assert seen.counts == {
        (thread, "mention"): 2,
        (album, "like"): 6,
        (album, "comment"): 3,
        (album, "message"): 3,
    }
    assert seen.acts == {
        *((thread, name) for name in ("Bo Berg", "Mia Lund", "Siri Ito", "Zoë Marsh")),
        *((album, name) for name in ("Bo Berg", "Mia Lund", "Omar Haas", "Siri Ito")),
    }


@pytest.mark.parametrize("dropped", range(len(WEEK)))
def test_audit_detects_missing_email(week: list[Accepted], dropped: int) -> None:
    findings = audit(events(), week[:dropped] + week[dropped + 1 :])
    assert not findings.clean
    assert findings.lost_events == sum(list(WEEK.values())[dropped].values())
    assert findings.repeated_events == findings.duplicate_emails == 0


@pytest.mark.parametrize("doubled", range(len(WEEK)))
def test_audit_detects_duplicate_email(week: list[Accepted], doubled: int) -> None:
    findings = audit(events(), [*week, week[doubled]])
    assert not findings.clean
    assert findings.duplicate_emails == 1
    assert findings.repeated_events == sum(list(WEEK.values())[doubled].values())
    assert findings.lost_events == 0


def test_audit_detects_duplicate_day_under_different_run(week: list[Accepted]) -> None:
    again = accepted(week[0].to, week[0].part("plain"), "student1-daily-99")
    findings = audit(events(), [*week, again])
    assert (findings.duplicate_emails, findings.repeated_events) == (1, 6)


def test_audit_detects_duplicate_that_replaces_missing_email(week: list[Accepted]) -> None:
    findings = audit(events(), [week[0], week[0], *week[2:]])
    assert not findings.clean
    assert findings.duplicate_emails == 1
    assert findings.repeated_events == 5


def test_audit_surplus_does_not_hide_a_loss(week: list[Accepted]) -> None:
    wrong = altered(
        week[0],
        lambda text: text.replace("3 new messages", "4 new messages").replace(
            "2 new messages", "New message"
        ),
    )
    findings = audit(events(), [wrong, *week[1:]])
    assert (findings.lost_events, findings.repeated_events) == (1, 1)


def test_audit_reports_excess_count_as_repeated_event(week: list[Accepted]) -> None:
    wrong = altered(week[0], lambda text: text.replace("3 new messages", "5 new messages"))
    findings = audit(events(), [wrong, *week[1:]])
    assert findings.repeated_events == 2
    assert not findings.clean


def test_audit_reports_missing_count_as_lost_event(week: list[Accepted]) -> None:
    wrong = altered(week[0], lambda text: text.replace("3 new messages", "New message"))
    findings = audit(events(), [wrong, *week[1:]])
    assert (findings.lost_events, findings.repeated_events) == (2, 0)
    assert not findings.clean


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("And 2 more updates", "And 1 more update"),
        ("And 2 more updates", "And 3 more updates"),
        ("6 messages", "7 messages"),
        ("chat/2-", "chat/3-"),
    ],
)
def test_audit_checks_every_count_in_email(week: list[Accepted], right: str, wrong: str) -> None:
    findings = audit(events(), [*week[:4], altered(week[4], lambda t: t.replace(right, wrong))])
    assert not findings.clean
    assert week[4].to in findings.problems[0]


def test_audit_detects_email_to_reader_without_events(week: list[Accepted]) -> None:
    stranger = accepted(campus.address(9), week[1].part("plain"), "student9-daily-1")
    findings = audit(events(), [*week, stranger])
    assert findings.duplicate_emails == 1
    assert campus.address(9) in findings.problems[0]


def test_audit_without_emails_reports_every_event_lost() -> None:
    assert audit(events(), []).lost_events == len(events())


def test_demo_week_in_repository_is_complete() -> None:
    log = campus.messages()
    assert len({message.row for message in log}) == len(log) > 1000
    assert {message.day for message in log} == set(range(7))
    assert len({campus.name(student) for student in range(campus.STUDENTS)}) == campus.STUDENTS
