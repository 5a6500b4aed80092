"""Templates are built with an adopter's files in their places, and what is wrong is named."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.arrangement import DEFAULT, Ranking
from gazette.domain.delivery.compose import compose
from gazette.domain.links import ScopeKind
from gazette.domain.model import DAILY, Edition
from gazette.domain.scheduling.kinds import immediate_schedule

from gazette_cdk.assets.templates.build import build_templates
from gazette_cdk.assets.templates.faults import TemplateError
from tests.builders import LINKS, a_subscriber, an_event

LINK = '<link rel="stylesheet" href="email.css"></head><body></body></html>'
SOURCE = Path(__file__).parents[3] / "templates"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the templates to break."""
    return Path(shutil.copytree(SOURCE, tmp_path / "templates"))


def test_syntax_error_names_file_and_line(copied: Path, tmp_path: Path) -> None:
    template = copied / "digest" / "body.txt"
    lines = template.read_text().splitlines()
    lines[2] = "{% if %}"
    template.write_text("\n".join(lines))
    with pytest.raises(TemplateError, match=rf"^{re.escape(str(template))}:3: "):
        build_templates(copied, tmp_path / "built")


def test_invalid_brand_file_is_named_in_the_error(copied: Path, tmp_path: Path) -> None:
    (copied / "brand.json").write_text("{'name': 1}")
    with pytest.raises(TemplateError, match=r"brand\.json:1: not JSON"):
        build_templates(copied, tmp_path / "built")


def test_email_that_cannot_be_inlined_is_named_in_the_error(copied: Path, tmp_path: Path) -> None:
    style_sheet = copied / "email.css"
    style_sheet.write_text(style_sheet.read_text().replace(".quiet {", ".quiet:first-child {"))
    with pytest.raises(
        TemplateError, match=r"email\.css:\d+: the selector \'\.quiet:first-child\' counts siblings"
    ):
        build_templates(copied, tmp_path / "built")


def test_build_leaves_the_source_unchanged(copied: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}
    build_templates(copied, tmp_path / "built")
    assert {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()} == before


def test_build_produces_a_complete_package(copied: Path, tmp_path: Path) -> None:
    target = tmp_path / "built"
    build_templates(copied, target)
    build_templates(copied, target)
    names = {
        path.relative_to(copied).with_suffix(".mo" if path.suffix == ".po" else path.suffix)
        for path in copied.rglob("*.*")
    }
    assert {path.relative_to(target) for path in target.rglob("*.*")} == {
        *names,
        Path("__init__.py"),
    }
    assert json.loads((target / "brand.json").read_text())["name"] == "Gazette"
    web = Path("preferences") / "page.html"
    assert (target / web).read_text() == (SOURCE / web).read_text()


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder of an adopter's own files."""
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, errors="surrogateescape")


def edition(own: Path, folder: Path, *, locale: str = "en", category: str = "comment") -> Edition:
    build_templates(SOURCE, folder, overlay=own)
    digest = compose([an_event(category=category)], max_blocks=1)
    reader = replace(a_subscriber(), locale=locale)
    return JinjaRenderer(folder).render(digest, reader, LINKS, DAILY)


def test_custom_brand_overrides_the_built_in_brand(own: Path, tmp_path: Path) -> None:
    given = {
        "name": "Shop & Co",
        "postal_address": "1 High Street",
        "accent": "#b91c1c",
        "logo": "https://shop.example/logo.png",
        "home": "https://shop.example/",
        "help": "https://shop.example/help",
    }
    write(own / "brand.json", json.dumps(given))
    made = edition(own, tmp_path / "built")
    assert "Shop &amp; Co, 1 High Street" in made.html
    assert "Shop & Co, 1 High Street" in made.text
    assert "color:#b91c1c" in made.html
    assert '<a class="home" href="https://shop.example/"' in made.html
    assert 'href="https://shop.example/help"' in made.html
    assert "\nHelp: https://shop.example/help\n" in made.text
    assert re.search(
        r'<img [^>]*src="https://shop.example/logo.png"[^>]* alt="Shop &amp;', made.html
    )


