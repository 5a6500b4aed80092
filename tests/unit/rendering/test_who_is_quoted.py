"""Each quote, face, count and name in an email belongs to the actors of its own events."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from gazette.adapters.rendering.language import Languages
from gazette.adapters.rendering.pages import JinjaPages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.sheets import Sheets
from gazette.adapters.rendering.texts import initials
from gazette.adapters.rendering.view_models import COLOURS, show
from gazette.domain.delivery.arrangement import Arrangement, Ranking
from gazette.domain.delivery.compose import Digest, compose
from gazette.domain.model import DAILY, Actor, Edition, Event
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import LINKS, NOW, a_subscriber, an_event, an_update_list

SOURCE = Path(__file__).parents[3] / "templates"
KNOWN = sorted(folder.name for folder in (SOURCE / "categories").iterdir())
CATEGORIES = [*KNOWN, "build_failed"]
LOCALES = ["en", *sorted(folder.name for folder in (SOURCE / "locales").iterdir())]
SCHEDULES = [DAILY, immediate_schedule("post#post1"), critical_schedule("post#post1")]
ONE_EACH = {"like", "follow"}
"""Categories in which each person counts once."""

BO = Actor("bo", "Bo")
NAMELESS = Actor("zero", "\u200b\u2060")


def said_by(actor: Actor | None, words: str, minute: int = 0, **more: Any) -> Event:
    """Return a comment with this excerpt, `minute` minutes after 07:03."""
    event = an_event(words, excerpt=words, occurred_at=NOW + timedelta(minutes=minute), **more)
    return replace(event, actor=actor)


def edition(
    renderer: JinjaRenderer, events: Iterable[Event], schedule: str = DAILY, locale: str = "en"
) -> Edition:
    reader = replace(a_subscriber(), locale=locale)
    return renderer.render(compose(events, max_blocks=20), reader, LINKS, schedule)


@dataclass(frozen=True)
class Row:
    """A line as the reader sees it. `face`: the URL of the avatar, or initials and their colour."""

    line: str
    face: str
    signer: str
    words: str


def bare(text: str) -> str:
    """Return `text` on one line without isolates and word joiners."""
    return " ".join(re.sub(r"[\u2060\u2066-\u2069]", "", text).split())


def rows(made: Edition) -> list[Row]:
    """Return the lines of the HTML part that have a cell for a face."""
    found = []
    for table in lxml.html.document_fromstring(made.html).xpath("//table[@class='by']"):
        [line] = table.xpath(".//h1 | .//p[@class='line']")
        face = table.xpath("string(.//img[@class='avatar']/@src)")
        letters = table.xpath("string(.//td[contains(@class, 'letters')])")
        colour = table.xpath("string(.//td[contains(@class, 'letters')]/@bgcolor)")
        found.append(
            Row(
                bare(line.text_content()),
                face or f"{bare(letters)} {colour}".strip(),
                bare(table.xpath("string(.//blockquote/b)")),
                bare(table.xpath("string(.//span[@class='words'])")),
            )
        )
    return found


def rows_of_text(made: Edition) -> list[Row]:
    """Return the lines of the text part that have a quote."""
    found = re.findall(r"^ *(\S.*)\n +(?:([^\"\n]+): )?\"(.*)\"$", made.text, re.MULTILINE)
    return [Row(bare(line), "", bare(signer), bare(words)) for line, signer, words in found]


def everything(made: Edition) -> str:
    """Return subject, HTML part and text part as one text."""
    page = html.unescape(re.sub(r"<style.*?</style>", "", made.html, flags=re.DOTALL))
    return bare(f"{made.subject} {page} {made.text}")


def preheader(made: Edition) -> str:
    page = lxml.html.document_fromstring(made.html)
    return bare(page.xpath("string(//*[@class='preheader'])").strip("\u034f\u2007"))


@pytest.mark.parametrize("unnamed", [None, NAMELESS, Actor("none", "")])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("minute", [1, -1])
def test_unnamed_comment_is_not_attributed_to_another_actor(
    renderer: JinjaRenderer, minute: int, schedule: str, unnamed: Actor | None
) -> None:
    made = edition(
        renderer, [said_by(BO, "I agree."), said_by(unnamed, "No way.", minute)], schedule
    )
    his, theirs = (
        Row("Bo commented", "", "", "I agree."),
        Row("Someone commented", "", "", "No way."),
    )
    assert {*rows(made)} == {replace(his, face=f"B {COLOURS[3]}"), theirs}
    assert {*rows_of_text(made)} == {his, theirs}
    assert "from Bo" not in everything(made)


SAYS = {
    "article": ("New article", "2 new articles"),
    "build_failed": ("Build failed", "Build failed · 2 times"),
    "comment": ("Someone commented", "2 new comments"),
    "follow": ("Someone started following you", "2 new followers"),
    "like": ("Someone liked this", "2 new likes"),
    "mention": ("Someone mentioned you", "You were mentioned 2 times"),
    "message": ("New message", "2 new messages"),
    "other": ("Other", "Other · 2 times"),
    "recommendation": ("Recommended for you", "Recommended for you"),
    "reply": ("Someone replied", "2 new replies"),
}


@pytest.mark.parametrize("unnamed", [None, NAMELESS])
@pytest.mark.parametrize("category", CATEGORIES)
def test_lines_of_unnamed_events_have_no_name_or_avatar(
    renderer: JinjaRenderer, category: str, unnamed: Actor | None
) -> None:
    """Two unnamed events can come from one person or from two."""
    one, other = (
        replace(said_by(unnamed, f"words {place}", category=category), actor=each)
        for place, each in enumerate([unnamed, unnamed and replace(unnamed, id="other")])
    )
    for events, line in (([one], SAYS[category][0]), ([one, other], SAYS[category][1])):
        for schedule in SCHEDULES:
            [row] = rows(edition(renderer, events, schedule))
            assert (row.line, row.face, row.signer) == (line, "", "")


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_unnamed_events_do_not_change_the_lines_of_named_actors(
    renderer: JinjaRenderer, schedule: str, locale: str, category: str
) -> None:
    """The lines of Bo are the same with and without unnamed events."""
    his = [said_by(BO, f"words {number}", number, category=category) for number in range(3)]
    for minutes in ([-1], [9], [1, 2], [-1, 9, 9, 9]):
        theirs = [
            said_by(None, f"words {9 + place}", minute, category=category)
            for place, minute in enumerate(minutes)
        ]
        both, alone = (
            rows(edition(renderer, events, schedule, locale)) for events in ([*his, *theirs], his)
        )
        assert len(both) == 2
        assert [row for row in both if row.face] == alone
        assert not any("Bo" in row.line for row in both if not row.face)


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_subjects_of_unnamed_events_contain_no_name(
    renderer: JinjaRenderer, count: int, locale: str, category: str
) -> None:
    """This also holds if a named actor has a line further down."""
    events = [
        *(said_by(None, f"words {number}", number, category=category) for number in range(count)),
        said_by(BO, "words", -9, category=category),
    ]
    latest = Arrangement(ranking=Ranking.LATEST)
    digest = compose(events, max_blocks=20, arrangement=latest)
    assert not digest.groups[0].actors
    for schedule in SCHEDULES:
        made = renderer.render(digest, replace(a_subscriber(), locale=locale), LINKS, schedule)
        assert "Bo" not in made.subject
        assert "Bo" not in preheader(made).partition("·")[0]


def test_preheader_names_the_quoted_actor(renderer: JinjaRenderer) -> None:
    events = [said_by(BO, "Yes."), said_by(Actor("cy", "Cy"), "No.", 1)]
    assert preheader(edition(renderer, events)) == "Cy: No."
    at_once = edition(renderer, events, SCHEDULES[1])
    assert preheader(at_once) == "2 new comments from Cy and Bo · Cy: No."
    alone = edition(renderer, [said_by(BO, "Yes."), said_by(BO, "No.", 1)], SCHEDULES[1])
    assert preheader(alone) == "2 new comments from Bo: No."


@pytest.mark.parametrize(
    ("category", "line", "subject"),
    [
        ("like", "Bo liked this", "Bo liked “Title of post1”"),
        ("follow", "Bo started following you", "Bo started following you"),
    ],
)
def test_repeated_likes_and_follows_count_once(
    renderer: JinjaRenderer, category: str, line: str, subject: str
) -> None:
    events = [said_by(BO, f"words {number}", number, category=category) for number in range(5)]
    made = edition(renderer, events)
    assert (made.subject, [row.line for row in rows(made)]) == (subject, [line])
    assert not re.search(r"\b5\b|\d updates", everything(made))
    more = [*events, said_by(Actor("cy", "Cy"), "words", -1, entity_id="post2")]
    made = edition(renderer, more)
    assert made.subject == "Cy commented on “Title of post2” + 1 more"
    assert "2 updates for you" in made.text
    shown = compose(more, max_blocks=1)
    assert (shown.events, shown.more_events) == (2, 1)


def test_repeated_recommendations_count_once(renderer: JinjaRenderer) -> None:
    """Their line contains no number."""
    events = [said_by(None, f"words {number}", category="recommendation") for number in range(5)]
    made = edition(renderer, [*events, said_by(BO, "words", category="comment", entity_id="p2")])
    assert "2 updates for you" in made.text


@pytest.mark.parametrize("category", ["comment", "reply", "message", "article", "mention", "x"])
def test_repeated_comments_and_mentions_count_each_time(
    renderer: JinjaRenderer, category: str
) -> None:
    cy = Actor("cy", "Cy")
    for actors in ([BO] * 5, [BO, cy, BO, cy, BO]):
        events = [
            said_by(actor, f"words {number}", number, category=category)
            for number, actor in enumerate(actors)
        ]
        made = edition(renderer, events)
        assert "5 updates for you" in made.text
        [row] = rows(made)
        assert "5" in row.line


def test_unnamed_likes_count_once_for_each_actor_id_or_event(
    renderer: JinjaRenderer,
) -> None:
    events = [said_by(None, f"words {number}", category="like") for number in range(3)]
    assert [row.line for row in rows(edition(renderer, events))] == ["3 new likes"]
    nameless = [replace(each, actor=NAMELESS) for each in events]
    assert [row.line for row in rows(edition(renderer, nameless))] == ["Someone liked this"]
    both = [said_by(None, "words", category="like"), *nameless]
    assert [row.line for row in rows(edition(renderer, both))] == ["2 new likes"]


def test_two_lines_of_a_category_share_a_mute_link(renderer: JinjaRenderer) -> None:
    """One link mutes the category of both lines."""
    links = replace(LINKS, leave=lambda scope: f"https://x.example/{','.join(scope.names)}")
    events = [said_by(BO, "words 1"), said_by(None, "words 2")]
    made = renderer.render(compose(events, max_blocks=1), a_subscriber(), links, DAILY)
    page = lxml.html.document_fromstring(made.html)
    assert page.xpath("//a[@class='leave']/@href") == ["https://x.example/comment"]
    assert made.text.count("https://x.example/comment") == 1


def test_only_a_single_named_actor_is_given_as_the_reason(
    renderer: JinjaRenderer,
) -> None:
    schedule = immediate_schedule("post#post1")
    named = said_by(BO, "words", category="mention")
    unnamed = said_by(None, "words 2", 1, category="mention")
    assert "because Bo mentioned you" in edition(renderer, [named], schedule).text
    for events in ([unnamed], [unnamed, replace(unnamed, id="e3")]):
        assert "mentioned you on" not in edition(renderer, events, schedule).text


def test_updates_page_lists_unnamed_events_separately(built_templates: Path) -> None:
    events = [said_by(BO, "words 1"), said_by(None, "words 2", 1), said_by(None, "words 3", 2)]
    shown = compose(events, max_blocks=3, max_lines=3)
    said = JinjaRenderer(built_templates).said(shown, a_subscriber())
    page = JinjaPages(Sheets(built_templates)).updates(an_update_list(shown, said), a_subscriber())
    text = bare(lxml.html.document_fromstring(page).text_content())
    assert sorted(said[0]) == ["2 new comments", "Bo commented"]
    assert "All 3 updates from 22 November" in text


NAMES = {"a": ["Alba", "Aldo"], "b": ["Bruno", "Berta"], "c": ["Cleo"], "d": ["Cleo"], "e": [""]}
"""The names of each actor id, oldest first. Two people share a name, and one has no name."""

AVATARS = {"b": "https://p.example/b.png", "e": "https://p.example/e.png"}
ACTORS = [None, *((key, place) for key in NAMES for place in range(len(NAMES[key])))]


def sequence(drawn: Sequence[tuple[Any, str, str, int, bool]]) -> list[Event]:
    """Return events with distinct excerpts. Events with old names occur first."""
    made = []
    for number, (who, category, entity, minute, quotes) in enumerate(drawn):
        key, place = who or ("", 0)
        actor = Actor(key, NAMES[key][place], avatar=AVATARS.get(key, "")) if who else None
        words = f"words {number:03}" if quotes else ""
        made.append(
            replace(
                an_event(
                    f"e{number}",
                    category=category,
                    entity_id=entity,
                    excerpt=words,
                    occurred_at=NOW + timedelta(minutes=minute + 100 * place),
                ),
                actor=actor,
            )
        )
    return made


SEQUENCES = st.lists(
    st.tuples(
        st.sampled_from(ACTORS),
        st.sampled_from(CATEGORIES),
        st.sampled_from(["p1", "p2"]),
        st.integers(0, 5),
        st.sampled_from([True, True, True, False]),
    ),
    min_size=1,
    max_size=14,
).map(sequence)


def newest_names(events: Iterable[Event]) -> dict[str, str]:
    """Return the newest name of each actor id."""
    by_age = sorted(events, key=lambda event: (event.occurred_at, event.id))
    return {event.actor.id: event.actor.name for event in by_age if event.actor}


def counted(events: Sequence[Event]) -> int:
    """Return the expected count of a line with these events."""
    if events[0].category == "recommendation":
        return 1
    if events[0].category in ONE_EACH:
        return len({event.actor.id if event.actor else (event.id,) for event in events})
    return len(events)


def lines_of(events: Sequence[Event]) -> list[list[Event]]:
    """Return the events of each expected line."""
    lines: dict[Any, list[Event]] = {}
    for event in events:
        named = bool(event.actor and event.actor.name)
        lines.setdefault((event.entity.id, event.category, named), []).append(event)
    return list(lines.values())


def names_in(text: str) -> set[str]:
    return {name for names in NAMES.values() for name in names if name and name in text}


def face_of(actor: Actor, name: str) -> str:
    if actor.avatar:
        return actor.avatar
    page = show_of(replace(an_event(), actor=replace(actor, name=name)))
    return f"{initials(name)} {page}"


def show_of(event: Event) -> str:
    (group,) = compose([event], max_blocks=1).groups
    shown = show(group, Languages(SOURCE).of("en"), UTC)
    return shown.actor.colour if shown.actor else ""


@given(
    SEQUENCES,
    SEQUENCES,
    st.sampled_from(LOCALES),
    st.sampled_from(SCHEDULES),
    st.sampled_from(Ranking),
)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_quotes_avatars_and_counts_match_their_events(
    renderer: JinjaRenderer,
    first: list[Event],
    second: list[Event],
    locale: str,
    schedule: str,
    ranking: Ranking,
) -> None:
    """Two readers get emails from the same renderer, one after the other."""
    for user_id, events in (("ann", first), ("bea", second)):
        arrangement = Arrangement(ranking=ranking)
        digest = compose(events, max_blocks=20, max_lines=40, arrangement=arrangement)
        reader = replace(a_subscriber(user_id), locale=locale)
        made = renderer.render(digest, reader, LINKS, schedule)
        check_rows(made, events)
        check_names(made, digest, events)
        check_counts(made, digest, events)


def check_rows(made: Edition, events: Sequence[Event]) -> None:
    names, found = newest_names(events), rows(made)
    spoken = {event.excerpt: event for event in events if event.excerpt}
    for row in (row for row in found if row.words):
        event = spoken[row.words]
        if event.actor is None or not event.actor.name:
            assert (row.face, row.signer, names_in(row.line)) == ("", "", set())
            continue
        name = names[event.actor.id]
        assert row.face == face_of(event.actor, name)
        assert row.signer in {"", name}
        assert event.category == "recommendation" or name in row.line
        others = names_in(row.line) - {name}
        assert row.signer == name or not others
    quoted = [replace(row, face="") for row in found if row.words]
    assert rows_of_text(made) == quoted
    lines = lines_of(events)
    assert len(found) == len(lines)
    faces = sum(bool(line[0].actor and line[0].actor.name) for line in lines)
    assert sum(bool(row.face) for row in found) == faces


def check_names(made: Edition, digest: Digest, events: Sequence[Event]) -> None:
    old = {name for names in NAMES.values() for name in names} - {*newest_names(events).values()}
    assert not names_in(everything(made)) & old
    first = digest.groups[0]
    mine = {newest_names(events)[actor.id] for actor in first.actors}
    assert names_in(made.subject) <= mine
    for group in digest.groups:
        shown = show(group, Languages(SOURCE).of("en"), UTC)
        members = [
            event
            for event in events
            if (event.entity.key, event.category) == (group.latest.entity.key, group.category)
            and bool(event.actor and event.actor.name) == bool(group.actors)
        ]
        assert {*shown.people} <= {*map(newest_names(events).get, actors_of(members))}
        assert len(shown.people) + shown.others == len(actors_of(members))
        assert bool(shown.actor) == bool(shown.people) == bool(group.actors)
        assert group.latest in members or group.latest.id in {event.id for event in members}
        assert shown.count == counted(members)


def actors_of(events: Iterable[Event]) -> set[str]:
    return {event.actor.id for event in events if event.actor and event.actor.name}


def check_counts(made: Edition, digest: Digest, events: Sequence[Event]) -> None:
    expected = sum(map(counted, lines_of(events)))
    assert digest.events == expected == sum(group.count for group in digest.groups)
