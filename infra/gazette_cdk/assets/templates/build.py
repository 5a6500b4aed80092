"""The build of the layer's templates, with an adopter's files, inlined CSS and compiled catalogues.

The build reads every file, so that it finds mistakes before a deployment.
"""

import re
import shutil
from pathlib import Path

from gazette.adapters.rendering.brand import BrandError, read_brand
from gazette.adapters.rendering.environment import environment
from gazette.adapters.rendering.variations import VariationError, read_changes
from gazette.adapters.templates.bundle import CATEGORIES_FILE
from jinja2 import TemplateSyntaxError

from gazette_cdk.assets.templates.catalogues import compile_catalogues
from gazette_cdk.assets.templates.category_texts import write_category_texts
from gazette_cdk.assets.templates.data_schemas import check_schemas
from gazette_cdk.assets.templates.inline import TemplateError, inline, inline_part
from gazette_cdk.assets.templates.overlay import check_names
from gazette_cdk.assets.templates.version_settings import read_version_settings

TOOLS = ("babel", "cssutils", "jinja2", "lxml", "premailer")
"""The third-party packages that build the templates."""

_STYLE_SHEET = "email.css"
_OUTLOOK = "outlook.css"
"""The style sheet for Outlook, which is not inlined.

Its selectors match only elements that Outlook marks.
"""

_LINK = re.compile(
    rf"<link\b[^>]*\bhref=\"({re.escape(_STYLE_SHEET)}|{re.escape(_OUTLOOK)})\"[^>]*>"
)
_PARTS = "parts"
"""The folder of parts that emails share. Web pages have their own style sheets and parts."""


def build_templates(
    source: Path, target: Path, *, overlay: Path | None = None, inlined: bool = True
) -> None:
    """Copy the folder `source` to `target`. Replace each file that `overlay` also contains.

    An email is a folder with a `subject.txt`. Inline the CSS of `email.css` into the HTML of emails
    and of `parts`. Lay the catalogues of `overlay` over those of `source`. Raise TemplateError for
    a mistake.
    """
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=_hidden)
    if overlay is not None:
        if not overlay.is_dir():
            raise TemplateError(
                f"{overlay} does not exist. Create it, or pass the folder of your templates."
            )
        check_names(source, overlay)
        shutil.copytree(overlay, target, dirs_exist_ok=True, ignore=_converted)
        write_category_texts(overlay / CATEGORIES_FILE, target)
    (target / "__init__.py").write_text('"""Built templates."""\n')
    try:
        read_brand(_origin("brand.json", source, overlay))
        for folder in filter(None, (source, overlay)):
            read_changes(folder)
    except (BrandError, VariationError) as err:
        raise TemplateError(str(err)) from err
    for folder in filter(None, (source, overlay)):
        check_schemas(folder)
        read_version_settings(folder)
    css, outlook = (
        _style_sheet(target / name, _origin(name, source, overlay))
        for name in (_STYLE_SHEET, _OUTLOOK)
    )
    for template in sorted(target.rglob("*.*")):
        if template.suffix not in {".html", ".txt"}:
            continue
        name = str(template.relative_to(target))
        origin = _origin(name, source, overlay)
        text = _text_of(template, origin)
        _check(text, origin, target)
        if template.suffix == ".html" and _is_of_email(template):
            styled = _styled(text, css, outlook, name, inlined=inlined)
            template.write_text(styled, encoding="utf-8")
    compile_catalogues(source, overlay, target)


def _origin(name: str, source: Path, overlay: Path | None) -> Path:
    """Return the source file of a copied template.

    Errors in the copy must be fixed in the source file.
    """
    return overlay / name if overlay and (overlay / name).exists() else source / name


def _text_of(file: Path, origin: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeError as err:
        raise TemplateError(f"{origin} is not UTF-8. Save it as UTF-8.") from err


def _style_sheet(file: Path, origin: Path) -> str:
    """Return the style sheet.

    Raise TemplateError for an unmatched brace, which would disable all later rules.
    """
    css = _text_of(file, origin)
    bare = re.sub(r"/\*.*?\*/|\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", "", css, flags=re.DOTALL)
    if bare.count("{") != bare.count("}"):
        raise TemplateError(
            f"{origin} has {bare.count('{')} of {{ and {bare.count('}')} of }}. Their numbers must "
            "be equal."
        )
    return css


def _check(text: str, origin: Path, target: Path) -> None:
    """Compile the template, because only compilation detects unknown filters."""
    templates = environment(target)
    try:
        templates.compile(text)
    except TemplateSyntaxError as err:
        raise TemplateError(f"{origin}, line {err.lineno}: {err.message}") from err


def _styled(template: str, css: str, outlook: str, name: str, *, inlined: bool) -> str:
    """Return the template with its style sheets. If `inlined` is True, inline the first style
    sheet.
    """
    styles = {
        _STYLE_SHEET: f"<style>\n{css}</style>",
        _OUTLOOK: f'<style data-premailer="ignore">\n{outlook}</style>',
    }
    page = _LINK.sub(lambda link: styles[link[1]], template)
    if not inlined:
        return page
    return inline(page, name=name) if page != template else inline_part(page, css, name=name)


def _is_of_email(template: Path) -> bool:
    folder = template.parent
    is_email = (folder / "subject.txt").exists() or folder.name == _PARTS
    return is_email or (folder.parents[1] / folder.name / "subject.txt").exists()


def _hidden(_: str, names: list[str]) -> list[str]:
    """Return the hidden files, such as `.git`, `.env` and `.DS_Store`, which must not ship."""
    return [name for name in names if name.startswith(".")]


def _converted(folder: str, names: list[str]) -> list[str]:
    """Return the names of files that the build converts, and of hidden files."""
    return [*_hidden(folder, names), *({"locales", CATEGORIES_FILE} & {*names})]
