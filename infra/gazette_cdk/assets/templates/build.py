"""The build of the layer's templates, with an adopter's files, inlined CSS and compiled catalogues.

The build reads every file, so that it finds mistakes before a deployment.
"""

import re
import shutil
from dataclasses import replace
from pathlib import Path

from gazette.adapters.rendering.brand import BrandError, read_brand
from gazette.adapters.rendering.environment import VARIATIONS, environment
from gazette.adapters.rendering.variations import VariationError, read_changes
from gazette.adapters.templates.bundle import CATEGORIES_FILE
from jinja2 import TemplateSyntaxError

from gazette_cdk.assets.templates.catalogues import compile_catalogues
from gazette_cdk.assets.templates.category_texts import write_category_texts
from gazette_cdk.assets.templates.data_schemas import check_schemas
from gazette_cdk.assets.templates.faults import (
    Fault,
    Faults,
    TemplateError,
    fault,
    line_of,
    line_of_json_error,
    read_text,
)
from gazette_cdk.assets.templates.inline import (
    check_inlining,
    check_selectors,
    inline,
    inline_part,
)
from gazette_cdk.assets.templates.json_lines import line_at, lines_in
from gazette_cdk.assets.templates.overlay import check_names
from gazette_cdk.assets.templates.trial import try_out
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
_TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
_NOT_CSS = re.compile(rf"/\*.*?\*/|{_TAG.pattern}", re.DOTALL)
"""The pattern of comments and Jinja tags in a style sheet."""

_BRACE = re.compile(r"[{}]")

_PARTS = "parts"
"""The folder of parts that emails share. Web pages have their own style sheets and parts."""


def build_templates(
    source: Path, target: Path, *, overlay: Path | None = None, inlined: bool = True
) -> None:
    """Copy the folder `source` to `target`. Replace each file that `overlay` also contains.

    An email is a folder with a `subject.txt`. Inline the CSS of `email.css` into the HTML of emails
    and of `parts`. Lay the catalogues of `overlay` over those of `source`. Raise TemplateError with
    all faults of all files.
    """
    faults = Faults()
    _build(source, target, overlay, faults, inlined=inlined)
    faults.raise_all()


def build_and_try(source: Path, target: Path, *, overlay: Path | None = None) -> None:
    """Build the templates, and render each email once. Raise TemplateError with the faults of both.

    If a file of `overlay` has a fault, the emails are rendered without it.
    """
    faults = Faults()
    _build(source, target, overlay, faults)
    folders = (source, overlay) if overlay else (source,)
    if not any(file.is_relative_to(source) for file in faults.files()):
        with faults.collecting():
            try_out(target, sources=folders, without=faults.files())
    faults.raise_all()


def _build(
    source: Path, target: Path, overlay: Path | None, faults: Faults, *, inlined: bool = True
) -> None:
    """Build the templates without the files that have faults."""
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=_hidden)
    if overlay is not None:
        if not overlay.is_dir():
            raise fault(overlay, "does not exist. Create it, or pass the folder of your templates.")
        with faults.collecting():
            check_names(source, overlay)
        shutil.copytree(overlay, target, dirs_exist_ok=True, ignore=_converted)
        with faults.collecting():
            write_category_texts(overlay / CATEGORIES_FILE, target)
    (target / "__init__.py").write_text('"""Built templates."""\n')
    folders = (source, overlay) if overlay else (source,)
    with faults.collecting():
        _check_brand(_origin("brand.json", source, overlay))
    for folder in folders:
        for check in (_check_variations, check_schemas, read_version_settings):
            with faults.collecting():
                check(folder)
    css, outlook = (
        _style_sheet(target / name, _origin(name, source, overlay), faults)
        for name in (_STYLE_SHEET, _OUTLOOK)
    )
    for template in sorted(target.rglob("*.*")):
        if template.suffix not in {".html", ".txt"}:
            continue
        origin = _origin(str(template.relative_to(target)), source, overlay)
        with faults.collecting():
            text = read_text(template, name=origin)
            _check(text, origin, target)
            if template.suffix == ".html" and _is_of_email(template):
                check_inlining(text, name=str(origin))
                styled = _styled(text, css, outlook, origin, inlined=inlined)
                template.write_text(styled, encoding="utf-8")
    try:
        compile_catalogues(source, overlay, target)
    except TemplateError as err:
        faults.items += err.faults
        if overlay is not None:
            compile_catalogues(source, None, target)
    if overlay is not None:
        _leave_out(faults.files(), source, overlay, target)


