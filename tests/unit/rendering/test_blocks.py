"""One thing is one block in an email: a title, a line for each category, the reader's own links."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from gazette.adapters.rendering.pages import JinjaPages
from gazette.adapters.rendering.renderer import LONGEST_HTML, JinjaRenderer
from gazette.adapters.rendering.sheets import Sheets
from gazette.domain.delivery.arrangement import Arrangement, Sections
from gazette.domain.delivery.compose import compose
from gazette.domain.links import Scope, entity_mark
from gazette.domain.model import DAILY, Actor, Edition, Entity, Event, Image
from gazette.domain.ports.rendering import CacheCount, Links
from gazette.domain.scheduling.kinds import immediate_schedule

from gazette_cdk.assets.templates.build import build_templates
from tests.builders import LINKS, a_subscriber, an_event, an_update_list

SOURCE = Path(__file__).parents[3] / "templates"

LEAVE_HTML = """{{ block.title }}
{% for each in block.lines %}
{% call(link) own("mute", each.shown.category) %}
<a class="quiet" href="{{ link }}">No more of {{ each.shown.category }}</a>
{% endcall %}
{% endfor %}
{% call(link) own("unfollow") %}
<a class="quiet" href="{{ link }}">Unfollow</a>
{% endcall %}
"""
LEAVE_TEXT = """{{ block.title }}
{% for each in block.lines %}
{% call(link) own("mute", each.shown.category) %}
  No more of {{ each.shown.category }}: {{ link }}
{% endcall %}
{% endfor %}
{% call(link) own("unfollow") %}
  Unfollow: {{ link }}
{% endcall %}
"""


@pytest.fixture
def renderer(built_templates: Path) -> JinjaRenderer:
    """One that has made nothing yet."""
    return JinjaRenderer(built_templates)


@pytest.fixture(scope="session")
def leaving_templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adopter's, whose blocks have links by which a reader leaves."""
    own = tmp_path_factory.mktemp("own")
    (own / "digest").mkdir()
    (own / "digest" / "block.html").write_text(LEAVE_HTML)
    (own / "digest" / "block.txt").write_text(LEAVE_TEXT)
    built = tmp_path_factory.mktemp("leaving") / "built"
    build_templates(SOURCE, built, overlay=own)
    return built


@pytest.fixture
def leaving(leaving_templates: Path) -> JinjaRenderer:
    """One that has made nothing yet."""
    return JinjaRenderer(leaving_templates)


def edition(
    renderer: JinjaRenderer,
    *events: Event,
    arrangement: Arrangement | None = None,
    links: Links = LINKS,
    schedule: str = DAILY,
    user_id: str = "ann",
) -> Edition:
    """The email of `events` for one reader."""
    digest = compose(events, max_blocks=20, arrangement=arrangement or Arrangement())
    return renderer.render(digest, a_subscriber(user_id), links, schedule)


def page(made: Edition) -> Any:
    """The root element of the HTML."""
    return lxml.html.document_fromstring(made.html)


def texts(found: list[Any]) -> list[str]:
    """What elements say."""
    return [" ".join(each.text_content().split()) for each in found]


ONE_POST = (
    *(an_event(f"l{number}", category="like", actor=f"Liker{number}") for number in range(41)),
    an_event("c", excerpt="Well said"),
    an_event("m", category="mention", actor="Cy", excerpt="@ann could you have a look?"),
)


def test_post_block_has_a_line_for_each_category(renderer: JinjaRenderer) -> None:
    made = edition(renderer, *ONE_POST)
    assert texts(page(made).xpath("//h2")) == ["Cy mentioned you: Title of post1"]
    lines = texts(page(made).xpath("//p[@class='row']"))
    assert lines == ["Bo commented: “Well said”", "Liker9, Liker8 and 39 others liked this"]
    assert "\nCy mentioned you: “Title of post1”\n" in made.text
    assert made.text.count("Title of post1") == made.html.count(">Title of post1</span></a>") == 1
    for line in lines:
        assert f"\n  {line}\n" in made.text
    assert made.categories == ("mention", "comment", "like")