def test_email_uses_the_dark_mode_logo_if_provided(own: Path, tmp_path: Path) -> None:
    given = {"name": "Shop", "postal_address": "1 Street", "logo": "https://shop.example/a.png"}
    write(own / "brand.json", json.dumps(given))
    made = edition(own, tmp_path / "one").html
    assert made.count("<img") == 1
    assert 'class="logo"' in made
    write(own / "brand.json", json.dumps({**given, "logo_dark": "https://shop.example/b.png"}))
    made = edition(own, tmp_path / "two").html
    light, dark = re.findall(r"<img [^>]*>", made)
    assert 'class="logo logo-light"' in light
    assert 'src="https://shop.example/b.png"' in dark
    assert "display:none" in dark
    assert f"<!--[if !mso]><!-->\n{dark}\n<!--<![endif]-->" in made


def test_custom_category_has_a_sentence_in_each_language(own: Path, tmp_path: Path) -> None:
    write(
        own / "categories" / "build_failed" / "line.txt",
        "{% trans count=group.count, people=people %}{{ people }} broke the build"
        "{% pluralize %}{{ people }} broke the build {{ count }} times{% endtrans %}",
    )
    write(
        own / "locales" / "de" / "LC_MESSAGES" / "messages.po",
        'msgid "%(people)s broke the build"\n'
        'msgid_plural "%(people)s broke the build %(count)s times"\n'
        'msgstr[0] "%(people)s hat den Build zerlegt"\n'
        'msgstr[1] "%(people)s hat den Build %(count)s-mal zerlegt"\n\n'
        'msgid "Pause"\nmsgstr "Auszeit"\n',
    )
    assert edition(own, tmp_path / "en", category="build_failed").subject == (
        "Bo broke the build: “Title of post1”"
    )
    german = edition(own, tmp_path / "de", category="build_failed", locale="de")
    assert german.subject == "Bo hat den Build zerlegt: „Title of post1“"
    assert ">Auszeit</a>" in german.html
    assert ">Abbestellen</a>" in german.html


def test_translated_sentence_may_name_the_brand(own: Path, tmp_path: Path) -> None:
    file = own / "categories" / "comment" / "headline.txt"
    write(file, "{{ people }} said it on {{ brand.name }}")
    assert "\nBo said it on Gazette\n" in edition(own, tmp_path / "built").text


def test_custom_people_template_of_earlier_versions_still_works(own: Path, tmp_path: Path) -> None:
    """As ours was written before `language.named`."""
    write(
        own / "parts" / "people.txt",
        "{% set names = [] %}{% for name in group.people %}"
        '{% set _ignored = names.append(language.isolated(name or _("Someone"))) %}{% endfor %}'
        "{{ language.listed(names) }}",
    )
    assert edition(own, tmp_path / "built").subject == "Bo commented on “Title of post1”"


def test_adopter_can_add_a_language(own: Path, tmp_path: Path) -> None:
    write(
        own / "locales" / "fr" / "LC_MESSAGES" / "messages.po",
        'msgid "Unsubscribe"\nmsgstr "Se désabonner"\n\n'
        'msgid "Change what or when, or unsubscribe"\nmsgstr "Changer ou se désabonner"\n',
    )
    made = edition(own, tmp_path / "built", locale="fr-CA")
    assert '<html lang="fr" dir="ltr">' in made.html
    assert ">Se désabonner</a>" in made.html
    assert "Changer ou se désabonner: " in made.text
    assert "22 novembre" in made.text


