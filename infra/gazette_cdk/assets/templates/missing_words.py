"""Warnings about an adopter's categories that have no words in a language that their other
categories have.

Emails and pages in that language show the English words, or the category's identifier.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from babel import Locale
from gazette.adapters.rendering.language import SOURCE
from gazette.adapters.templates.bundle import CATEGORIES_FILE
from jinja2 import TemplateSyntaxError

from gazette_cdk.assets.templates.catalogues import (
    extract,
    file_of,
    is_to_do,
    nearest,
    prefixes,
    read_catalogues,
)
from gazette_cdk.assets.templates.faults import TemplateError

_CATEGORIES = "categories"
_FILES = ("name.txt", "line.txt")


def missing_words(source: Path, overlay: Path) -> Iterator[str]:
    """Yield a warning for each category and language, sorted. `source` has Gazette's templates.

    Words are those in `categories.json`, and the texts of a folder of the category that are
    translated. Yield no warnings if the templates have faults, which their build reports.
    """
    try:
        in_file = _in_file(overlay / CATEGORIES_FILE)
        in_folders = _in_folders(source, overlay)
    except (TemplateError, TemplateSyntaxError, ValueError, TypeError, AttributeError):
        return
    words = in_file | in_folders
    languages = sorted({tag for tags in words.values() for tag in tags})
    for category, tags in sorted(words.items()):
        for tag in languages:
            if any(each in tags for each in prefixes(tag)):
                continue
            others = ", ".join(each for each in sorted(words) if tag in words[each])
            is_in_file = category in in_file
            file = overlay / CATEGORIES_FILE if is_in_file else file_of(overlay, tag)
            what = f"{category}.{tag}" if is_in_file else f"the texts of {_CATEGORIES}/{category}"
            yield (
                f"The category {category} has no words in {_name(tag)} ({tag}), unlike {others}. "
                f"Add {what} to {file}."
            )


def _in_file(file: Path) -> dict[str, set[str]]:
    """Return the languages of each category in `categories.json`."""
    if not file.is_file():
        return {}
    content: Mapping[str, Mapping[str, object]] = json.loads(file.read_text(encoding="utf-8"))
    return {category: {*languages} for category, languages in content.items()}


def _in_folders(source: Path, overlay: Path) -> dict[str, set[str]]:
    """Return the languages of each category with a folder of its own. Its templates are in English.

    A language counts if all texts of the folder are translated.
    """
    shipped = read_catalogues(source)
    own = read_catalogues(overlay, shipped=shipped)
    words: dict[str, set[str]] = {}
    for folder in sorted((overlay / _CATEGORIES).glob("*/")):
        is_new = not (source / _CATEGORIES / folder.name).exists()
        if not is_new or not any((folder / name).exists() for name in _FILES):
            continue
        texts = [message.id for message in extract(folder) if message.id]
        words[folder.name] = {SOURCE} | {
            tag
            for tag in shipped.keys() | own.keys()
            if texts
            and all(
                any(
                    (message := catalogue.get(text)) and not is_to_do(message)
                    for catalogue in (nearest(tag, own), nearest(tag, shipped))
                    if catalogue
                )
                for text in texts
            )
        }
    return words


def _name(tag: str) -> str:
    return Locale.parse(tag, sep="-").get_display_name("en") or tag
