"""A `categories.json` gives categories without templates their names and sentences by language."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from gazette.adapters.rendering.language import Languages
from gazette.adapters.rendering.preference_page import PreferencePages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.sheets import Sheets
from gazette.adapters.templates.bundle import pack, unpack
from gazette.adapters.templates.sandbox import SandboxedTemplates
from gazette.domain.delivery.arrangement import Arrangement, Sections
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Actor, Event
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.overview import Overview

from gazette_cdk.assets.templates.build import build_templates
from gazette_cdk.assets.templates.faults import TemplateError
from gazette_cdk.assets.templates.trial import try_out
from tests.builders import LINKS, NOW, a_subscriber, an_event

SOURCE = Path(__file__).parents[3] / "templates"
IMMEDIATE = immediate_schedule("post#post1")
TEXTS = {
    "build_failed": {
        "en": {
            "name": "Failed builds",
            "one": "Build failed",
            "several": "{count} builds failed",
            "one_with_people": "{people} broke the build",
            "several_with_people": "{people} broke {count} builds",
        },
        "de": {"name": "Fehlgeschlagene Builds", "one": "Build fehlgeschlagen"},
        "he": {"one": "הבנייה נכשלה", "one_with_people": "הבנייה נכשלה בגלל {people}"},
    },
    "quality": {"en": {"name": "Q&A <b> “😀”"}},
    "deploy": {"en": {"one": 'It\'s "live" \\ 100 %', "one_with_people": "{people} is live"}},
    "releases": {"de": {"name": "Veröffentlichungen"}},
}

Build = Callable[[Mapping[str, str]], Path]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Templates that were built with these texts and a fourth language."""
    own, target = tmp_path_factory.mktemp("own"), tmp_path_factory.mktemp("built")
    portuguese = own / "locales" / "pt-BR" / "LC_MESSAGES"
    portuguese.mkdir(parents=True)
    (portuguese / "messages.po").write_text('msgid ""\nmsgstr ""\n')
    texts = {**TEXTS, "sale": {"pt-BR": {"one": "Venda"}, "en": {"name": "Sales"}}}
    (own / "categories.json").write_text(json.dumps(texts), encoding="utf-8")
    build_templates(SOURCE, target, overlay=own, inlined=False)
    return target


def bare(text: str) -> str:
    return " ".join(text.translate(dict.fromkeys([0x2060, *range(0x2066, 0x206A)])).split())


def said(category: str, count: int, names: str) -> list[Event]:
    """Return events by the people with these initials, in turn."""
    return [
        replace(
            an_event(f"e{place}", category=category, excerpt=""),
            actor=Actor(names[place % len(names)], names[place % len(names)]) if names else None,
        )
        for place in range(count)
    ]


@pytest.mark.parametrize("kind", [None, SandboxedTemplates])
@pytest.mark.parametrize(
    ("locale", "category", "count", "names", "line"),
    [
        ("en", "build_failed", 1, "", "Build failed"),
        ("en", "build_failed", 1200, "", "1,200 builds failed"),
        ("en", "build_failed", 1, "B", "B broke the build"),
        ("en", "build_failed", 2, "BA", "A and B broke 2 builds"),
        ("de", "build_failed", 1, "", "Build fehlgeschlagen"),
        ("de-AT", "build_failed", 2, "", "Build fehlgeschlagen · 2-mal"),
        ("de", "build_failed", 3, "B", "Build fehlgeschlagen von B · 3-mal"),
        ("de", "build_failed", 3, "BAC", "Build fehlgeschlagen von C, A und B"),
        ("he", "build_failed", 1, "", "הבנייה נכשלה"),
        ("he", "build_failed", 2, "B", "הבנייה נכשלה בגלל B · פעמיים"),
        ("fr", "build_failed", 1, "", "Build failed"),
        ("en", "deploy", 1, "", 'It\'s "live" \\ 100 %'),
        ("de", "deploy", 2, "B", "B is live · 2-mal"),
        ("pt-BR", "sale", 1, "", "Venda"),
        ("en", "sale", 1, "", "Sale"),
        ("de", "quality", 2, "B", "Quality von B · 2-mal"),
    ],
)
def test_line_uses_the_sentence_of_the_language(
    built: Path, locale: str, category: str, count: int, names: str, line: str, kind: Any
) -> None:
    reader = replace(a_subscriber(), locale=locale)
    renderer = JinjaRenderer(built, kind=kind)
    digest = compose(said(category, count, names), max_blocks=1)
    made = renderer.render(digest, reader, LINKS, DAILY)
    assert line in [bare(each).partition(": ")[0] for each in made.text.splitlines()]
    assert bare(made.subject).startswith(f"{line}: ")
    [block] = renderer.said(digest, reader)
    assert [bare(each) for each in block] == [line]


