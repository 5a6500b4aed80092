"""The template files of web pages. Web pages are always rendered with the deployed version.

The preference function sends a header with the hash of its style sheet and the origins of its logos
before it reads the reader. At that time, it does not know the version of the reader.
"""

import io
from collections.abc import Iterator
from pathlib import Path

from babel.messages.mofile import read_mo
from gazette.adapters.rendering.environment import QuickEnvironment
from gazette.adapters.templates.bundle import BUILT, CATEGORIES_FILE
from jinja2.ext import extract_from_ast

from gazette_cli.templates.differences import Files

_BRAND = "brand.json"
_PAGES = "preferences/"
_NAMES = "categories/*/name.txt"
_SHARED = ("parts/clock.txt", "parts/part.txt")
"""The files of emails that web pages include."""

_QUOTED = "parts/quoted.txt"
"""The message ids of quotation marks, which web pages also use."""

_CATALOGUES = "locales/*/LC_MESSAGES/messages.mo"


def differing(ours: Files, theirs: Files) -> list[str]:
    """Return the changed files of web pages, and one changed sentence per changed catalogue."""
    either = sorted(ours.keys() | theirs.keys())
    changed = [each for each in either if ours.get(each) != theirs.get(each)]
    different = [
        _named(each, {**theirs, **ours}[each])
        for each in changed
        if each == _BRAND or _is_of_pages(each)
    ]
    catalogues = [each for each in changed if Path(each).match(_CATALOGUES)]
    if not catalogues:  # reading every page takes about as long as the rest of a push
        return different
    sentences = {*_sentences(ours), *_sentences(theirs)}
    for each in catalogues:
        before, after = (_translations(files.get(each)) for files in (theirs, ours))
        differ = sorted(text for text in sentences if before.get(text) != after.get(text))
        if differ:
            language = each.split("/")[1]
            different.append(f"locales/{language} (such as {_short(differ[0])!r})")
    return different


def _named(name: str, content: bytes) -> str:
    """Return the name of a file of web pages, or the key in `categories.json` it was built from."""
    if content.startswith(BUILT.encode()):
        return f"{CATEGORIES_FILE} ({name.split('/')[1]}.<language>.name)"
    return name


def _is_of_pages(name: str) -> bool:
    return name.startswith(_PAGES) or name in _SHARED or Path(name).match(_NAMES)


def _sentences(files: Files) -> Iterator[str]:
    """Yield the translated sentences of web pages. If a sentence has plural forms, yield only the
    first form.
    """
    templates = QuickEnvironment(
        extensions=["jinja2.ext.i18n"], trim_blocks=True, lstrip_blocks=True
    )
    templates.policies["ext.i18n.trimmed"] = True
    for name, content in files.items():
        if name == _QUOTED or (_is_of_pages(name) and not name.endswith(".css")):
            for _, _, message in extract_from_ast(templates.parse(content.decode())):
                text = message[0] if isinstance(message, tuple) else message
                if text:
                    yield text


def _translations(catalogue: bytes | None) -> dict[str, object]:
    """Read the translation of each sentence. If a sentence has plural forms, the key is the first
    form.
    """
    if catalogue is None:
        return {}
    return {
        message.id if isinstance(message.id, str) else message.id[0]: message.string
        for message in read_mo(io.BytesIO(catalogue))
        if message.id
    }


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
