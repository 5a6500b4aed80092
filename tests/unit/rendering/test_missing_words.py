"""Categories without words in a language that other categories have."""

import json
from pathlib import Path

import pytest

from gazette_cdk.assets.templates.build import build_and_try
from gazette_cdk.assets.templates.missing_words import missing_words
from tests.unit.rendering.test_templates import SOURCE, write


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    return folder


def texts(own: Path, **categories: list[str]) -> None:
    content = {
        category: {tag: {"name": f"{category} {tag}"} for tag in tags}
        for category, tags in categories.items()
    }
    write(own / "categories.json", json.dumps(content))


def test_category_without_words_in_a_language_of_others_is_named(own: Path) -> None:
    texts(own, deploy=["en", "de"], build_failed=["en"], outage=["de", "he"])
    file = own / "categories.json"
    expected = {
        ("build_failed", "German (de)"): ("deploy, outage", "build_failed.de"),
        ("build_failed", "Hebrew (he)"): ("outage", "build_failed.he"),
        ("deploy", "Hebrew (he)"): ("outage", "deploy.he"),
        ("outage", "English (en)"): ("build_failed, deploy", "outage.en"),
    }
    assert [*missing_words(SOURCE, own)] == [
        f"The category {category} has no words in {language}, unlike {others}. Add {key} to {file}."
        for (category, language), (others, key) in expected.items()
    ]


def test_categories_with_the_same_languages_cause_no_warning(own: Path) -> None:
    texts(own, deploy=["en"], build_failed=["en"])
    assert [*missing_words(SOURCE, own)] == []
    texts(own, deploy=["en", "de"], build_failed=["en", "de"])
    assert [*missing_words(SOURCE, own)] == []


def test_country_has_the_words_of_its_language(own: Path) -> None:
    texts(own, deploy=["en", "de-CH"], build_failed=["en", "de"])
    warnings = [*missing_words(SOURCE, own)]
    assert len(warnings) == 1
    assert warnings[0].startswith("The category deploy has no words in German (de), unlike build_")


def test_untranslated_folder_names_the_catalogue(own: Path) -> None:
    texts(own, deploy=["en", "de"])
    write(own / "categories/review/line.txt", "{% trans %}Reviewed{% endtrans %}")
    write(own / "categories/review/name.txt", "{% trans %}Reviews{% endtrans %}")
    catalogue = own / "locales/de/LC_MESSAGES/messages.po"
    expected = (
        "The category review has no words in German (de), unlike deploy. Add the texts of "
        f"categories/review to {catalogue}."
    )
    assert [*missing_words(SOURCE, own)] == [expected]
    write(catalogue, 'msgid "Reviews"\nmsgstr "Prüfungen"\n')
    assert [*missing_words(SOURCE, own)] == [expected]
    write(catalogue, catalogue.read_text() + '\nmsgid "Reviewed"\nmsgstr "Geprüft"\n')
    assert [*missing_words(SOURCE, own)] == []


def test_missing_words_do_not_prevent_the_build(own: Path, tmp_path: Path) -> None:
    texts(own, deploy=["en", "de"], build_failed=["en"])
    build_and_try(SOURCE, tmp_path / "built", overlay=own)


@pytest.mark.parametrize("content", ["{", "[]", '{"deploy": 1}', '{"deploy": {"xx_YY": {}}}'])
def test_faults_cause_no_warning(own: Path, content: str) -> None:
    """The build reports them."""
    write(own / "categories.json", content)
    assert [*missing_words(SOURCE, own)] == []
