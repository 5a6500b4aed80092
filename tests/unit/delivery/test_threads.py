"""Mail programs show all immediate emails about an entity as one thread."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.model import Actor
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber

from tests.builders import NOW, an_event
from tests.world import World

_PEOPLE = (("Zoë",), ("Bo", "Kim"), ("Kim", "Bo", "Ann Weber"), (None,))
"""The people who act before each email of the thread. None is an event without an actor."""


@pytest.mark.parametrize("locale", ["en", "de", "he"])
@pytest.mark.parametrize(
    "category", ["comment", "reply", "mention", "like", "follow", "article", "build_failed"]
)
def test_emails_of_a_thread_have_one_subject_and_one_message_id(
    built_templates: Path, category: str, locale: str
) -> None:
    """Gmail requires both.
    https://workspaceupdates.googleblog.com/2019/03/threading-changes-in-gmail-conversation-view.html
    """
    world = World(renderer=JinjaRenderer(built_templates))
    world.choose(at=NOW - timedelta(days=1), **{category: Frequency.IMMEDIATE})
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    assert world.subscribers.put(replace(reader, locale=locale), replacing=reader)
    for number, people in enumerate(_PEOPLE):
        for name in people:
            event = an_event(f"{name}-{number}", category=category, occurred_at=world.clock())
            actor = Actor(name, name) if name else None
            world.create(replace(event, actor=actor, excerpt=f"{number}"))
        world.send_everything()
        world.clock.pass_time(minutes=30 * number)
    mails = [mail for mail, _ in world.mailer.accepted]
    assert len(mails) == len(_PEOPLE)
    assert len({(mail.edition.subject, dict(mail.headers)["References"]) for mail in mails}) == 1
    assert len({mail.edition.text for mail in mails}) == len(_PEOPLE)
