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
_POSITIONAL = re.compile(r":(?:first|last|nth|only)-|[+~]")
_SELECTOR = re.compile(r"(?:^|[{}])\s*([^{}@]+)(?=\{)")
_STYLE = re.compile(r"<style\b[^>]*>(.*?)</style>", re.DOTALL | re.IGNORECASE)
_DYNAMIC_SELECTOR = re.compile(
    r"\s(?:class|id)\s*=\s*(?:\"[^\"]*jinja\d+mask[^\"]*\"|'[^']*jinja\d+mask[^']*')", re.IGNORECASE
)


class TemplateError(Exception):
    """A template that cannot be built. The text names the file and what to change."""


def build_templates(source: Path, target: Path) -> None:
    """Copy the folder `source` to `target`, with the CSS of every email inlined.

    An email is a folder with a `body.html`; web pages keep their style sheets. Raises
    TemplateError.
    """
    shutil.copytree(source, target, dirs_exist_ok=True)
    (target / "__init__.py").write_text('"""Built templates."""\n')
    for data in ("brand.json", "nouns.json"):
        try:
            json.loads((target / data).read_text())
        except ValueError as err:
            raise TemplateError(f"{source / data} is not JSON: {err}") from err
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
    from inlining each rendered email: CSS that counts siblings, or an attribute that Jinja makes.
    """
    for style in _STYLE.findall(template):
        _refuse_positional(_JINJA.sub("", style), name)
    preamble, separator, page = template.partition("<!DOCTYPE")
    masked, tags = _mask(separator + page, name)
    if found := _DYNAMIC_SELECTOR.search(masked):
        raise TemplateError(
            f"{name}: the attribute{_unmask(found[0], tags)} is computed, so its CSS cannot be "
            "inlined before rendering. Put the condition around the whole element."
        )
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
    for number, tag in enumerate(tags):
        if _WORD.format(number) not in inlined:
            raise TemplateError(f"{name}: {tag} was lost while the CSS was inlined.")
    return preamble + _unmask(inlined, tags) + "\n"


def _refuse_positional(style: str, name: str) -> None:
    for selector in _SELECTOR.findall(style):
        if found := _POSITIONAL.search(selector):
            raise TemplateError(
                f"{name}: the selector {selector.strip()!r} counts siblings ({found[0]!r}); loops "
                "change them, so it cannot be inlined before rendering. Use a class."
            )


def _mask(page: str, name: str) -> tuple[str, list[str]]:
    tags: list[str] = []
    pieces: list[str] = []
    end = 0
    for found in _JINJA.finditer(page):
        pieces.append(page[end : found.start()])
        before = "".join(pieces)
        element = before[before.rfind("<") :] if before.rfind("<") > before.rfind(">") else ""
        if element and not _is_in_quotes(element):
            raise TemplateError(
                f"{name}: {found[0]} stands among the attributes of {element.split()[0]}. "
                "Put it into a quoted value, or around the whole element."
            )
        word = _WORD.format(len(tags))
        is_word = element or found[0].startswith("{{") or _is_in_style(before)
        pieces.append(word if is_word else f"<!--{word}-->")
        tags.append(found[0])
        end = found.end()
    pieces.append(page[end:])
    return "".join(pieces), tags


def _is_in_quotes(element: str) -> bool:
    """True where `element`, cut off in the middle of its tag, ends inside a quoted value."""
    open_quote = ""
    for character in element:
        if open_quote:
            open_quote = "" if character == open_quote else open_quote
        elif character in "\"'":
            open_quote = character
    return bool(open_quote)


def _is_in_style(before: str) -> bool:
    lower = before.lower()
    return lower.rfind("<style") > lower.rfind("</style")


def _unmask(page: str, tags: list[str]) -> str:
    for number, tag in enumerate(tags):
        word = _WORD.format(number)
        page = page.replace(f"<!--{word}-->", tag).replace(word, tag)
    return page
