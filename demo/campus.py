"""The input of the demo: a real week of messages between students, and the students' profiles."""

import csv
import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

STUDENTS = 1899
DAYS = 7
"""The number of days in the week."""
DIGEST_HOUR = 8
ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Asia/Tokyo",
    "America/Los_Angeles",
    "Asia/Kolkata",
    "Australia/Sydney",
    "Europe/London",
    "America/Sao_Paulo",
    "Africa/Nairobi",
    "Pacific/Auckland",
    "Pacific/Honolulu",
    "Asia/Dubai",
)

_LOG = Path(__file__).parent / "data" / "collegemsg-week.csv.gz"
_FIRST = """
    Ada Aiko Amir Ana Ann Ayo Bea Bo Carl Chen Dara Eli Elif Emma Eva Finn Hana Hugo Ida Ines
    Ivan Jan Joao Jon Kai Lara Lea Lin Luca Mara Mia Milo Nils Noor Omar Otto Pia Rosa Sami Siri
    Tara Theo Zoe
""".split()
_LAST = """
    Abe Ahmed Alves Amin Bauer Berg Braun Chen Costa Cruz Dahl Diaz Endo Falk Fuchs Garcia Gomez
    Haas Hansen Ito Jansen Kaya Keller Khan Kim Klein Koch Lang Larsen Lopez Mori Moreno Nagy
    Nowak Okafor Olsen Park Patel Reyes Rossi Sato Silva Tanaka Varga Vogel Weber Wolf
""".split()


@dataclass(frozen=True, slots=True)
class Message:
    """One row of the log: a message from `source` to `target`. `day` is 0 for the first day."""

    row: int
    source: int
    target: int
    day: int
    minute_of_day: int

    @property
    def conversation(self) -> str:
        """The conversation of the two students, in either direction."""
        low, high = sorted((self.source, self.target))
        return f"{low}-{high}"


def messages() -> list[Message]:
    """Return the messages of the week in the order of the log."""
    with gzip.open(_LOG, "rt", encoding="ascii") as log:
        rows = [(row, datetime.fromisoformat(row["at"])) for row in csv.DictReader(log)]
    first = rows[0][1].date()
    return [
        Message(
            row=int(row["row"]),
            source=int(row["source"]),
            target=int(row["target"]),
            day=(at.date() - first).days,
            minute_of_day=at.hour * 60 + at.minute,
        )
        for row, at in rows
    ]


def registered(days: int) -> list[int]:
    """Return the students to register for a replay of the first `days`.

    For the whole week, return every student of the university. For fewer days, return the students
    who wrote or received a message.
    """
    if days >= DAYS:
        return [*range(1, STUDENTS + 1)]
    some = [message for message in messages() if message.day < days]
    return sorted({message.source for message in some} | {message.target for message in some})


def mutual(week: Iterable[Message]) -> frozenset[str]:
    """Return the conversations in which both students wrote to each other."""
    wrote = {(message.source, message.target) for message in week}
    return frozenset(
        message.conversation for message in week if (message.target, message.source) in wrote
    )


def user_id(student: int) -> str:
    """Return the student's id in Gazette."""
    return f"student{student}"


def address(student: int) -> str:
    """Return the student's email address."""
    return f"{user_id(student)}@campus.example"


def name(student: int) -> str:
    """Return the student's name, which is unique."""
    return f"{_FIRST[student % len(_FIRST)]} {_LAST[student // len(_FIRST) % len(_LAST)]}"


def zone(student: int) -> str:
    """Return the student's time zone."""
    return ZONES[student % len(ZONES)]


def subscriber_changed(student: int, now: datetime) -> dict[str, Any]:
    """Return the `subscriber.changed` detail that registers a student."""
    return {
        "user_id": user_id(student),
        "email": address(student),
        "name": name(student),
        "time_zone": zone(student),
        "locale": "en",
        "changed_at": now.isoformat(),
        "digest": {"hour": DIGEST_HOUR, "minute": 0},
    }


def event_created(message: Message, first_day: date) -> dict[str, Any]:
    """Return the message as an event detail for its reader, moved to the days of the replay."""
    at = midnight(first_day) + timedelta(days=message.day, minutes=message.minute_of_day)
    return {
        "user_id": user_id(message.target),
        "id": event_id(message),
        "category": "message",
        "entity": {
            "type": "conversation",
            "id": message.conversation,
            "title": f"Your conversation with {name(message.source)}",
            "url": f"https://campus.example/conversations/{message.conversation}",
        },
        "actor": {"id": user_id(message.source), "name": name(message.source)},
        "occurred_at": at.isoformat(),
    }


def event_id(message: Message) -> str:
    """Return the id of the event or activity of a message."""
    return f"message{message.row}"


def midnight(day: date) -> datetime:
    """Return the instant at which a day of the replay starts."""
    return datetime.combine(day, datetime.min.time(), UTC)