@pytest.mark.parametrize(
    ("locale", "category", "said_first"),
    [
        ("en", "build_failed", "Build failed"),
        ("de", "build_failed", "Build fehlgeschlagen"),
        ("he", "build_failed", "הבנייה נכשלה"),
        ("fr", "build_failed", "Build failed"),
        ("de", "releases", "Veröffentlichungen"),
        ("he", "deploy", 'It\'s "live" \\ 100 %'),
        ("en", "quality", "Q&A <b> “😀”"),
        ("en", "sale", "Sales"),
        ("en", "order_shipped", "Order shipped"),
    ],
)
def test_subject_of_immediate_email_uses_the_sentence_or_the_name(
    built: Path, locale: str, category: str, said_first: str
) -> None:
    """The subject is the same for all people and numbers of events."""
    reader = replace(a_subscriber(), locale=locale)
    renderer = JinjaRenderer(built)
    subjects = {
        bare(
            renderer.render(
                compose(said(category, *which), max_blocks=1), reader, LINKS, IMMEDIATE
            ).subject
        )
        for which in ((1, ""), (1, "B"), (5, ""), (5, "BAC"))
    }
    [subject] = subjects
    assert subject.startswith(f"{said_first}: ")
    assert "Title of post1" in subject


@pytest.mark.parametrize(
    ("locale", "category", "name"),
    [
        ("en", "build_failed", "Failed builds"),
        ("de", "build_failed", "Fehlgeschlagene Builds"),
        ("he", "build_failed", "Failed builds"),
        ("en", "quality", "Q&A <b> “😀”"),
        ("de", "releases", "Veröffentlichungen"),
        ("en", "releases", "Releases"),
        ("en", "deploy", "Deploy"),
        ("pt-BR", "sale", "Sales"),
    ],
)
def test_name_is_the_same_in_emails_and_pages(
    built: Path, locale: str, category: str, name: str
) -> None:
    sheets, language = Sheets(built), Languages(built).of(locale)
    assert sheets.name_of(category, sheets.languages.of(locale)) == name
    reader = replace(a_subscriber(), locale=locale)
    overview = Overview(subscriber=reader, follows=(), next_due_at=None, now=NOW, defaults=())
    page = lxml.html.document_fromstring(PreferencePages(sheets, built).page(overview))
    assert name in [label.text_content() for label in page.xpath("//label")]
    sections = Arrangement(sections=Sections.CATEGORY)
    digest = compose(said(category, 1, "B"), max_blocks=1, arrangement=sections)
    personal = replace(LINKS, leave=lambda scope: f"https://example.com/leave/{scope.kind}")
    made = JinjaRenderer(built).render(digest, reader, personal, DAILY)
    email = lxml.html.document_fromstring(made.html)
    assert name in [each.text_content().strip() for each in email.xpath("//h2")]
    links = [each.text_content() for each in email.xpath("//a")]
    assert any(language.inside(name) in each for each in links), links


def test_sentence_of_another_direction_is_isolated(built: Path) -> None:
    reader = replace(a_subscriber(), locale="he")
    digest = compose(said("deploy", 1, "B"), max_blocks=1)
    text = JinjaRenderer(built).render(digest, reader, LINKS, DAILY).text
    assert "\n\u2066\u2068B\u2069 is live\u2069: " in text


def test_built_texts_are_templates_that_every_release_can_render(built: Path) -> None:
    """A bundle has no further file, and a trial renders each email in each language."""
    names = [name for name in unpack(pack(built)) if "categor" in name and "build" in name]
    files = ["line.txt", "name.txt", "subject.txt"]
    assert names == [f"categories/build_failed/{each}" for each in files]
    try_out(built)
    try_out(built, kind=SandboxedTemplates)