@pytest.mark.parametrize(
    "said", ['msgstr ""\n', '#, fuzzy\nmsgid "Pause"\nmsgstr "Auszeit"\n'], ids=["nothing", "fuzzy"]
)
def test_untranslated_messages_keep_the_original_text(own: Path, tmp_path: Path, said: str) -> None:
    entry = said if said.startswith("#") else f'msgid "Pause"\n{said}'
    write(own / "locales" / "he" / "LC_MESSAGES" / "messages.po", entry)
    assert ">השהיה</a>" in edition(own, tmp_path / "built", locale="he").html


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("pt_BR/LC_MESSAGES/messages.po", r"own/locales/pt_BR: name it by its language tag"),
        ("De/LC_MESSAGES/messages.po", r"own/locales/De: name it by its language tag"),
        ("tlh/LC_MESSAGES/messages.po", r"own/locales/tlh: CLDR does not know this language"),
        ("fr/messages.po", r"own/locales/fr/LC_MESSAGES/messages\.po: missing"),
        ("fr/LC_MESSAGES/message.po", r"own/locales/fr/LC_MESSAGES/messages\.po: missing"),
    ],
)
def test_unreachable_language_is_named_in_the_error(
    own: Path, tmp_path: Path, file: str, said: str
) -> None:
    write(own / "locales" / file, 'msgid "Pause"\nmsgstr "Pause"\n')
    with pytest.raises(TemplateError, match=said):
        build_templates(SOURCE, tmp_path / "built", overlay=own)


def test_custom_part_is_inlined_with_the_style_sheet(own: Path, tmp_path: Path) -> None:
    write(own / "parts" / "more.html", '<p class="more">{{ digest.events }}</p>')
    made = edition(own, tmp_path / "built")
    assert re.search(r'<p class="more" style="padding:16px 32px[^"]*">1</p>', made.html)


def test_variation_overrides_some_files_and_shares_the_rest(own: Path, tmp_path: Path) -> None:
    write(own / "variations" / "2" / "digest" / "subject.txt", "News for {{ reader }}")
    write(
        own / "variations" / "2" / "digest" / "block.html",
        '<p class="line">{{ line }}</p>',
    )
    build_templates(SOURCE, tmp_path / "built", overlay=own)
    renderer = JinjaRenderer(tmp_path / "built")
    digest = compose([an_event("a"), an_event("b")], max_blocks=1)
    first, second, third = (
        renderer.render(digest, a_subscriber(), LINKS, DAILY, variation=number)
        for number in (1, 2, 3)
    )
    assert (first.subject, second.subject) == (
        "2 new comments on “Title of post1”",
        "News for Ann",
    )
    assert '<p class="line" style="margin:5px' in second.html
    assert "Title of post1</span></a>" in first.html
    assert "Title of post1</span></a>" not in second.html
    assert first == third


@pytest.mark.parametrize("ranking", Ranking)
def test_variation_can_set_the_ranking(own: Path, tmp_path: Path, ranking: Ranking) -> None:
    write(own / "variations" / "2" / "variation.json", json.dumps({"ranking": ranking}))
    build_templates(SOURCE, tmp_path / "built", overlay=own)
    renderer = JinjaRenderer(tmp_path / "built")
    of_stage = replace(DEFAULT, weights={"like": 2})
    assert renderer.arrangement(2, of_stage) == replace(of_stage, ranking=ranking)
    assert renderer.arrangement(1, of_stage) is of_stage


@pytest.mark.parametrize("given", ["newest", None, ["latest"], {}, 1])
def test_unknown_ranking_is_named_in_the_error(own: Path, tmp_path: Path, given: object) -> None:
    write(own / "variations" / "2" / "variation.json", json.dumps({"ranking": given}))
    with pytest.raises(TemplateError, match=r"2/variation\.json: the file must contain a ranking"):
        build_templates(SOURCE, tmp_path / "built", overlay=own)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("digest/subject.txt", "{{ line", r"own/digest/subject\.txt:1: "),
        ("parts/more.html", "<p {{ x }}>y</p>", r"own/parts/more\.html:1: .* among the attributes"),
        (
            "parts/layout.html",
            "<!DOCTYPE html><html><head><title>{% if 1 %}x{% endif %}</title>" + LINK,
            "only text is allowed",
        ),
        (
            "digest/body.txt",
            "\n{{ brand.name | nosuch }}",
            r"own/digest/body\.txt:2: No filter",
        ),
        (
            "digest/body.txt",
            "{{ 1 is nosuch }}",
            r"own/digest/body\.txt:1: No t",
        ),
        ("digest/body.html", "Gr\udcfc\udcdfe", r"own/digest/body\.html:1: not UTF-8"),
        ("email.css", "/* \udcfc */", r"own/email\.css:1: not UTF-8"),
        ("brand.json", "[]", r"own/brand\.json:1: the file must be an object"),
        (
            "variations/12/digest/subject.txt",
            "x",
            r"own/variations/12: the name of a variation must be 1 to 9",
        ),
        (
            "locales/de/LC_MESSAGES/messages.po",
            'msgid "Hi %(reader)s,"\nmsgstr "Hallo %(leser)s,"\n#, python-format\n',
            r"own/locales/de/LC_MESSAGES/messages\.po",
        ),
        ("locales/de/LC_MESSAGES/messages.po", "msgid", r"messages\.po"),
    ],
)
def test_mistake_in_custom_templates_is_named(
    own: Path, tmp_path: Path, name: str, text: str, said: str
) -> None:
    write(own / name, text)
    with pytest.raises(TemplateError, match=said):
        build_templates(SOURCE, tmp_path / "built", overlay=own)


