"""`make messages`: what templates say, brought into the catalogues of a folder."""

import sys
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment

from gazette_cdk.assets.templates.catalogues import extract, read_catalogue
from gazette_cdk.assets.templates.messages import TEMPLATES, main


def messages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["messages", str(folder)])
    main()


def catalogue(folder: Path, tag: str, text: str = "") -> Path:
    file = folder / "locales" / tag / "LC_MESSAGES" / "messages.po"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def test_new_catalogue_contains_built_in_and_custom_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    french = catalogue(tmp_path, "fr")
    (tmp_path / "subject.txt").write_text("{% trans %}Good morning{% endtrans %}")
    messages(tmp_path, monkeypatch)
    said = {message.id for message in read_catalogue(french, "fr")}
    assert said == {*(message.id for message in extract(TEMPLATES)), "Good morning"}


def test_existing_catalogue_gets_missing_messages_and_keeps_translations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    german = catalogue(tmp_path, "de", 'msgid "Pause"\nmsgstr "Auszeit"\n')
    (tmp_path / "subject.txt").write_text("{% trans %}Good morning{% endtrans %}")
    messages(tmp_path, monkeypatch)
    said = {message.id: message.string for message in read_catalogue(german, "de")}
    assert said["Pause"] == "Auszeit"
    assert said["Good morning"] == ""
    assert "Unsubscribe" not in said


def test_translation_of_a_changed_sentence_is_kept_for_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    german = catalogue(tmp_path, "de", 'msgid "Unsubscribe from al"\nmsgstr "Alles beenden"\n')
    messages(tmp_path, monkeypatch)
    message = read_catalogue(german, "de")["Unsubscribe from all"]
    assert (message.string, message.fuzzy) == ("Alles beenden", True)


def test_no_text_is_also_the_singular_of_a_text_with_a_plural() -> None:
    """Python 3.11.2 finds no translation of a text whose entry has a plural, unlike later ones."""
    extraction: Any = Environment(extensions=["jinja2.ext.i18n"], autoescape=True)
    extraction.policies["ext.i18n.trimmed"] = True
    once, with_plural = set[str](), set[str]()
    for file in TEMPLATES.rglob("*"):
        if file.suffix in {".html", ".txt"}:
            for _, _, message in extraction.extract_translations(file.read_text()):
                if isinstance(message, tuple):
                    with_plural.add(str(message[0]))
                else:
                    once.add(str(message))
    assert with_plural
    assert once & with_plural <= {"%(people)s: %(thing)s"}, "this one is the same in each language"
