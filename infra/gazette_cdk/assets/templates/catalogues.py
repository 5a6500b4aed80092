"""The translation catalogues: reading, checking, merging and compiling."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from babel import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, PoFileParser
from gazette.adapters.rendering.language import CATALOGUE
from jinja2 import TemplateSyntaxError

from gazette_cdk.assets.templates.faults import (
    Fault,
    Faults,
    TemplateError,
    fault,
    line_of,
    read_text,
)

_NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)

_TAG = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
"""The pattern of a language tag in the letter case of RFC 5646, section 2.1.1.

Each language can therefore have only one folder.
"""

_JINJA = [("**.html", "jinja2"), ("**.txt", "jinja2")]
_OPTIONS = {"trimmed": "true", "silent": "false", "trim_blocks": "true", "lstrip_blocks": "true"}


def compile_catalogues(source: Path, overlay: Path | None, target: Path) -> None:
    """Compile each language's `messages.po` into `target`. A translation in `overlay` overrides the
    translation in `source`. `de-CH` also has the translations of `de`.

    Raise TemplateError with the faults of all catalogues. It includes the texts that the overlay
    translates, but no template contains.
    """
    faults = Faults()
    merged = _read(source, {}, faults)
    own = _read(overlay, merged, faults) if overlay else {}
    if own and overlay:
        # The build reports syntax errors. Until they are fixed, the texts are not known.
        with faults.collecting(), suppress(TemplateSyntaxError):
            _check_texts(own, overlay, extract(source, overlay))
    faults.raise_all()
    for tag, catalogue in sorted(own.items()):
        base = nearest(tag, merged)
        if base is None:
            merged[tag] = catalogue
            continue
        merged[tag] = deepcopy(base)
        for message in _translated(catalogue):
            merged[tag].delete(message.id)
            merged[tag][message.id] = message
    for tag, catalogue in merged.items():
        folder = target / "locales" / tag / "LC_MESSAGES"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{CATALOGUE}.po").unlink(missing_ok=True)
        catalogue.creation_date = _NO_DATE  # omit the build date, which would change the bytes
        with (folder / f"{CATALOGUE}.mo").open("wb") as compiled:
            write_mo(compiled, catalogue)


def extract(*folders: Path) -> Catalog:
    """Return the sentences of the templates in the folders, in the order of files and lines."""
    catalogue = Catalog(charset="utf-8")
    for folder in folders:
        messages = extract_from_dir(
            str(folder), _JINJA, options_map={"**.html": _OPTIONS, "**.txt": _OPTIONS}
        )
        for file, line, message, comments, _ in messages:
            catalogue.add(message, None, [(file, line)], auto_comments=comments)
    return catalogue


def file_of(folder: Path, tag: str) -> Path:
    """Return the catalogue file of a language in a folder of templates."""
    return folder / "locales" / tag / "LC_MESSAGES" / f"{CATALOGUE}.po"


def nearest(tag: str, catalogues: Mapping[str, Catalog]) -> Catalog | None:
    """Return the catalogue of a language tag or of its longest prefix, such as `de` for `de-CH`."""
    return next((catalogues[each] for each in prefixes(tag) if each in catalogues), None)


def prefixes(tag: str) -> Iterator[str]:
    """Yield a language tag and its prefixes, longest first, such as `de-CH` and `de`."""
    while tag:
        yield tag
        tag = tag.rpartition("-")[0]


def read_catalogue(file: Path, tag: str, *, shipped: Catalog | None = None) -> Catalog:
    """Return the translations in a file. Raise TemplateError with all wrong placeholders.

    A file without the header `Plural-Forms` has the plural forms of `shipped`, Gazette's catalogue
    of the language, if it exists. Babel knows other plural forms for Hebrew.
    """
    catalogue = Catalog(locale=tag.replace("-", "_"), charset="utf-8")
    if shipped is not None:
        catalogue.mime_headers = [("Plural-Forms", shipped.plural_forms)]
    try:
        with file.open("rb") as source:
            PoFileParser(catalogue, abort_invalid=True).parse(source)
    except PoFileError as err:
        text = str(err).rpartition(" on ")[0]
        raise fault(file, f"{text}.", line=err.lineno + 1) from err
    except ValueError as err:
        raise fault(file, f"{err}.", line=1) from err
    if shipped is not None and catalogue.num_plurals != shipped.num_plurals:
        raise fault(
            file,
            f"its header has {catalogue.num_plurals} plural forms, but Gazette's catalogue "
            f"has {shipped.num_plurals}. Remove the header, or set `Plural-Forms: "
            f"{shipped.plural_forms}`.",
            line=line_of(read_text(file), "Plural-Forms"),
        )
    faults = [
        Fault(str(file), message.lineno or 0, str(error))
        for message, errors in catalogue.check()
        if not message.fuzzy  # `messages` suggests such translations, and the build omits them
        for error in errors
    ]
    if faults:
        raise TemplateError(*faults)
    return catalogue


def is_to_do(message: Message) -> bool:
    """Return True if the translation or one of its plural forms is missing or fuzzy."""
    text = message.string
    return message.fuzzy or not (all(text) if isinstance(text, tuple | list) else text)


def read_catalogues(
    folder: Path, *, shipped: Mapping[str, Catalog] = MappingProxyType({})
) -> dict[str, Catalog]:
    """Return the catalogues in a folder of templates, by language tag. Raise TemplateError with
    the faults of all catalogues.
    """
    faults = Faults()
    catalogues = _read(folder, shipped, faults)
    faults.raise_all()
    return catalogues


def _read(folder: Path, shipped: Mapping[str, Catalog], faults: Faults) -> dict[str, Catalog]:
    """Return the catalogues in a folder that have no faults."""
    catalogues = {}
    for each in sorted(folder.glob("locales/*/")):
        tag, file = each.name, file_of(folder, each.name)
        with faults.collecting():
            _check_folder(each, file)
            catalogues[tag] = read_catalogue(file, tag, shipped=nearest(tag, shipped))
    return catalogues


def _check_texts(catalogues: Mapping[str, Catalog], folder: Path, known: Catalog) -> None:
    """Raise TemplateError with the translations of texts that are not in `known`.

    These translations would have no effect.
    """
    faults = Faults()
    texts = {_first_form(message): message.id for message in known if message.id}
    for tag, catalogue in catalogues.items():
        for message in _translated(catalogue):
            text = _first_form(message)
            if texts.get(text) == message.id:
                continue
            if text in texts:
                plural = _plural_of(texts[text])
                problem = f"the plural of {text!r} differs from the templates. Write " + (
                    f"msgid_plural {plural!r}." if plural else "no msgid_plural."
                )
            else:
                similar = get_close_matches(text, texts, n=1)
                problem = (
                    f"no template contains the text {text!r}, so its translation has no effect. "
                    + (f"Did you mean {similar[0]!r}? Otherwise, remove" if similar else "Remove")
                    + " the entry."
                )
            place = str(file_of(folder, tag))
            faults.items.append(Fault(place, message.lineno or 0, problem))
    faults.raise_all()


def _first_form(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def _plural_of(text: str | Sequence[str]) -> str:
    return "" if isinstance(text, str) else text[1]


def _check_folder(folder: Path, file: Path) -> None:
    if not _TAG.fullmatch(folder.name):
        raise fault(folder, "name it by its language tag, such as de or pt-BR (BCP 47).")
    try:
        Locale.parse(folder.name, sep="-")
    except (UnknownLocaleError, ValueError) as err:
        raise fault(
            folder,
            "CLDR does not know this language, so its dates have no format. Fix the language tag.",
        ) from err
    if not file.is_file():
        raise fault(file, "missing. Put the translations of this language there.")


def _translated(catalogue: Catalog) -> list[Message]:
    return [message for message in catalogue if message.id and not is_to_do(message)]
