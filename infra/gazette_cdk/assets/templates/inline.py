"""Inlining of CSS into the templates at build time.

Inlining the CSS of an email with 35 groups takes Premailer about 35 times as long as Jinja2 takes
to render the email, and 11 times as long as our own rendering without a cache
(benchmarks/rendering.py). Premailer therefore runs once per template instead of once per email.

Jinja tags are masked before the CSS is inlined, and restored afterwards. Between elements, a Jinja
tag is replaced with an HTML comment, because parsers do not move comments out of tables. Inside an
HTML tag, the Jinja tag is replaced with a word.
"""

import re

from premailer import Premailer

_JINJA = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
_WORD = "jinja{}mask"
_POSITIONAL = re.compile(r":(?:first|last|nth|only)-|[+~]")
_SELECTOR = re.compile(r"(?:^|[{}])\s*([^{}@]+)(?=\{)")
_STYLE = re.compile(r"<style\b[^>]*>(.*?)</style>", re.DOTALL | re.IGNORECASE)
_BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL)
_DYNAMIC_SELECTOR = re.compile(
    r"\s(?:class|id)\s*=\s*(?:\"[^\"]*jinja\d+mask[^\"]*\"|'[^']*jinja\d+mask[^']*')", re.IGNORECASE
)


class TemplateError(Exception):
    """An error in a template that cannot be built.

    The message names the file and the change to make.
    """


def inline_part(part: str, css: str, *, name: str) -> str:
    """Inline CSS into a template that contains only part of a page."""
    page = inline(
        f"<!DOCTYPE html>\n<html><head><style>{css}</style></head><body>{part}</body></html>",
        name=name,
    )
    body = _BODY.search(page)
    if body is None:
        raise TemplateError(
            f"{name}: must contain only the content of <body>, without <body> itself."
        )
    return body[1].strip() + "\n"


def inline(template: str, *, name: str) -> str:
    """Inline CSS into the template of a whole page.

    Raise TemplateError if the result could differ from inlining each rendered email, because the
    CSS counts siblings or Jinja computes an attribute.
    """
    for style in _STYLE.findall(template):
        _refuse_positional(_JINJA.sub("", style), name)
    preamble, separator, page = template.partition("<!DOCTYPE")
    masked, tags = _mask(separator + page, name)
    if match := _DYNAMIC_SELECTOR.search(masked):
        raise TemplateError(
            f"{name}: the attribute{_unmask(match[0], tags)} is computed, so its CSS cannot be "
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
    styles = "".join(_STYLE.findall(masked))
    for number, tag in enumerate(tags):
        word = _WORD.format(number)
        if f"&lt;!--{word}--" in inlined:
            raise TemplateError(
                f"{name}: {tag} is in a place where only text is allowed. Use {{{{ … }}}}."
            )
        if word not in inlined and word not in styles:
            raise TemplateError(f"{name}: {tag} was lost while the CSS was inlined.")
    return preamble + _unmask(inlined, tags) + "\n"


def _refuse_positional(style: str, name: str) -> None:
    for selector in _SELECTOR.findall(style):
        if match := _POSITIONAL.search(selector):
            raise TemplateError(
                f"{name}: the selector {selector.strip()!r} counts siblings ({match[0]!r}). Loops "
                "change their number, so it cannot be inlined before rendering. Use a class."
            )


def _mask(page: str, name: str) -> tuple[str, list[str]]:
    tags: list[str] = []
    pieces: list[str] = []
    end = 0
    for tag in _JINJA.finditer(page):
        pieces.append(page[end : tag.start()])
        before = "".join(pieces)
        element = before[before.rfind("<") :] if before.rfind("<") > before.rfind(">") else ""
        if element and not _is_in_quotes(element):
            raise TemplateError(
                f"{name}: {tag[0]} is among the attributes of {element.split()[0]}. "
                "Put it into a quoted value, or around the whole element."
            )
        word = _WORD.format(len(tags))
        is_word = element or tag[0].startswith("{{") or _is_in_style(before)
        pieces.append(word if is_word else f"<!--{word}-->")
        tags.append(tag[0])
        end = tag.end()
    pieces.append(page[end:])
    return "".join(pieces), tags


def _is_in_quotes(element: str) -> bool:
    """Return True if `element`, an incomplete HTML tag, ends inside a quoted value."""
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
