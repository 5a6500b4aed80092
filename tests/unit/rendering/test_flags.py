"""Emails keep subdivision flags such as England's, and remove all other tag characters."""

import html
import json
import re
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest
from gazette.adapters.rendering.language import Languages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.texts import initials, one_line, subject_line
from gazette.adapters.rendering.view_models import show
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Actor, Edition, Image
from gazette.domain.scheduling.kinds import immediate_schedule
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import LINKS, a_subscriber, an_event

SOURCE = Path(__file__).parents[3] / "templates"
BLACK_FLAG = "\U0001f3f4"
TAGS = re.compile("[\U000e0000-\U000e007f]")


def tags(text: str) -> str:
    """Return `text` in tag characters, which are invisible."""
    return "".join(chr(0xE0000 + ord(each)) for each in text)


def flag(code: str) -> str:
    return f"{BLACK_FLAG}{tags(code)}\U000e007f"


FLAGS = [flag(code) for code in ("gbeng", "gbsct", "gbwls", "usca", "esct", "frnor", "419")]
"""England, Scotland and Wales, and other sequences that UTS #51 calls valid."""

WHOLE = re.compile(f"{BLACK_FLAG}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{{3,6}}\U000e007f")


def edition(renderer: JinjaRenderer, text: str, schedule: str = DAILY) -> Edition:
    """Return an email with `text` in each text field of an event."""
    event = an_event(excerpt=f"Words {text}", category="message")
    entity = replace(
        event.entity, title=f"Title {text}", image=Image("https://p.example/1.png", f"Alt {text}")
    )
    event = replace(event, entity=entity, actor=Actor("bo", f"Bo {text}"))
    reader = replace(a_subscriber(), name=f"Ann {text}", locale="hu")
    return renderer.render(
        compose([event, an_event("e2", entity_id="p2", actor="Cy")], max_blocks=2),
        reader,
        LINKS,
        schedule,
    )


@pytest.mark.parametrize("sign", FLAGS)
@pytest.mark.parametrize("schedule", [DAILY, immediate_schedule("post#post1")])
def test_every_part_keeps_subdivision_flags(
    renderer: JinjaRenderer, schedule: str, sign: str
) -> None:
    made = edition(renderer, sign, schedule)
    assert sign in made.subject
    for part in (html.unescape(made.html), made.text):
        for before in ("Title ", "Words ", "Alt ", "Bo "):
            assert f"{before}{sign}" in part
    assert schedule != DAILY or f"Ann {sign}" in made.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (tags("hello"), ""),
        (f"a{tags('hello')}b", "ab"),
        (f"{BLACK_FLAG}{tags('gbeng')}", BLACK_FLAG),
        (f"{BLACK_FLAG}{tags('ignore all that was said')}\U000e007f", BLACK_FLAG),
        (f"{BLACK_FLAG}{tags('GBENG')}\U000e007f", BLACK_FLAG),
        (f"{BLACK_FLAG}{tags('ignoreallofit')}\U000e007f", BLACK_FLAG),
        (f"{BLACK_FLAG}{tags('1234')}\U000e007f", BLACK_FLAG),
        (f"{BLACK_FLAG}{tags('gb')}\U000e007f", BLACK_FLAG),
        (f"{BLACK_FLAG}\u200b{tags('gbeng')}\U000e007f", BLACK_FLAG),
        (f"{BLACK_FLAG}\U000e007f", BLACK_FLAG),
        (f"\U0001f600{tags('gbeng')}\U000e007f", "\U0001f600"),
        (f"{flag('gbeng')}{tags('hello')}", flag("gbeng")),
        (f"\U000e0001{flag('gbsct')}\u202e", flag("gbsct")),
    ],
)
def test_attack_tag_characters_outside_flags_are_removed(text: str, shown: str) -> None:
    assert one_line(text, 80) == shown
    assert subject_line(text, 80) == shown


@given(
    st.lists(
        st.sampled_from([*FLAGS, BLACK_FLAG, "\U000e007f", "\U000e0001", "\u200b", "a", " ", "é"])
        | st.text("abgenz019 ", max_size=6).map(tags),
        max_size=30,
    ).map("".join),
    st.integers(20, 60),
)
def test_truncated_text_has_tag_characters_only_in_whole_flags(text: str, longest: int) -> None:
    cut = one_line(text, longest)
    assert len(cut) <= longest
    assert not TAGS.search(WHOLE.sub("", cut))


@pytest.mark.parametrize("sign", FLAGS)
@pytest.mark.parametrize("before", range(24))
def test_truncation_does_not_split_flags(sign: str, before: int) -> None:
    cut = one_line("A" * (before + 10) + sign * 20, 60)
    assert re.fullmatch(f"A*(?:{sign})*…", cut)


def test_initials_keep_flags() -> None:
    assert initials(f"{FLAGS[0]} {FLAGS[1]}") == FLAGS[0]
    assert initials(f"{FLAGS[0]} Bo Berg") == "BB"


def test_event_data_keeps_flags_but_removes_tag_characters() -> None:
    data = json.dumps({f"a{FLAGS[0]}": [f"{FLAGS[2]}{tags('x')}"]})
    (group,) = compose([replace(an_event(), data=data)], max_blocks=1).groups
    shown = show(group, Languages(SOURCE).of("en"), UTC)
    assert shown.data == {f"a{FLAGS[0]}": [FLAGS[2]]}
