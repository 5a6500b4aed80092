"""A sample reader and sample events, with texts that are difficult to lay out."""

from datetime import UTC, datetime, timedelta

from gazette.domain.model import Actor, Entity, Event, Image
from gazette.domain.subscribers.subscriber import Subscriber

_NOW = datetime(2026, 11, 26, 6, 40, tzinfo=UTC)

READER = Subscriber(
    user_id="sample",
    email="sample@example.com",
    name="Ann Weber",
    locale="en",
    time_zone="Europe/Berlin",
    changed_at=_NOW - timedelta(days=90),
)

_PEOPLE = (
    "Bo Berg",
    "נועה לוי",
    "Ingeborg Wolkenstein-Trostburg",
    "محمد علي",
    "Zoë",
    "R2",
    "Linh Nguyễn Thị",
)

_LONG = (
    "Why we moved the whole archive of twelve years to the new storage, what went wrong on "
    "the first weekend, and what we would do differently next time"
)

_UNBROKEN = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"

_PLACES: tuple[tuple[str, str, str, int, str], ...] = (
    ("comment", "p1", "On digests", 14, "Well said. I would only add that Sundays are different."),
    (
        "reply",
        "p2",
        _LONG,
        5,
        "Thank you!\nWe had the same weekend, two years ago.\n\nNever again.",
    ),
    ("mention", "p3", "Release 4.2 & what is <next>", 3, "@ann could you have a look at this?"),
    ("comment", "p4", "שלום עולם", 3, "כתבתי על זה לפני שנה, והתשובה עדיין נכונה."),
    ("message", "c1", "Ingeborg Wolkenstein-Trostburg", 2, "Lunch on Friday?"),
    ("article", "a1", _UNBROKEN, 1, "A word that no line can hold. " * 12),
    ("like", "p5", "Photographs from the harbour", 41, ""),
    ("follow", "u1", "You", 2, ""),
    ("build_failed", "b1", "gazette / main", 1, "3 of 214 tests failed."),
)
"""The category, id, title, number of events, and latest excerpt of each sample entity."""

_WITHOUT_ACTOR = {"build_failed"}

_AVATARS = {
    "Bo Berg": "https://example.com/avatars/bo.png",
    "Zoë": "https://example.com/avatars/zoe.png",
}
"""The avatars of two people. Zoë's is in the first part of a digest, which shows faces."""

_IMAGES = {"p1": Image("https://example.com/pictures/p1.jpg", "A heap of letters on a table")}
"""The images of sample entities. Their URLs do not resolve, so a preview looks as if the mail
program blocks images.
"""

_FOLLOWED = {"a1", "p4"}


def _events() -> tuple[Event, ...]:
    events: list[Event] = []
    for place, (category, entity, title, count, excerpt) in enumerate(_PLACES):
        for number in range(count):
            name = _PEOPLE[(place + number) % len(_PEOPLE)]
            events.append(
                Event(
                    user_id=READER.user_id,
                    id=f"{entity}.{number}",
                    category=category,
                    entity=Entity(
                        "post",
                        entity,
                        title,
                        f"https://example.com/{entity}",
                        _IMAGES.get(entity),
                    ),
                    actor=None
                    if category in _WITHOUT_ACTOR
                    else Actor(f"{name} {number}", name, avatar=_AVATARS.get(name, "")),
                    occurred_at=_NOW - timedelta(hours=place, minutes=7 * number),
                    excerpt=excerpt.strip() if number == 0 else "",
                    via=(f"post#{entity}",) if entity in _FOLLOWED else (),
                )
            )
    return tuple(events)


EVENTS = _events()
