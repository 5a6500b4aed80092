"""CSS inlined into the templates themselves, once, at build time.

Premailer costs 50 to 65 times what rendering costs, so it works on the template and never on
an email: each Jinja tag is masked, the page is inlined, the tags are put back. Between elements
a tag becomes an HTML comment, which no parser moves out of a table; inside an element's own
tag it becomes a word.
"""

import json
import re
import shutil
from pathlib import Path

from jinja2 import Environment, TemplateSyntaxError
from premailer import Premailer

_JINJA = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
_WORD = "jinja{}mask"
_POSITIONAL = re.compile(r":(?:first|last|nth|only)-|[^{}]\s[+~]\s")
_STYLE = re.compile(r"<style\b[^>]*>(.*?)</style>", re.DOTALL | re.IGNORECASE)
_DYNAMIC_SELECTOR = re.compile(r"\s(?:class|id)\s*=\s*(\"[^\"]*\"|'[^']*')", re.IGNORECASE)


class TemplateError(Exception):
    """A template that cannot be built. The text names the file and what to change."""


def build_templates(source: Path, target: Path) -> None:
    """Copy the folder `source` to `target`, with the CSS of every email inlined.

    An email is a folder with a `body.html`; web pages keep their style sheets. Raises
    TemplateError.
    """
    shutil.copytree(source, target, dirs_exist_ok=True)
    (target / "__init__.py").write_text('"""Built templates."""\n')
    try:
        json.loads((target / "brand.json").read_text())
    except ValueError as err:
        raise TemplateError(f"{source / 'brand.json'} is not JSON: {err}") from err
    environment = Environment(autoescape=True)
    for template in sorted(target.rglob("*.*")):
        if template.suffix not in {".html", ".txt"}:
            continue
        name = template.relative_to(target)
        try:
            environment.parse(template.read_text())
        except TemplateSyntaxError as err:
            raise TemplateError(f"{source / name}, line {err.lineno}: {err.message}") from err
        if template.name == "body.html":
            template.write_text(inline(template.read_text(), name=str(name)))


def inline(template: str, *, name: str) -> str:
    """The template with its CSS inlined. Raises TemplateError where the result could differ
    from inlining each rendered email: CSS that counts siblings, or a class that Jinja computes.
    """
    _refuse_what_depends_on_data(template, name)
    preamble, separator, page = template.partition("<!DOCTYPE")
    masked, tags = _mask(separator + page)
    inlined = Premailer(
        masked,
        allow_network=False,
        cssutils_logging_level="CRITICAL",
        disable_validation=True,
        keep_style_tags=False,
        remove_classes=False,
        remove_unset_properties=False,
        strip_important=False,
        disable_leftover_css=False,
    ).transform()
    return preamble + _unmask(inlined, tags, name) + "\n"


def _refuse_what_depends_on_data(template: str, name: str) -> None:
    for style in _STYLE.findall(template):
        if found := _POSITIONAL.search(style):
            raise TemplateError(
                f"{name}: the style sheet uses {found[0].strip()!r}, which counts siblings; loops "
                "change them, so it cannot be inlined before rendering. Use a class."
            )
    for attribute in _DYNAMIC_SELECTOR.findall(template):
        if _JINJA.search(attribute):
            raise TemplateError(
                f"{name}: the class or id {attribute} is computed, so its CSS cannot be inlined "
                "before rendering. Put the condition around the whole element."
            )


def _mask(page: str) -> tuple[str, list[str]]:
    tags: list[str] = []
    pieces: list[str] = []
    end = 0
    for found in _JINJA.finditer(page):
        pieces.append(page[end : found.start()])
        before = "".join(pieces)
        word = _WORD.format(len(tags))
        pieces.append(word if _is_inside_tag(before) or _is_text(found[0]) else f"<!--{word}-->")
        tags.append(found[0])
        end = found.end()
    pieces.append(page[end:])
    return "".join(pieces), tags


def _is_inside_tag(before: str) -> bool:
    """True within `<a href="` and within a style sheet, where a comment would be no comment."""
    styles = before.lower()
    return before.rfind("<") > before.rfind(">") or styles.rfind("<style") > styles.rfind("</style")


def _is_text(tag: str) -> bool:
    return tag.startswith("{{")


def _unmask(page: str, tags: list[str], name: str) -> str:
    for number, tag in enumerate(tags):
        word = _WORD.format(number)
        comment = f"<!--{word}-->"
        if comment not in page and word not in page:
            raise TemplateError(f"{name}: {tag} was lost while the CSS was inlined.")
        page = page.replace(comment, tag).replace(word, tag)
    return page
