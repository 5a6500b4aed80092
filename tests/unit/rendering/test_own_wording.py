"""A stage overrides single texts of a language, through the build and the renderer."""

import re
from dataclasses import replace
from pathlib import Path

import lxml.html
import pytest
from gazette.adapters.rendering.preference_page import PreferencePages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.sheets import Sheets
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Edition
from gazette.domain.subscribers.overview import Overview

from gazette_cdk.assets.templates.build import build_templates
from gazette_cdk.assets.templates.faults import TemplateError
from tests.builders import LINKS, NOW, a_subscriber, an_event

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "templates"
PAGE = (ROOT / "docs" / "templates.md").read_text()


def built(tmp_path: Path, **languages: str) -> Path:
    """Return the built templates of a stage with these catalogues, by language tag."""
    own = tmp_path / "own"
    for tag, text in languages.items():
        file = own / "locales" / tag.replace("_", "-") / "LC_MESSAGES" / "messages.po"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    build_templates(SOURCE, tmp_path / "built", overlay=own)
    return tmp_path / "built"


def email(templates: Path, locale: str, *categories: str) -> Edition:
    reader = replace(a_subscriber(), locale=locale)
    events = [an_event(each, category=each, entity_id=each) for each in categories or ["follow"]]
    return JinjaRenderer(templates).render(compose(events, max_blocks=9), reader, LINKS, DAILY)


def page(templates: Path, locale: str) -> str:
    overview = Overview(subscriber=replace(a_subscriber(), locale=locale), now=NOW, defaults=())
    return PreferencePages(Sheets(templates), templates).page(overview)


def example() -> str:
    """Return the catalogue that the documentation shows."""
    (text,) = re.findall(r"```po\n(.*?)```", PAGE, re.DOTALL)
    assert isinstance(text, str)
    return text


INFORMAL = re.compile(r"\b(du|dir|dich|dein(e[mnr]?)?)\b", re.IGNORECASE)


def test_documented_example_makes_german_formal_in_emails_and_pages(
    tmp_path: Path, built_templates: Path
) -> None:
    templates = built(tmp_path, de=example())
    made = email(templates, "de-AT")
    assert "Bo folgt Ihnen jetzt" in made.subject
    assert "Bo folgt Ihnen jetzt" in made.text
    assert "Inhalt oder Zeit ändern" in made.html, "the other texts are Gazette's"
    parts = email(templates, "de", "message", "follow", "like")
    assert ">Für Sie<" in parts.html
    pages = [lxml.html.document_fromstring(each.html) for each in (made, parts)]
    for text in (made.text, parts.text, *[each.body.text_content() for each in pages]):
        assert "Sie bekommen das um 08:00" in text
        assert not INFORMAL.search(text)
    assert INFORMAL.search(email(built_templates, "de").text)
    assert "Senden Sie mir Neuigkeiten" in page(templates, "de")
    assert "Speichern" in page(templates, "de")
    assert "Bo started following you" in email(templates, "en").subject


def test_catalogue_of_a_country_overrides_texts_of_its_language(tmp_path: Path) -> None:
    text = 'msgid "Save"\nmsgstr "Sichern"\n'
    templates = built(tmp_path, de_CH=text, de='msgid "Pause"\nmsgstr "Auszeit"\n')
    swiss, german = page(templates, "de-CH"), page(templates, "de")
    assert "Sichern" in swiss
    assert "Speichern" in german
    for each in (swiss, german):
        assert "Auszeit" in each


HEBREW = """\
msgid "You follow 1 item."
msgid_plural "You follow %(number)s items."
msgstr[0] "פריט יחיד."
msgstr[1] "שני פריטים."
msgstr[2] "%(number)s פריטים."
"""


def test_catalogue_without_header_has_the_plural_forms_of_the_language(tmp_path: Path) -> None:
    templates = built(tmp_path, he=HEBREW)
    translations = Sheets(templates).languages.of("he").sentences()
    assert {"פריט יחיד.", "שני פריטים.", "%(number)s פריטים."} <= set(translations)


def test_other_number_of_plural_forms_is_refused(tmp_path: Path) -> None:
    header = 'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
    entry = 'msgid "Pause"\nmsgstr "הפסקה"\n'
    with pytest.raises(TemplateError, match=r"2 plural forms, but Gazette's catalogue has 3"):
        built(tmp_path, he=header + entry)


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        (
            'msgid "Unsubscribe from al"\nmsgstr "Alles beenden"\n',
            (
                r"own/locales/de/LC_MESSAGES/messages\.po:1: no template contains the text "
                r"'Unsubscribe from al', so its translation has no effect\. Did you mean "
                r"'Unsubscribe from all'\?"
            ),
        ),
        (
            'msgid "Quite another text"\nmsgstr "Ganz anders"\n',
            r"'Quite another text', so its translation has no effect\. Remove the entry",
        ),
        (
            'msgid "You follow 1 item."\nmsgstr "Sie folgen 1 Sache."\n',
            (
                r"the plural of 'You follow 1 item\.' differs from the templates\. Write "
                r"msgid_plural 'You follow %\(number\)s items\.'"
            ),
        ),
        (
            'msgid "Pause"\nmsgid_plural "Pauses"\nmsgstr[0] "Auszeit"\nmsgstr[1] "Auszeiten"\n',
            r"the plural of 'Pause' differs from the templates\. Write no msgid_plural",
        ),
    ],
    ids=["misspelt", "unknown", "without its plural", "with a plural"],
)
def test_translation_of_an_unknown_text_names_the_text(
    tmp_path: Path, entry: str, error: str
) -> None:
    with pytest.raises(TemplateError, match=error):
        built(tmp_path, de=entry)


def test_texts_of_custom_templates_are_known(tmp_path: Path) -> None:
    part = tmp_path / "own" / "parts" / "more.txt"
    part.parent.mkdir(parents=True)
    part.write_text("{% trans %}Good morning{% endtrans %}")
    templates = built(tmp_path, de='msgid "Good morning"\nmsgstr "Guten Morgen"\n')
    assert "Guten Morgen" in set(Sheets(templates).languages.of("de").sentences())
