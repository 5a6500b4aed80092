"""A friendly community, and the emails that one of its readers gets: what the pictures show.

Invented, and always the same, so that pictures of two versions of the templates can be compared.
"""

import re
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from gazette.domain.content.items import RECOMMENDATIONS, Item, event_of
from gazette.domain.model import DAILY, Actor, Entity, Event, Image
from gazette.domain.subscribers.subscriber import Subscriber

from demo.engine import ROOT
from gazette_cli.preview.content import EmailContent

SENT_AT = datetime(2026, 11, 26, 7, 10, tzinfo=UTC)
"""When the digest is due."""

READER = Subscriber(
    user_id="ann",
    email="ann@example.com",
    name="Ann Weber",
    locale="en",
    time_zone="Europe/Berlin",
    changed_at=SENT_AT - timedelta(days=90),
)

_PEOPLE = (
    "Zoë Marsh",
    "Bo Berg",
    "Linh Nguyễn",
    "Ines Costa",
    "נועה לוי",
    "Sam Okafor",
    "Mia Lund",
    "Yuki Tanaka",
    "Ravi Patel",
    "Lena Vogt",
)


class _Happening(NamedTuple):
    """`times` events of a category, the latest by `who` with `excerpt`, `hours` before sending."""

    category: str
    place: str
    times: int
    who: int
    hours: float
    excerpt: str = ""


PICTURES_AT = "https://community.example.com/pictures/"
"""Where its pictures are. Those that are drawn have them from `demo/data/pictures`."""

_PICTURES = ROOT / "demo" / "data" / "pictures"
_PICTURE = re.compile(rf"{re.escape(PICTURES_AT)}([a-z0-9]+\.jpg)")
_FACES = {"Zoë Marsh": 6, "Linh Nguyễn": 4, "Sam Okafor": 2, "Yuki Tanaka": 11, "Ravi Patel": 7}
_IMAGES = {"harbour": Image(f"{PICTURES_AT}harbour.jpg", "Boats in a harbour at dawn")}
_TITLES = {
    "release": "Release 4.2: what is in it",
    "digests": "On digests",
    "harbour": "Photographs from the harbour",
    "bread": "Sourdough for people with jobs",
    "lunch": "Lunch on Friday?",
    "garden": "A garden on the fourth floor",
    "welcome": "Welcome, say hello here",
    "you": "Ann Weber",
}

_HAPPENED = (
    _Happening("like", "harbour", 41, 0, 2.2),
    _Happening(
        "comment",
        "harbour",
        6,
        4,
        3.5,
        "The third one, with the boats before sunrise, is the best picture that anybody has posted "
        "here this year. Did you wait long for that light?",
    ),
    _Happening(
        "mention",
        "release",
        1,
        1,
        14.8,
        "@ann could you have a look at the notes before we publish them? Half an hour is plenty.",
    ),
    _Happening(
        "reply",
        "digests",
        3,
        3,
        6.1,
        "That is what I meant: one email that I want to open, rather than ten that I delete.",
    ),
    _Happening("comment", "digests", 2, 5, 9.0, "Sundays are different, though."),
    _Happening("message", "lunch", 2, 0, 4.4, "The place by the canal has opened again!"),
    _Happening(
        "article",
        "bread",
        1,
        2,
        18.2,
        "You can bake good bread on a weekday. It takes eleven minutes of your time, spread over "
        "an evening and a morning, and this is when.",
    ),
    _Happening("like", "garden", 7, 6, 12.0),
    _Happening("comment", "garden", 1, 7, 12.5, "How do you keep the tomatoes from the wind?"),
    _Happening("follow", "you", 3, 8, 7.7),
    _Happening("comment", "welcome", 4, 9, 20.3, "Hello from Leipzig! I bind books, badly."),
)


def digest() -> EmailContent:
    """A day of it."""
    return EmailContent(READER, tuple(_events()), DAILY)


_RECOMMENDED = (
    Item(
        source=RECOMMENDATIONS,
        id="tower",
        title="The lighthouse that became a library",
        url="https://community.example.com/tower",
        published=SENT_AT - timedelta(hours=31),
        image=Image(f"{PICTURES_AT}tower.jpg", "A lighthouse under the stars"),
        summary="Forty people, four years, and a lift that nobody wanted to insure.",
        score=0.9,
    ),
    Item(
        source=RECOMMENDATIONS,
        id="hills",
        title="Three days on foot along the old border",
        url="https://community.example.com/hills",
        published=SENT_AT - timedelta(days=2, hours=3),
        summary="Where to sleep, what to carry, and the one inn that is worth a detour.",
        score=0.7,
    ),
)


def quiet_day() -> EmailContent:
    """A day on which one thing happened, and what the recommendation service has beside it."""
    happened = (event for event in _events() if event.category == "mention")
    fetched_at = SENT_AT - timedelta(minutes=20)
    recommended = (event_of(item, READER.user_id, fetched_at) for item in _RECOMMENDED)
    return EmailContent(READER, (*happened, *recommended), DAILY)


def _events() -> Iterator[Event]:
    for happened in _HAPPENED:
        place = happened.place
        for number in range(happened.times):
            who = (happened.who + number) % len(_PEOPLE) if number < 10 else 10 + number
            name = _PEOPLE[who] if who < len(_PEOPLE) else f"Reader {who}"
            yield Event(
                user_id=READER.user_id,
                id=f"{place}.{happened.category}.{number}",
                category=happened.category,
                entity=Entity(
                    "post",
                    place,
                    _TITLES[place],
                    f"https://community.example.com/{place}",
                    _IMAGES.get(place),
                ),
                actor=Actor(f"person{who}", name, avatar=_avatar(name)),
                occurred_at=SENT_AT - timedelta(hours=happened.hours, minutes=7 * number),
                excerpt=happened.excerpt if number == 0 else "",
            )


def _avatar(name: str) -> str:
    return f"{PICTURES_AT}face{_FACES[name]}.jpg" if name in _FACES else ""


def with_pictures(html: str) -> str:
    """The same page with the pictures in it, because nothing is loaded to draw it."""
    return _PICTURE.sub(lambda found: _in_page(_PICTURES / found[1]), html)


def _in_page(path: Path) -> str:
    return f"data:image/jpeg;base64,{b64encode(path.read_bytes()).decode()}"
