"""`make messages`: what templates say, brought into the catalogues of a folder."""

import sys
from pathlib import Path

import pytest

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
