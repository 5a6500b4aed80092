"""The command `make messages`, which updates each language's catalogue from the sentences of the
templates.

New sentences are added untranslated, changed sentences are marked fuzzy, and unused sentences are
removed.
"""

import re
import sys
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import write_po
from gazette.adapters.rendering.language import CATALOGUE

from gazette_cdk.assets.templates.catalogues import (
    extract,
    is_to_do,
    nearest,
    read_catalogue,
    read_catalogues,
)
from gazette_cdk.folders import GAZETTE

TEMPLATES = GAZETTE / "templates"

_NOISE = re.compile(
    r'^"(?:Project-Id-Version|Report-Msgid-Bugs-To|P\w+-\w+-Date|Last-Translator|Language-Team'
    r"|Generated-By):.*\n",
    re.MULTILINE,
)
"""Header fields that are irrelevant to translation."""


def catalogues(templates: Path) -> list[Path]:
    """Return the paths of the catalogue files."""
    return sorted(templates.glob(f"locales/*/LC_MESSAGES/{CATALOGUE}.po"))


def update(file: Path, template: Catalog, *, ours: Path | None = None) -> tuple[int, int]:
    """Update one catalogue. Return the number of sentences, and the number of sentences to
    translate.

    Omit untranslated sentences that are translated in `ours`, a folder of templates. A translation
    of a changed sentence remains, marked fuzzy, so that its author can revise it.
    """
    tag = file.parents[1].name
    is_own = ours is not None and not file.is_relative_to(ours)
    others = nearest(tag, read_catalogues(ours)) if ours is not None and is_own else None
    catalogue = read_catalogue(file, tag, shipped=others)
    catalogue.update(template, no_fuzzy_matching=False, update_creation_date=False)
    if others is not None:
        known = {each.id for each in others if not is_to_do(each)}
        for message in [each for each in catalogue if each.id in known and _is_empty(each)]:
            catalogue.delete(message.id)
    write(catalogue, file)
    sentences = [message for message in catalogue if message.id]
    return len(sentences), sum(map(is_to_do, sentences))


def _is_empty(message: Message) -> bool:
    text = message.string
    return not (any(text) if isinstance(text, tuple | list) else text)


def write(catalogue: Catalog, file: Path) -> None:
    """Write the catalogue without dates and line numbers, so that equal content has equal bytes."""
    written = BytesIO()
    write_po(written, catalogue, width=100, ignore_obsolete=True, include_lineno=False)
    file.write_text(_NOISE.sub("", written.getvalue().decode()))


def main() -> None:
    """Update the catalogues in the given folders, or in Gazette's templates. Print the number of
    untranslated sentences per language.
    """
    own = [Path(folder) for folder in sys.argv[1:]]
    template = extract(TEMPLATES, *own)
    for folder in own or [TEMPLATES]:
        for file in catalogues(folder):
            known, missing = update(file, template, ours=TEMPLATES)
            sys.stdout.write(f"{file.parents[1].name}: {known} sentences, {missing} to do\n")


if __name__ == "__main__":
    main()