def test_missing_folder_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="does not exist"):
        build_templates(SOURCE, tmp_path / "built", overlay=tmp_path / "nowhere")


def test_notes_and_custom_parts_may_have_any_name(own: Path, tmp_path: Path) -> None:
    write(own / "README.md", "Ours")
    write(own / "parts" / "banner.html", "<p>News</p>")
    write(own / "variations" / "2" / "parts" / "banner.html", "<p>Other news</p>")
    write(own / "variations" / "2" / "variation.json", '{"ranking": "latest"}')
    build_templates(SOURCE, tmp_path / "built", overlay=own)
    assert "<p>News</p>" in (tmp_path / "built" / "parts" / "banner.html").read_text()


def test_files_left_by_tools_are_ignored_and_not_shipped(own: Path, tmp_path: Path) -> None:
    write(own / ".env", "SECRET=1")
    write(own / ".git" / "config", "x")
    write(own / "variations" / ".DS_Store", "x")
    write(own / "variations" / "2" / ".DS_Store", "x")
    build_templates(SOURCE, tmp_path / "built", overlay=own)
    assert not list((tmp_path / "built").rglob(".*"))


LEAVE_OF_AN_EARLIER_VERSION = """\
{% for category in categories %}
{% call(link) own("mute", category) %}
  {%+ trans kind=category %}Turn off {{ kind }}{% endtrans %}: {{ link }}
{% endcall %}
{% endfor %}
{% call(link) own("mutethis") %}
  {%+ trans %}Mute this{% endtrans %}: {{ link }}
{% endcall %}
"""


@pytest.mark.parametrize(
    "files",
    [
        {},
        {
            "immediate/body.txt": "{{ shown }}{{ links.unsubscribe }}",
            "parts/leave.txt": LEAVE_OF_AN_EARLIER_VERSION,
        },
    ],
    ids=["in Gazette's footer", "in an own row of links"],
)
def test_own_block_of_an_earlier_version_keeps_its_links(
    own: Path, tmp_path: Path, files: dict[str, str]
) -> None:
    """Earlier versions had these links in `leave`. Now the footer has them."""
    write(own / "immediate" / "subject.txt", "New: {{ thing }}")
    write(own / "immediate" / "block.txt", "{{ line }}\n{{ block.url }}\n{{ leave }}")
    for name, text in files.items():
        write(own / name, text)
    links = replace(LINKS, leave=lambda scope: f"https://links.example.com/{scope.kind}")
    build_templates(SOURCE, tmp_path / "built", overlay=own, inlined=False)
    digest = compose([an_event(category="comment")], max_blocks=1)
    made = JinjaRenderer(tmp_path / "built").render(
        digest, a_subscriber(), links, immediate_schedule("post#post1")
    )
    assert made.subject == "New: “Title of post1”"
    for kind in (ScopeKind.CATEGORY, ScopeKind.THING):
        assert made.text.count(f": https://links.example.com/{kind}\n") == 1
