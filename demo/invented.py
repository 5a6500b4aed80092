"""Invented but deterministic contents for the messages of the real week.

The sender, recipient and time of each message are real (`demo.campus`). Each message becomes one
event, so the numbers of events and emails are those of the real week. The texts are in
`demo.texts`.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from demo import campus
from demo.campus import Message
from demo.texts import FACES, MENTIONS, PICTURES, SAID, THREAD, TITLES, WORDS

SITE = "https://campus.example"
"""The site to which the events of the week lead."""

PICTURES_AT = f"{SITE}/pictures/"

_FIRST: Mapping[str, Mapping[str, int]] = {
    "chat": {"message": 1},
    "thread": {"comment": 5, "reply": 3, "mention": 2},
    "album": {"like": 5, "comment": 4, "mention": 1},
    "draft": {"mention": 4, "comment": 4, "like": 2},
    "article": {"article": 1},
    "profile": {"follow": 1},
    "timetable": {"timetable": 1},
    "library": {"library": 1},
}
"""The categories of a person's first event of a day about an entity, with weights, by kind of
entity.
"""

_THEN = {"chat": "message", "thread": "reply", "album": "comment", "draft": "reply"}
"""The categories of a person's later events of a day about an entity.

A person likes, mentions or follows only once a day.
"""

_FOLLOWED = {"chat": 7, "thread": 5, "album": 4, "draft": 4}
_ADDRESSED = {
    "album": 6,
    "chat": 5,
    "thread": 4,
    "profile": 3,
    "article": 3,
    "timetable": 1,
    "library": 1,
}
"""Kinds of entities with weights, for pairs who both wrote and for pairs in which only one wrote.
"""

_NOBODY = {"timetable", "library"}
"""Kinds of entities that belong to the campus. Their events have no actor."""

AT_ONCE = 0
"""The number of the further reader, who gets immediate emails. Students' numbers start at 1."""

_WITH_FACE = 0.6
_THREADS = 40


@dataclass(frozen=True, slots=True)
class Thing:
    """An entity. `kind` is its type; `picture` is a key of PICTURES, or empty."""

    kind: str
    id: str
    title: str
    picture: str = ""

    @property
    def url(self) -> str:
        """The URL of the entity."""
        return f"{SITE}/{self.kind}/{self.id}"


@dataclass(frozen=True, slots=True)
class Happened:
    """One event: the real message, and the invented contents."""

    message: Message
    category: str
    thing: Thing
    excerpt: str
    is_followed: bool

    @property
    def has_actor(self) -> bool:
        """True if the event has an actor."""
        return self.category not in _NOBODY

    def detail(self, first_day: date) -> dict[str, Any]:
        """Return the detail of an activity if the reader follows the entity, or else the detail of
        an event.
        """
        plain = campus.event_created(self.message, first_day)
        if self.is_followed:
            del plain["user_id"]
        if self.has_actor:
            plain["actor"] |= _person(self.message.source)
        else:
            del plain["actor"]
        return plain | {
            "category": self.category,
            "entity": _entity(self.thing),
            **({"excerpt": self.excerpt} if self.excerpt else {}),
        }


def happened(week: Iterable[Message]) -> list[Happened]:
    """Return one event for each message, in the order of the messages."""
    messages = [*week]
    mutual = campus.mutual(messages)
    pools: dict[tuple[int, str, str], Iterator[str]] = {}
    times: Counter[tuple[int, int, int, str]] = Counter()
    met: set[tuple[int, int]] = set()
    events = []
    for message in messages:
        source, target = message.source, message.target
        is_followed = message.conversation in mutual
        thing = shared(message.conversation) if is_followed else _addressed(message, met)
        key = (source, target, message.day, thing.id)
        draw = random.Random(f"{message.row} category")
        category = _drawn(draw, _FIRST[thing.kind])
        if times[key]:
            category = _THEN[thing.kind]
        times[key] += 1
        pool = pools.setdefault(
            (target, thing.kind, category), _excerpts(target, thing.kind, category)
        )
        excerpt = next(pool, "")
        events.append(Happened(message, category, thing, excerpt, is_followed))
    return events


