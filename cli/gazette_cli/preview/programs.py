"""An email as some mail programs show it: without its images, or with the CSS of Word."""

import re

from lxml import etree
from lxml import html as parser
from lxml.etree import ParserError

_NO_IMAGES = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)
_HEAD = re.compile(r"<head\b[^>]*>", re.IGNORECASE)

_FOR_OTHERS = re.compile(r"<!--\[if !mso\]><!-->.*?<!--<!\[endif\]-->", re.DOTALL)
_FOR_WORD = re.compile(r"<!--\[if mso\]>(.*?)<!\[endif\]-->", re.DOTALL)
_DECLARATION = re.compile(r"([\w-]+)\s*:\s*((?:\"[^\"]*\"|'[^']*'|\([^)]*\)|[^;\"'(])*)")

_EVERYWHERE = frozenset(
    """background background-color border border-collapse border-color border-style border-width
    color font font-family font-size font-style font-weight letter-spacing line-height text-align
    text-decoration text-transform vertical-align""".split()
)
"""The properties that Word applies to all elements.

https://www.hteumeuleu.com/2020/outlook-rendering-engine/, without those that
https://www.caniemail.com/ lists as unsupported."""

_ON_BLOCKS = re.compile(r"text-indent|margin(-(top|right|bottom|left))?")
"""The further properties that Word applies to all elements but those of `_INLINE`."""

_ON_OTHERS = re.compile(
    r"width|height|list-style-type|padding(-(top|right|bottom|left))?"
    r"|border-(top|right|bottom|left)(-(color|style|width))?"
)
"""The further properties that Word applies to tables, cells, headings, lists and images."""

_INLINE = frozenset(("body", "span", "a", "b", "i", "em", "strong", "small"))
_PARAGRAPHS = frozenset(("div", "p"))


def without_images(html: str) -> str:
    """Return an email whose images a browser does not load, so that it shows their texts."""
    return _HEAD.sub(lambda head: head[0] + _NO_IMAGES, html, count=1)


def as_in_word(html: str) -> str:
    """Return an email with only the CSS that Outlook for Windows applies, which renders with Word.

    Style sheets are omitted, because Gazette inlines all rules that Word supports. The parts for
    Outlook in conditional comments are shown.
    """
    source = _FOR_WORD.sub(lambda part: part[1], _FOR_OTHERS.sub("", html))
    try:
        document = parser.document_fromstring(source)
    except ParserError:  # the document has no element
        return source
    for style in [*document.iter("style", "xml")]:
        style.drop_tree()
    for element in document.iter(etree.Element):
        style = element.attrib.pop("style", None)
        if style is not None and (applied := _applied(element.tag, style)):
            element.set("style", applied)
    return f"<!DOCTYPE html>\n{parser.tostring(document, encoding='unicode')}"


def _applied(tag: str, style: str) -> str:
    """Return the declarations that Word applies to an element."""
    return "; ".join(
        f"{name}: {value.strip()}"
        for name, value in _DECLARATION.findall(style)
        if _is_applied(tag, name.lower(), value.lower())
    )


def _is_applied(tag: str, name: str, value: str) -> bool:
    if name == "display":
        return value.strip().startswith("none")
    if "url(" in value or "gradient(" in value or "auto" in value.split():
        return False
    if name in _EVERYWHERE:
        return True
    if tag in _INLINE:
        return False
    return bool(_ON_BLOCKS.fullmatch(name)) or (
        tag not in _PARAGRAPHS and bool(_ON_OTHERS.fullmatch(name))
    )