def _leave_out(files: set[Path], source: Path, overlay: Path, target: Path) -> None:
    """Replace files of `overlay` in `target` with those of `source`, or with empty files.

    Emails can then be rendered without the faults of these files. `target` is not deployed.
    """
    for file in sorted(each for each in files if each.is_relative_to(overlay)):
        name = file.relative_to(overlay)
        built = target / name
        if built.is_dir() and name.parts[0] == VARIATIONS:
            shutil.rmtree(built)
        elif built.suffix in {".html", ".txt"}:
            built.write_text("")  # rendered as part of other templates
        elif built.is_file():
            built.unlink()
        if (source / name).is_file() and name.parts[0] != "locales":
            shutil.copy(source / name, built)


def _check_brand(file: Path) -> None:
    try:
        read_brand(file)
    except BrandError as err:
        lines = {} if err.__cause__ else lines_in(read_text(file))
        raise TemplateError(
            *(
                Fault(str(file), line_of_json_error(err) or line_at(lines, [name]), text)
                for name, text in err.problems
            )
        ) from err


def _check_variations(folder: Path) -> None:
    try:
        read_changes(folder)
    except VariationError as err:
        raise TemplateError(*(Fault(str(file), 0, text) for file, text in err.problems)) from err


def _origin(name: str, source: Path, overlay: Path | None) -> Path:
    """Return the source file of a copied template.

    Errors in the copy must be fixed in the source file.
    """
    return overlay / name if overlay and (overlay / name).exists() else source / name


def _style_sheet(file: Path, origin: Path, faults: Faults) -> str:
    """Return the style sheet, or an empty one if it has a fault.

    An unmatched brace is a fault, because it would disable all later rules.
    """
    with faults.collecting():
        css = read_text(file, name=origin)
        if line := _unmatched_brace(css):
            raise fault(
                origin, "this brace has no counterpart. Add it, or remove this one.", line=line
            )
        check_selectors(css, name=str(origin))
        return css
    return ""


def _unmatched_brace(css: str) -> int:
    """Return the line of the first brace without a counterpart, or 0."""
    bare = _NOT_CSS.sub(lambda part: "\n" * part[0].count("\n"), css)
    open_lines: list[int] = []
    for number, line in enumerate(bare.split("\n"), 1):
        for brace in _BRACE.findall(line):
            if brace == "{":
                open_lines.append(number)
            elif open_lines:
                open_lines.pop()
            else:
                return number
    return open_lines[0] if open_lines else 0


def _check(text: str, origin: Path, target: Path) -> None:
    """Compile the template, because only compilation detects unknown filters."""
    templates = environment(target)
    try:
        templates.compile(text)
    except TemplateSyntaxError as err:
        raise fault(origin, f"{err.message}", line=err.lineno) from err


def _styled(template: str, css: str, outlook: str, origin: Path, *, inlined: bool) -> str:
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
    name = str(origin)
    try:
        is_part = page == template
        return inline_part(page, css, name=name) if is_part else inline(page, name=name)
    except TemplateError as err:
        # The inserted style sheets move the lines of the template.
        raise TemplateError(
            *(replace(each, line=_line_in(template, each)) for each in err.faults)
        ) from err


def _line_in(template: str, at: Fault) -> int:
    """Return the line of a tag that a fault begins with, or the fault's own line."""
    tags = sorted(_TAG.findall(template), key=len, reverse=True)
    tag = next((each for each in tags if at.text.startswith(each)), "")
    return line_of(template, tag) if tag else at.line


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
