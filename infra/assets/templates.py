"""Templates as the layer ships them: an adopter's files in their places, CSS inlined, catalogues
compiled, and everything read once, so that a mistake is found before it is deployed.
"""

import re
import shutil
from pathlib import Path

from babel.messages.catalog import Catalog, TranslationError
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po
from gazette.adapters.rendering.brand import BrandError, read_brand
from gazette.adapters.rendering.environment import environment
from gazette.adapters.rendering.language import CATALOGUE
from gazette.adapters.rendering.variations import VariationError, read_rankings
from jinja2 import TemplateSyntaxError

from infra.assets.inline import TemplateError, inline, inline_part

_STYLE_SHEET = "email.css"
_LINK = re.compile(rf"<link\b[^>]*\bhref=\"{re.escape(_STYLE_SHEET)}\"[^>]*>")
_PARTS = "parts"
"""What emails share. Web pages have their own style sheets, and parts beside them."""


def build_templates(
    source: Path, target: Path, *, overlay: Path | None = None, inlined: bool = True
) -> None:
    """Copy the folder `source` to `target`, files of `overlay` in the place of those they name.

    An email is a folder with a `subject.txt`; its HTML, and that of `parts`, gets the CSS of
    `email.css` inlined. Catalogues of `overlay` add to those of `source`. Raises TemplateError.
    """
    shutil.copytree(source, target, dirs_exist_ok=True)
    if overlay is not None:
        if not overlay.is_dir():
            raise TemplateError(f"{overlay} is no folder: it would hold your own templates.")
        shutil.copytree(overlay, target, dirs_exist_ok=True, ignore=_without_catalogues)
    (target / "__init__.py").write_text('"""Built templates."""\n')
    _compile_catalogues([source] + ([overlay] if overlay else []), target)
    try:
        read_brand(target / "brand.json")
        read_rankings(target)
    except (BrandError, VariationError) as err:
        raise TemplateError(str(err)) from err
    css = (target / _STYLE_SHEET).read_text()
    for template in sorted(target.rglob("*.*")):
        if template.suffix not in {".html", ".txt"}:
            continue
        name = template.relative_to(target)
        origin = overlay if overlay and (overlay / name).exists() else source
        try:
            environment(target).parse(template.read_text())
        except TemplateSyntaxError as err:
            raise TemplateError(f"{origin / name}, line {err.lineno}: {err.message}") from err
        if template.suffix == ".html" and _is_of_email(template):
            template.write_text(_styled(template.read_text(), css, str(name), inlined=inlined))


def _styled(template: str, css: str, name: str, *, inlined: bool) -> str:
    """A page gets the style sheet and, unless it is left for later, has it inlined."""
    page = _LINK.sub(lambda _: f"<style>\n{css}</style>", template)
    if not inlined:
        return page
    return inline(page, name=name) if page != template else inline_part(page, css, name=name)


def _is_of_email(template: Path) -> bool:
    folder = template.parent
    is_email = (folder / "subject.txt").exists() or folder.name == _PARTS
    return is_email or (folder.parents[1] / folder.name / "subject.txt").exists()


def _without_catalogues(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "locales"]


def _compile_catalogues(sources: list[Path], target: Path) -> None:
    """`messages.po` of each language; what a later folder says goes before an earlier one."""
    merged: dict[str, Catalog] = {}
    for source in sources:
        for file in sorted(source.glob(f"locales/*/LC_MESSAGES/{CATALOGUE}.po")):
            tag = file.parents[1].name
            catalogue = read_catalogue(file, tag)
            if tag in merged:
                for message in filter(lambda each: each.id, catalogue):
                    merged[tag].delete(message.id)
                    merged[tag][message.id] = message
            else:
                merged[tag] = catalogue
    for tag, catalogue in merged.items():
        folder = target / "locales" / tag / "LC_MESSAGES"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{CATALOGUE}.po").unlink(missing_ok=True)
        with (folder / f"{CATALOGUE}.mo").open("wb") as compiled:
            write_mo(compiled, catalogue)


def read_catalogue(file: Path, tag: str) -> Catalog:
    """The translations in a file. Raises TemplateError, naming what cannot be filled in."""
    try:
        with file.open("rb") as source:
            catalogue = read_po(source, locale=tag.replace("-", "_"), abort_invalid=True)
    except (PoFileError, ValueError) as err:
        raise TemplateError(f"{file}: {err}") from err
    for message, errors in catalogue.check():
        raise TemplateError(f"{file}, line {message.lineno}: {_first(errors)}")
    return catalogue


def _first(errors: list[TranslationError]) -> str:
    return str(errors[0])
