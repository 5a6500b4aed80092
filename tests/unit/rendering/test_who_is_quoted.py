"""Each quote, face, count and name in an email belongs to the actors of its own events."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
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
from gazette.domain.delivery.compose import Digest, Part, compose
from gazette.domain.model import DAILY, Actor, Edition, Event, Importance
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule, is_critical
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
class Quote:
    """An excerpt as the reader sees it."""

    signer: str
    words: str


@dataclass(frozen=True)
class Row:
    """A line as the reader sees it. `face`: the URL of the avatar, or initials and their colour."""

    line: str
    face: str = ""
    quotes: tuple[Quote, ...] = ()
    kind: str = field(default="", compare=False)
    """`alone` in immediate emails, `lead` for the first line of a block that leads a digest, but
    `first` if the block is the first, and `row` for all other lines of a digest."""

    @property
    def words(self) -> list[str]:
        return [quote.words for quote in self.quotes]

    @property
    def signers(self) -> set[str]:
        return {quote.signer for quote in self.quotes} - {""}


def bare(text: str) -> str:
    """Return `text` on one line without isolates and word joiners."""
    return " ".join(re.sub(r"[\u2060\u2066-\u2069]", "", text).split())


def rows(made: Edition) -> list[Row]:
    """Return the lines of the HTML part."""
    found: list[Row] = []
    page = lxml.html.document_fromstring(made.html)
    for table in page.xpath("//table[@class='by' or @class='item']"):
        if table.get("class") == "item":
            found += rows_of_block(table, is_first=not found)
            continue
        [line] = table.xpath(".//h1 | .//p[@class='line']")
        quotes = tuple(map(quote_in, table.xpath(".//table[@class='said']")))
        found.append(Row(bare(line.text_content()), face_in(table), quotes, "alone"))
    return found


def rows_of_block(table: Any, *, is_first: bool) -> list[Row]:
    """Return the lines of one block of a digest.

    In blocks that lead, except the first one, the quote of the first line is a paragraph.
    """
    found: list[Row] = []
    is_quote = False
    [cell] = table.xpath(".//td[@class='what']")
    for each in cell:
        text = bare(each.text or "")
        match each.get("class"):
            case "heading":
                kind = "first" if is_first else "lead"
                found.append(Row(bare(each.text_content()), face_in(table), kind=kind))
                is_quote = not is_first
            case "said":
                found[-1] = replace(found[-1], quotes=(*found[-1].quotes, quote_in(each)))
            case "row" if is_quote:
                is_quote = False
                if quote := re.fullmatch("(?:(.*): )?[“„״](.*)[”“״]", text):
                    found[-1] = replace(found[-1], quotes=(Quote(quote[1] or "", quote[2]),))
                else:
                    assert not text
            case "row":
                found.append(replace(short_row(text), kind="row"))
    return found


def short_row(text: str) -> Row:
    """Return the line of a short block. A row of a recommendation can have its excerpt alone."""
    short = re.fullmatch("(?:(.*): )?(?:[“„״](.*)[”“״]|(words [0-9]+))", bare(text))
    if not short:
        return Row(bare(text))
    line, _, signer = (short[1] or "").rpartition(" · ")
    if not line or signer not in line:  # the end of a line such as `Build failed · 2 times`
        line, signer = short[1] or "", ""
    return Row(line, quotes=(Quote(signer, short[2] or short[3]),))


def quote_in(table: Any) -> Quote:
    [words] = table.xpath(".//span[@class='words']")
    return Quote(bare(table.xpath("string(.//blockquote/b)")), bare(words.text_content()))


def face_in(table: Any) -> str:
    letters = table.xpath("string(.//td[contains(@class, 'letters')])")
    colour = table.xpath("string(.//td[contains(@class, 'letters')]/@bgcolor)")
    avatar: str = table.xpath("string(.//img[@class='avatar']/@src)")
    return avatar or f"{bare(letters)} {colour}".strip()


def rows_of_text(made: Edition) -> list[Row]:
    """Return the lines of the text part that have a quote."""
    found: list[Row] = []
    for line in made.text.splitlines():
        if quote := re.fullmatch(r' +(?:([^"]+): )?"(.*)"', line):
            said = Quote(bare(quote[1] or ""), bare(quote[2]))
            found[-1] = replace(found[-1], quotes=(*found[-1].quotes, said))
        else:
            row = short_row(line)
            is_row = line.startswith("  ") and (row.line or line.strip()[0] in "“„״")
            found.append(row if is_row else Row(bare(line)))
    return [row for row in found if row.quotes]


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
        Row("Bo commented", quotes=(Quote("", "I agree."),)),
        Row("Someone commented", quotes=(Quote("", "No way."),)),
    )
    has_face = schedule != DAILY or minute < 0
    face = f"B {COLOURS[3]}" if has_face else ""
    assert {*map(without_thing, rows(made))} == {replace(his, face=face), theirs}
    assert {*map(without_thing, rows_of_text(made))} == {his, theirs}
    assert "from Bo" not in everything(made)


def without_thing(row: Row) -> Row:
    """Return a row without the title in its sentence. Only the first line has the title."""
    return replace(row, line=re.sub("(?: on|:) “?Title of post1”?$", "", row.line))


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
            if schedule == SCHEDULES[2] and (len(events) == 1 or category == "recommendation"):
                line = "Title of post1"
            assert row.line.startswith(line.removesuffix(" this"))
            assert (row.face, row.signers) == ("", set())


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_unnamed_events_do_not_change_the_lines_of_named_actors(
    renderer: JinjaRenderer, schedule: str, locale: str, category: str
) -> None:
    """The line of Bo is the same with and without unnamed events.

    In a digest, the first line of the block has a face and up to three quotes. In categories in
    which Bo counts once, a digest with Bo alone looks like an immediate email.
    """
    his = [said_by(BO, f"words {number}", number, category=category) for number in range(3)]
    counts_once = category in {*ONE_EACH, "recommendation"}
    for minutes in ([-1], [9], [1, 2], [-1, 9, 9, 9]):
        theirs = [
            said_by(None, f"words {9 + place}", minute, category=category)
            for place, minute in enumerate(minutes)
        ]
        both, alone = (
            rows(edition(renderer, events, schedule, locale)) for events in ([*his, *theirs], his)
        )
        [shown] = [row for row in both if {*row.words} <= {event.excerpt for event in his}]
        [other], [expected] = [row for row in both if row is not shown], alone
        is_titled = schedule == SCHEDULES[2] and counts_once
        if category != "recommendation":
            assert "Bo" in shown.line
            assert is_titled or "Bo" in expected.line
        is_first = schedule != DAILY or shown.kind == "first"
        assert shown.face == (expected.face if is_first else "")
        assert expected.face
        has_all = shown.kind == "first" and not counts_once
        assert shown.words == ["words 2", "words 1", "words 0"][: 3 if has_all else 1]
        assert is_titled or expected.words[: len(shown.words)] == shown.words
        if not is_titled and shown.kind == expected.kind:
            assert replace(shown, line="") == replace(expected, line="")
        assert shown.signers <= {"Bo"}
        assert ("Bo" in other.line, other.face, other.signers) == (False, "", set())


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
    assert preheader(alone) == "2 new comments from Bo · No."


@pytest.mark.parametrize(
    ("category", "line", "subject", "count"),
    [
        ("like", "Bo liked Title of post1", "Bo liked “Title of post1”", "1 like"),
        ("follow", "Bo started following you", "Bo started following you", "1 new follower"),
    ],
)
def test_repeated_likes_and_follows_count_once(
    renderer: JinjaRenderer, category: str, line: str, subject: str, count: str
) -> None:
    events = [said_by(BO, f"words {number}", number, category=category) for number in range(5)]
    made = edition(renderer, events)
    assert (made.subject, [row.line for row in rows(made)]) == (subject, [line])
    assert not re.search(r"\b5\b|\d updates", everything(made))
    more = [*events, said_by(Actor("cy", "Cy"), "words", -1, entity_id="post2")]
    made = edition(renderer, more)
    assert made.subject == "Cy commented on “Title of post2” + 1 more"
    assert f"\n1 comment and {count}\n" in made.text
    shown = compose(more, max_blocks=1)
    assert (shown.events, shown.more_events) == (2, 1)


def test_repeated_recommendations_count_once(renderer: JinjaRenderer) -> None:
    """Their line contains no number."""
    events = [said_by(None, f"words {number}", category="recommendation") for number in range(5)]
    made = edition(renderer, [*events, said_by(BO, "words", category="comment", entity_id="p2")])
    assert "\n1 comment and 1 recommendation\n" in made.text


@pytest.mark.parametrize("category", ["like", "follow", "recommendation"])
def test_line_quotes_no_more_events_than_it_counts(renderer: JinjaRenderer, category: str) -> None:
    """The first block of a digest quotes up to three events."""
    events = [said_by(BO, f"words {number}", number, category=category) for number in range(5)]
    made = edition(renderer, [*events, said_by(BO, "words", 9, category="x", entity_id="p2")])
    quoting = [row for row in rows(made) if row.words != ["words"]]
    assert [row.words for row in quoting] == [["words 4"]]
    important = [replace(event, importance=Importance.HIGH) for event in events]
    other = said_by(Actor("cy", "Cy"), "words", -9, category="x", entity_id="p2")
    first, *_ = rows(edition(renderer, [*important, other]))
    assert (first.kind, first.words) == ("first", ["words 4"])


def test_row_of_followers_counts_named_and_unnamed_followers(renderer: JinjaRenderer) -> None:
    actors = [BO, Actor("cy", "Cy"), None, None, None]
    events = [
        said_by(actor, f"words {number}", category="follow", entity_id="ann")
        for number, actor in enumerate(actors)
    ]
    made = edition(renderer, [*events, said_by(BO, "words", category="mention")])
    page = lxml.html.document_fromstring(made.html)
    [name] = page.xpath("//h2[@class='row-name']")
    assert bare(name.text_content()) == "5 new followers"
    assert "\nand 5 new followers\n" in made.text
    assert made.text.count("\n5 new followers\n") == 1


@pytest.mark.parametrize(
    ("category", "count"),
    [
        ("comment", "5 comments"),
        ("reply", "5 replies"),
        ("message", "5 messages"),
        ("article", "5 articles"),
        ("mention", "5 mentions"),
        ("x", "5 updates"),
    ],
)
def test_repeated_comments_and_mentions_count_each_time(
    renderer: JinjaRenderer, category: str, count: str
) -> None:
    cy = Actor("cy", "Cy")
    for actors in ([BO] * 5, [BO, cy, BO, cy, BO]):
        events = [
            said_by(actor, f"words {number}", number, category=category)
            for number, actor in enumerate(actors)
        ]
        made = edition(renderer, events)
        assert f"\n{count}\n" in made.text
        [row] = rows(made)
        assert "5" in row.line


def test_unnamed_likes_count_once_for_each_actor_id_or_event(
    renderer: JinjaRenderer,
) -> None:
    events = [said_by(None, f"words {number}", category="like") for number in range(3)]
    assert [row.line for row in rows(edition(renderer, events))] == ["3 new likes: Title of post1"]
    nameless = [replace(each, actor=NAMELESS) for each in events]
    assert [row.line for row in rows(edition(renderer, nameless))] == [
        "Someone liked Title of post1"
    ]
    both = [said_by(None, "words", category="like"), *nameless]
    assert [row.line for row in rows(edition(renderer, both))] == ["2 new likes: Title of post1"]


@pytest.mark.parametrize(("schedule", "in_text"), [(DAILY, 0), (SCHEDULES[1], 1)])
def test_two_lines_of_a_category_share_a_link_in_the_footer(
    renderer: JinjaRenderer, schedule: str, in_text: int
) -> None:
    """One link turns off the category of both lines. The text part of a digest has no such link."""
    links = replace(LINKS, leave=lambda scope: f"https://x.example/{','.join(scope.names)}")
    events = [said_by(BO, "words 1"), said_by(None, "words 2")]
    made = renderer.render(compose(events, max_blocks=1), a_subscriber(), links, schedule)
    assert len(rows(made)) == 2
    page = lxml.html.document_fromstring(made.html)
    link = "https://x.example/comment"
    assert [href for href in page.xpath("//a/@href") if href == link] == [link]
    assert page.xpath("//td[@class='footer']//a/@href").count(link) == 1
    assert made.text.count(link) == in_text


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
        check_rows(made, digest, events, is_critical=is_critical(schedule))
        check_names(made, digest, events)
        check_counts(made, digest, events)


def unquoted(text: str) -> str:
    """Return `text` without quotation marks. Titles have them only in the text part."""
    return re.sub("[“”„״']", "", text)


def check_rows(
    made: Edition, digest: Digest, events: Sequence[Event], *, is_critical: bool
) -> None:
    names, found, lines = newest_names(events), rows(made), lines_of(events)
    quoting = [row for row in found if row.quotes]
    line_of = {event.excerpt: line for line in lines for event in line if event.excerpt}
    for row in quoting:
        check_quotes(row, line_of[row.words[0]], names)
    latest = {latest_first(line)[0].excerpt for line in lines} - {""}
    assert is_critical or latest <= {words for row in quoting for words in row.words}
    in_text = rows_of_text(made)
    assert [row.quotes for row in in_text] == [row.quotes for row in quoting]
    for row, other in zip(quoting, in_text, strict=True):
        is_recommended = line_of[row.words[0]][0].category == "recommendation"
        assert unquoted(row.line) == unquoted(other.line) or (is_recommended and not row.line)
    assert len(found) == len(lines)
    faced = [block.groups[0] for block in digest.blocks if block.is_for_reader]
    if not faced and digest.blocks[0].part is Part.ALSO:
        faced = list(digest.blocks[0].groups[:1])
    if any(row.kind == "alone" for row in found):
        faced = list(digest.groups)
    assert sum(bool(row.face) for row in found) == sum(bool(group.actors) for group in faced)


def check_quotes(row: Row, events: Sequence[Event], names: dict[str, str]) -> None:
    """Check a line with quotes. `events` are all events of the line."""
    newest = latest_first(events)
    quoted = newest[: min(3, counted(events)) if row.kind in {"first", "lead"} else 1]
    quoted = [event for event in quoted if event.excerpt][: 3 if row.kind == "first" else 1]
    assert row.words == [event.excerpt for event in quoted]
    actor, in_line = newest[0].actor, names_in(row.line)
    if actor is None or not actor.name:
        assert (row.face, row.signers, in_line) == ("", set(), set())
        return
    has_face = row.kind in {"alone", "first", "lead"}
    assert row.face == (face_of(actor, names[actor.id]) if has_face else "")
    for quote, event in zip(row.quotes, quoted, strict=True):
        assert event.actor
        name = names[event.actor.id]
        assert quote.signer in {"", name}
        if event.category == "recommendation":
            assert not in_line
        elif row.kind == "row":
            assert min(in_line, key=row.line.index) == name
        else:
            assert quote.signer == name or in_line == {name}
            assert names[actor.id] in in_line


def latest_first(events: Iterable[Event]) -> list[Event]:
    return sorted(events, key=lambda event: (event.occurred_at, event.id), reverse=True)


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