def thread() -> list[Happened]:
    """Return three events about one entity for a further reader, who gets immediate emails.

    The events are on different days, so that each event becomes a separate email.
    """
    thing = Thing("draft", "thread", "Speech for the summer festival")
    return [
        Happened(
            Message(-day, source, AT_ONCE, day, 0), category, thing, excerpt, is_followed=False
        )
        for day, (source, category, excerpt) in enumerate(THREAD, 1)
    ]


def wants_at_once(now: datetime) -> dict[str, Any]:
    """Return the detail that registers the further reader, who gets immediate emails."""
    categories = {category for _, category, _ in THREAD}
    wanted = {"frequencies": dict.fromkeys(sorted(categories), "immediate")}
    return campus.subscriber_changed(AT_ONCE, now) | wanted


def shared(conversation: str) -> Thing:
    """Return the entity that two students who wrote to each other share and follow."""
    draw = random.Random(conversation)
    return _thing(draw, _drawn(draw, _FOLLOWED), conversation)


def follow_created(student: int, conversation: str, first_day: date) -> dict[str, Any]:
    """Return the detail with which a student follows a shared entity, a day before the replay."""
    thing = shared(conversation)
    return {
        "user_id": campus.user_id(student),
        "entity": {"type": thing.kind, "id": thing.id, "title": thing.title},
        "changed_at": (campus.midnight(first_day) - timedelta(days=1)).isoformat(),
    }


def _addressed(message: Message, met: set[tuple[int, int]]) -> Thing:
    """Return the entity about which a student writes to a student who does not reply."""
    source, target, day = message.source, message.target, message.day
    draw = random.Random(f"{source} {target} {day}")
    kind = _drawn(draw, _ADDRESSED)
    if kind not in _THEN:
        if (source, target) in met:
            kind = "chat"
        met.add((source, target))
    match kind:
        case "album":
            return _thing(random.Random(f"album {target}"), kind, f"of-{target}")
        case "thread":
            number = draw.randrange(_THREADS)
            return _thing(random.Random(f"thread {number}"), kind, f"{number}")
        case "profile":
            return Thing(kind, f"{target}", campus.name(target))
        case "article":
            return _thing(random.Random(f"article {source}"), kind, f"by-{source}")
        case "timetable" | "library":
            return _thing(draw, kind, f"{message.row}")
        case _:
            return _thing(random.Random(f"chat {source} {target}"), kind, f"{source}-to-{target}")


def _thing(draw: random.Random, kind: str, identity: str) -> Thing:
    titles = [(title, picture) for picture, some in TITLES[kind].items() for title in some]
    title, picture = draw.choice(titles)
    title = _filled(draw, title)
    return Thing(kind, identity, title[0].upper() + title[1:], picture)


def _excerpts(target: int, kind: str, category: str) -> Iterator[str]:
    """Yield a reader's excerpts. No text repeats before all texts have been used."""
    draw = random.Random(f"{target} {kind} {category}")
    texts = [*(MENTIONS[kind] if category == "mention" else SAID.get(kind, {}).get(category, ()))]
    reader = campus.name(target).partition(" ")[0].lower()
    while texts:
        draw.shuffle(texts)
        for text in texts:
            yield _filled(draw, text, reader=reader)


def _filled(draw: random.Random, text: str, **others: str) -> str:
    return text.format_map({name: draw.choice(words) for name, words in WORDS.items()} | others)


def _drawn(draw: random.Random, weights: Mapping[str, int]) -> str:
    (chosen,) = draw.choices([*weights], [*weights.values()])
    return chosen


def _person(student: int) -> dict[str, str]:
    """Return the URL of the student's page and of the student's picture, if any."""
    draw = random.Random(f"face {student}")
    page = {"url": f"{SITE}/people/{student}"}
    if draw.random() >= _WITH_FACE:
        return page
    return page | {"avatar": f"{PICTURES_AT}face{draw.randrange(FACES)}.jpg"}


def _entity(thing: Thing) -> dict[str, Any]:
    about: dict[str, Any] = {
        "type": thing.kind,
        "id": thing.id,
        "title": thing.title,
        "url": thing.url,
    }
    if thing.picture:
        url = f"{PICTURES_AT}{thing.picture}.jpg"
        about["image"] = {"url": url, "text": PICTURES[thing.picture]}
    return about