def test_category_may_also_have_a_schema_and_a_button(tmp_path: Path) -> None:
    own, target = tmp_path / "own", tmp_path / "built"
    folder = own / "categories" / "build_failed"
    folder.mkdir(parents=True)
    (folder / "button.txt").write_text("See the log")
    (folder / "data.schema.json").write_text("{}")
    (own / "categories.json").write_text(json.dumps({"build_failed": {"en": {"one": "Broken"}}}))
    build_templates(SOURCE, target, overlay=own, inlined=False)
    digest = compose(said("build_failed", 1, ""), max_blocks=1)
    made = JinjaRenderer(target).render(digest, a_subscriber(), LINKS, IMMEDIATE)
    assert "See the log" in made.html
    assert made.text.startswith("Broken: “Title of post1”\n")


def of(**texts: Any) -> str:
    return json.dumps({"build_failed": {"en": texts}})


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("{", "categories.json:1: not JSON: "),
        ('{"a": {"en": {"name": "A"}}, "a": {}}', ": ambiguous"),
        ("[]", "must be an object, such as {"),
        ('{"Build": {}}', "'Build' is not a category. Its name must be 1 to 32"),
        (
            '{"comment": {"en": {"name": "Remarks"}}}',
            "comment also has the template categories/com",
        ),
        ('{"other": {"en": {"name": "Rest"}}}', "other also has the template categories/other/"),
        ('{"build_failed": {}}', "build_failed must be an object of languages: {"),
        ('{"build_failed": "x"}', "build_failed must be an object of languages: {"),
        (
            '{"build_failed": {"fr": {"name": "x"}}}',
            (
                "build_failed.fr: emails have no language 'fr'. Use one of de, en, he, or add the "
                "language with locales/fr/LC_MESSAGES/messages.po."
            ),
        ),
        ('{"build_failed": {"EN": {"name": "x"}}}', "build_failed.EN: emails have no language"),
        (
            '{"build_failed": {"en": {}}}',
            "build_failed.en must be an object with name, one or both.",
        ),
        ('{"build_failed": {"en": "x"}}', "build_failed.en must be an object with name, one or b"),
        (
            of(label="x"),
            "build_failed.en.label: there is no such text. Use one of name, one, sever",
        ),
        (of(name=1), "build_failed.en.name must be a text of one line without control characters."),
        (of(name="  "), "build_failed.en.name must be a text of one line"),
        (of(one="a\nb"), "build_failed.en.one must be a text of one line"),
        (of(one="a\u202eb"), "build_failed.en.one must be a text of one line"),
        (of(name="x" * 101), "build_failed.en.name has 101 characters. Shorten it to 100 char"),
        (
            of(name="{count} builds"),
            "build_failed.en.name contains {count}. It may contain no place",
        ),
        (
            of(one="{people} built"),
            "build_failed.en.one contains {people}. It may contain no place",
        ),
        (of(one="{{ brand }}"), "build_failed.en.one contains {. It may contain no placeholder."),
        (
            of(one="x", several="{people} x"),
            "build_failed.en.several contains {people}. It may con",
        ),
        (of(one="x", several="xs"), "build_failed.en.several must contain {count}."),
        (of(one="x", one_with_people="x"), "build_failed.en.one_with_people must contain {people}"),
        (of(one_with_people="{people} x"), "build_failed.en.one is missing. Add it, because"),
    ],
)
def test_mistake_is_named_with_its_key_and_a_remedy(
    tmp_path: Path, content: str, error: str
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "categories.json").write_text(content)
    with pytest.raises(TemplateError) as raised:
        build_templates(SOURCE, tmp_path / "built", overlay=own, inlined=False)
    assert str(raised.value).startswith(f"{own / 'categories.json'}")
    assert error in str(raised.value)


def test_template_and_texts_of_one_category_are_refused(tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "categories" / "build_failed").mkdir(parents=True)
    (own / "categories" / "build_failed" / "line.txt").write_text("x")
    (own / "categories.json").write_text(of(name="Failed builds"))
    with pytest.raises(TemplateError, match=r"Remove build_failed from categories\.json, and"):
        build_templates(SOURCE, tmp_path / "built", overlay=own, inlined=False)
