"""Checks that all files in an adopter's folder of templates are in use."""

from pathlib import Path

from gazette.adapters.contract.data import SCHEMA_FILES
from gazette.adapters.rendering.environment import VARIATIONS
from gazette.adapters.rendering.variations import VARIATION_FILE
from gazette.adapters.templates.bundle import CATEGORIES_FILE, SETTINGS_FILE

from gazette_cdk.assets.templates.faults import Fault, Faults, fault

_FREE = {"parts", "locales"}
"""Folders in which any file name is allowed. They contain translations, and parts that templates
include by name.
"""

_CATEGORIES = "categories"
_OF_A_CATEGORY = {
    *("line.txt", "name.txt", "headline.txt", "sentence.txt", "subject.txt", "button.txt"),
    "count.txt",
}

_SAME_FOR_ALL = {
    *("brand.json", CATEGORIES_FILE, "email.css", "outlook.css", "locales", "preferences")
}
"""Files that all variations share: the brand, the names of categories, styles and languages of
emails, and the web pages."""

_SCHEMA = Path(SCHEMA_FILES).name
_NOTES = {".md", ".rst"}


def check_names(source: Path, overlay: Path) -> None:
    """Raise TemplateError with the files of the overlay that no template uses."""
    faults = Faults()
    for file in sorted(overlay.rglob("*")):
        name = file.relative_to(overlay)
        hidden = any(part.startswith(".") for part in name.parts)
        if file.is_dir() or hidden or file.suffix in _NOTES:
            continue
        inside = _without_variation(name)
        if inside != name and inside.parts[0] in _SAME_FOR_ALL:
            text = f"this file has no effect. All variations share {overlay / inside}."
            faults.items.append(Fault(str(file), 0, text))
            continue
        with faults.collecting():
            _check_name(file, inside, source, overlay)
    faults.raise_all()


def _check_name(file: Path, name: Path, source: Path, overlay: Path) -> None:
    top = name.parts[0]
    if file in {overlay / SETTINGS_FILE, overlay / CATEGORIES_FILE}:
        return
    if top == _CATEGORIES:
        if name.name == _SCHEMA and file.parents[2] != overlay:
            raise fault(
                file,
                f"this file has no effect. Ingest validates the data of all readers "
                f"against {_CATEGORIES}/{file.parent.name}/{_SCHEMA}.",
            )
        if len(name.parts) != 3 or name.name not in {*_OF_A_CATEGORY, _SCHEMA}:
            raise fault(
                file,
                f"this file has no effect. A category is a folder with a line.txt and a "
                f"name.txt, such as {_CATEGORIES}/review/line.txt. It may also have a "
                f"headline.txt, a sentence.txt, a subject.txt, a button.txt, a "
                f"count.txt and a {_SCHEMA}.",
            )
        return
    is_known = (source / name).is_file() or name == Path(VARIATION_FILE)
    if not is_known and not (top in _FREE and len(name.parts) > 1):
        known = ", ".join(sorted(each.name for each in (source / name).parent.glob("*")))
        raise fault(
            file,
            "this file has no effect. "
            + (f"Our folder has {known}. " if known else "Our templates have no such folder. ")
            + "Put your own parts into parts/.",
        )


def _without_variation(name: Path) -> Path:
    """Return `digest/subject.txt` for `variations/2/digest/subject.txt`."""
    inside = name.parts[0] == VARIATIONS and len(name.parts) > 2
    return Path(*name.parts[2:]) if inside else name