def test_block_shows_title_link_and_time_of_latest_event(
    renderer: JinjaRenderer,
) -> None:
    """Two orders of the same lines, so that the one that is made first is no other's."""
    entity = an_event().entity
    mention = replace(an_event("m", category="mention"), entity=replace(entity, title="Old"))
    like = replace(an_event("l", category="like"), entity=replace(entity, title="New"))
    for latest, earlier in ((like, mention), (mention, like)):
        events = (latest, replace(earlier, occurred_at=latest.occurred_at - timedelta(hours=1)))
        made = edition(renderer, *events)
        assert texts(page(made).xpath("//h2/a")) == [latest.entity.title]
        assert texts(page(made).xpath("//p[@class='time']")) == ["Reply · 22 November, 08:03"]


def test_blocks_with_different_latest_lines_are_cached_separately(
    renderer: JinjaRenderer,
) -> None:
    """What is shown of each line is the same to the minute."""
    entity = an_event().entity
    mention = replace(an_event("m", category="mention"), entity=replace(entity, title="Old"))
    like = replace(an_event("l", category="like"), entity=replace(entity, title="New"))
    for latest, earlier in ((like, mention), (mention, like)):
        second = latest.occurred_at - timedelta(seconds=1)
        made = edition(renderer, latest, replace(earlier, occurred_at=second))
        assert texts(page(made).xpath("//h2/a")) == [latest.entity.title]


