"""The files in an adopter's folder of templates: each has to be one that something reads."""

from pathlib import Path

from gazette.adapters.contract.data import SCHEMA_FILES
from gazette.adapters.rendering.environment import VARIATIONS
from gazette.adapters.rendering.variations import VARIATION_FILE
from gazette.adapters.templates.bundle import SETTINGS_FILE

from infra.assets.inline import TemplateError

_FREE = {"parts", "locales"}
"""Folders where files may have any name: parts are named by templates, languages are looked for."""

_CATEGORIES = "categories"
_OF_A_CATEGORY = {"line.txt", "name.txt", "headline.txt", "button.txt"}

_SAME_FOR_ALL = {"brand.json", "email.css", "outlook.css", "locales", "preferences"}
"""Files that all variations share: brand, styles and languages of all emails, and the pages."""

_SCHEMA = Path(SCHEMA_FILES).name
_NOTES = {".md", ".rst"}


def check_names(source: Path, overlay: Path) -> None:
    """Raises TemplateError for a file that no template uses."""
    for file in sorted(overlay.rglob("*")):
        name = file.relative_to(overlay)
        hidden = any(part.startswith(".") for part in name.parts)
        if file.is_dir() or hidden or file.suffix in _NOTES:
            continue
        inside = _without_variation(name)
        if inside != name and inside.parts[0] in _SAME_FOR_ALL:
            raise TemplateError(
                f"{file}: nothing reads it. All variations have the same {inside.parts[0]}: "
                f"{overlay / inside}."
            )
        _check_name(file, inside, source, overlay)


def _check_name(file: Path, name: Path, source: Path, overlay: Path) -> None:
    top = name.parts[0]
    if file == overlay / SETTINGS_FILE:
        return
    if top == _CATEGORIES:
        if name.name == _SCHEMA and file.parents[2] != overlay:
            raise TemplateError(
                f"{file}: nothing reads it. Ingest holds the data of all readers against "
                f"{_CATEGORIES}/{file.parent.name}/{_SCHEMA}."
            )
        if len(name.parts) != 3 or name.name not in {*_OF_A_CATEGORY, _SCHEMA}:
            raise TemplateError(
                f"{file}: nothing reads it. A category is a folder with a line.txt and a name.txt, "
                f"such as {_CATEGORIES}/review/line.txt, and may have a headline.txt, a button.txt "
                f"and a {_SCHEMA}."
            )
        return
    is_known = (source / name).is_file() or name == Path(VARIATION_FILE)
    if not is_known and not (top in _FREE and len(name.parts) > 1):
        known = ", ".join(sorted(each.name for each in (source / name).parent.glob("*")))
        raise TemplateError(
            f"{file}: nothing reads it. "
            + (f"There is {known} beside it" if known else "There is no such folder")
            + " in our templates; a part of your own belongs into parts/."
        )


def _without_variation(name: Path) -> Path:
    """`digest/subject.txt` of `variations/2/digest/subject.txt`."""
    inside = name.parts[0] == VARIATIONS and len(name.parts) > 2
    return Path(*name.parts[2:]) if inside else name