def test_own_row_of_links_gets_the_categories_that_a_block_shows(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Without an excerpt nothing else tells the lines of a compact block apart."""
    own = tmp_path_factory.mktemp("own")
    (own / "parts").mkdir()
    for kind in ("html", "txt"):
        (own / "parts" / f"leave.{kind}").write_text(" [{{ categories | join(',') }}]")
    built = tmp_path_factory.mktemp("built") / "built"
    build_templates(SOURCE, built, overlay=own)
    renderer = JinjaRenderer(built)
    events = (an_event("m", category="mention"), an_event("l", category="like"))
    for full, shown in ((1, "[mention,like]"), (0, "[mention]"), (1, "[mention,like]")):
        made = edition(renderer, *events, arrangement=Arrangement(full_blocks=full))
        assert shown in made.html
        assert shown in made.text


@pytest.mark.parametrize("schedule", [DAILY, immediate_schedule("post#post1")])
def test_single_update_is_shown_in_full_despite_compact_setting(
    renderer: JinjaRenderer, schedule: str
) -> None:
    compact = Arrangement(full_blocks=0)
    made = edition(renderer, an_event(excerpt="Well said"), arrangement=compact, schedule=schedule)
    assert texts(page(made).xpath("//blockquote")) == ["Well said"]


def test_subject_names_the_most_important_block(renderer: JinjaRenderer) -> None:
    assert edition(renderer, *ONE_POST).subject.startswith("Cy mentioned you in “")


def test_compact_block_has_title_lines_and_time_but_no_excerpt(
    renderer: JinjaRenderer,
) -> None:
    full = edition(renderer, *ONE_POST)
    compact = edition(renderer, *ONE_POST, arrangement=Arrangement(full_blocks=0))
    assert texts(page(full).xpath("//blockquote")) == ["@ann could you have a look?"]
    assert "Bo commented: “Well said”" in texts(page(full).xpath("//p[@class='row']"))
    assert not page(compact).xpath("//blockquote")
    assert "could you" not in compact.text
    assert texts(page(full).xpath("//h2")) == ["Cy mentioned you: Title of post1"]
    assert texts(page(compact).xpath("//h2")) == ["Title of post1"]
    assert texts(page(compact).xpath("//p[@class='row']")) == [
        "Cy mentioned you · 22 November, 08:03",
        "Bo commented",
        "Liker9, Liker8 and 39 others liked this",
    ]
    assert renderer.take_count() == CacheCount(hits=0, misses=2)


def test_immediate_email_is_a_single_block_headed_by_its_first_line(
    renderer: JinjaRenderer,
) -> None:
    made = edition(renderer, *ONE_POST, schedule=immediate_schedule("post#post1"))
    assert texts(page(made).xpath("//h1")) == ["Cy mentioned you in Title of post1"]
    assert len(page(made).xpath("//p[@class='line']")) == 2
    assert len(page(made).xpath("//a[@class='open']")) == 1


def test_footer_counts_lines_left_out_of_blocks(
    renderer: JinjaRenderer,
) -> None:
    events = [an_event(f"e{number}", category=f"kind_{number:02}") for number in range(20)]
    made = edition(renderer, *events)
    assert len(page(made).xpath("//h2 | //p[@class='row']")) == 8
    assert "\nAnd 12 more updates.\nSee all 20: " in made.text
    assert texts(page(made).xpath("//td[@class='more']")) == ["And 12 more updates. See all 20"]


def test_single_block_stays_within_the_html_limit(renderer: JinjaRenderer) -> None:
    """All that is shown is escaped to five bytes a character."""
    address = "https://e.com/" + "&" * 986
    long = Entity("post", "p", "'" * 200, address, Image(address, "'" * 200))
    events = [
        replace(
            an_event(f"{kind}.{number}", category=f"{'x' * 40}_{kind}"),
            entity=long,
            actor=Actor(f"{number}", "'" * 200, avatar=address),
            excerpt="'" * 500,
            via=("post#p",),
        )
        for kind in range(30)
        for number in range(3)
    ]
    links = replace(LINKS, leave=lambda scope: f"https://x.example/{scope.kind}{'x' * 300}")
    for schedule in (DAILY, immediate_schedule("post#p")):
        made = edition(renderer, *events, schedule=schedule, links=links)
        assert len(made.html.encode()) <= LONGEST_HTML
        lines = "//p[@class='line' or @class='row'] | //td[@class='what']/h1 | //h2"
        assert len(page(made).xpath(lines)) == 8


@pytest.mark.parametrize(
    ("sections", "shown"),
    [
        (Sections.NONE, ["a", "c", "b", "d"]),
        (Sections.CATEGORY, ["Comments", "a", "Sale item", "c", "Likes", "b", "d"]),
        (Sections.PARENT, ["c", "Gardens", "a", "d", "<Trees>", "b"]),
    ],
)
def test_section_headings_precede_their_blocks_in_html_and_text(
    renderer: JinjaRenderer, sections: Sections, shown: list[str]
) -> None:
    events = [
        replace(an_event("a", entity_id="a"), parent_title="Gardens"),
        replace(an_event("b", entity_id="b", category="like"), parent_title="<Trees>"),
        an_event("c", entity_id="c", category="sale_item"),
        replace(an_event("d", entity_id="d", category="like"), parent_title="Gardens"),
    ]
    made = edition(renderer, *events, arrangement=Arrangement(sections=sections))
    expected = [f"Title of {each}" if len(each) == 1 else each for each in shown]
    assert [each.rpartition(": ")[2] for each in texts(page(made).xpath("//h2"))] == expected
    rest = made.text
    for each in expected:
        _, found, rest = rest.partition(each if each.startswith("Title") else f"— {each} —")
        assert found, each


def test_immediate_email_has_no_sections(renderer: JinjaRenderer) -> None:
    arrangement = Arrangement(sections=Sections.CATEGORY)
    schedule = immediate_schedule("post#post1")
    made = edition(renderer, *ONE_POST, arrangement=arrangement, schedule=schedule)
    assert not page(made).xpath("//h2")


def leave_of(reader: str) -> Callable[[Scope], str]:
    """Links of one reader."""
    return lambda scope: f"https://x.example/{reader}?a={scope.kind}&b={','.join(scope.names)}"


def followed(event_id: str, *, entity_id: str = "post1", category: str = "comment") -> Event:
    """An event that came by a follow of its entity."""
    return an_event(event_id, entity_id=entity_id, category=category, via=(f"post#{entity_id}",))


def test_cached_block_has_links_of_each_reader(leaving: JinjaRenderer) -> None:
    events = (followed("a"), followed("b", category="like"), followed("c", entity_id="post2"))
    first, second = (entity_mark(f"post#post{number}") for number in (1, 2))
    for reader in ("ann", "bo"):
        links = replace(LINKS, leave=leave_of(reader))
        made = edition(leaving, *events, links=links, user_id=reader)
        expected = {
            f"https://x.example/{reader}?a=c&b=comment",
            f"https://x.example/{reader}?a=c&b=like",
            f"https://x.example/{reader}?a=e&b={first}",
            f"https://x.example/{reader}?a=e&b={second}",
        }
        in_blocks = page(made).xpath("//td[@class='cell']//a/@href")
        hrefs = [href for href in in_blocks if "x.example" in href]
        said = [line.rpartition(" ")[2] for line in made.text.splitlines() if "x.example" in line]
        assert set(hrefs) == set(said) == expected
        assert hrefs == said
    assert leaving.take_count() == CacheCount(hits=2, misses=2)


def test_missing_opt_out_links_are_not_shown(leaving: JinjaRenderer) -> None:
    two = (an_event("a"), an_event("b"))
    some = edition(leaving, *two, links=replace(LINKS, leave=leave_of("ann")))
    assert "No more of comment" in some.html
    assert "No more of comment" in some.text
    assert "Unfollow" not in some.html + some.text
    none = edition(leaving, *two)
    assert "No more" not in none.html + none.text
    for made in (some, none):
        assert not set(map(chr, range(1, 9))) & set(made.html + made.text)


def test_identical_blocks_have_links_of_their_own_entities(leaving: JinjaRenderer) -> None:
    same = Entity("post", "1", "A title", "https://example.com/")
    events = [
        replace(
            an_event(f"e{number}"), entity=replace(same, id=f"{number}"), via=(f"post#{number}",)
        )
        for number in range(2)
    ]
    events.append(replace(an_event("m", category="mention"), entity=replace(same, id="m")))
    made = edition(leaving, *events, links=replace(LINKS, leave=leave_of("ann")))
    assert leaving.take_count() == CacheCount(hits=1, misses=2)
    for number in range(2):
        assert f"https://x.example/ann?a=e&b={entity_mark(f'post#{number}')}\n" in made.text


def test_opt_out_links_in_blocks_are_not_tracked(leaving: JinjaRenderer) -> None:
    tracked = leaving.for_sending(tracks_clicks=True, measured=nullcontext)
    links = replace(LINKS, leave=leave_of("ann"))
    made = edition(tracked, followed("a"), followed("b"), links=links)
    own = [link for link in page(made).iter("a") if "x.example" in link.get("href")]
    assert len(own) == 3
    assert all("ses:no-track" in link.attrib for link in own)


def test_opt_out_links_count_toward_the_html_size_limit(leaving: JinjaRenderer) -> None:
    def long(scope: Scope) -> str:
        return f"https://x.example/{scope.kind}/{'x' * 9_000}"

    events = [followed(f"e{number}", entity_id=f"post{number}") for number in range(20)]
    made = edition(leaving, *events, links=replace(LINKS, leave=long))
    assert len(made.html.encode()) <= LONGEST_HTML
    assert made.html.count("Title of post") < 20
    assert "more updates" in made.text


def test_updates_page_has_a_block_for_each_entity(built_templates: Path) -> None:
    events = [*ONE_POST, an_event("o", entity_id="other")]
    shown = compose(events, max_blocks=len(events), max_lines=len(events))
    said = JinjaRenderer(built_templates).said(shown, a_subscriber())
    html = JinjaPages(Sheets(built_templates)).updates(an_update_list(shown, said), a_subscriber())
    items = lxml.html.document_fromstring(html).xpath("//ol/li")
    assert [(texts(item.xpath(".//h3")), len(item.xpath(".//p|.//time"))) for item in items] == [
        (["Title of post1"], 4),
        (["Title of other"], 2),
    ]
