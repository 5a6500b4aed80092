"""Finds the HTML and CSS that an email uses, in the words of caniemail.com."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import cssselect
import cssutils
import lxml.html
from cssselect import parser as selectors

UNTOLD = "untold"
"""Begins the name of what caniemail.com has no page for, and nobody has named in `_PLAIN`."""

_PLAIN = {
    *("<html>", "<head>", "<meta>", "<title>", "<tbody>", "<tr>", "<td>", "<a>", "<br>"),
    *("charset", "name", "content", "class", "id", "style", "href", "src", "alt", "border"),
    *("bgcolor", "align", "ses:no-track"),
    *("color:", "font-family:", "font-style:"),
}
"""What every mail program knows, and what only one of them reads (`mso-…`, without a page too)."""

_ELEMENTS = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "html-h1-h6"),
    **dict.fromkeys(("ul", "ol", "li", "dl", "dt", "dd"), "html-lists"),
    **dict.fromkeys(
        ("article", "aside", "details", "figure", "figcaption", "footer", "header", "main"),
        "html-semantics",
    ),
    **dict.fromkeys(("mark", "nav", "section", "summary", "time"), "html-semantics"),
    "b": "html-strong",
    "source": "html-picture",
}
_PROPERTIES = (
    (re.compile(r"border(-(top|right|bottom|left))?(-(color|width|style))?"), "css-border"),
    (re.compile(r"(margin|padding)-(top|right|bottom|left)"), r"css-\1"),
    (re.compile(r"(left|right|top|bottom)"), "css-left-right-top-bottom"),
)
_DISPLAYS = {"none": "css-display-none", "flex": "css-display-flex", "grid": "css-display-grid"}
_FUNCTIONS = {"var": "css-variables", "calc": "css-unit-calc", "rgb": "css-rgb", "rgba": "css-rgba"}
_FAMILIES = {"system-ui", "ui-serif", "ui-sans-serif", "ui-rounded", "ui-monospace"}
_COMBINATORS = {
    " ": "css-selector-descendant",
    ">": "css-selector-child",
    "+": "css-selector-adjacent-sibling",
    "~": "css-selector-general-sibling",
}


class Use(NamedTuple):
    """A feature, the element that it is used on (`style`: a style sheet), and with which value.

    A mail program that lacks one of `needs` passes the rule over, with all that is in it.
    """

    feature: str
    on: str
    value: str = ""
    needs: frozenset[str] = frozenset()


def uses(html: str, known: frozenset[str]) -> Iterator[Use]:
    """All that an email uses; `known` has the names that caniemail.com has pages for."""
    page = lxml.html.document_fromstring(html)
    if page.getroottree().docinfo.doctype:
        yield Use("html-doctype", "html")
    for tag, attributes, text in {*map(_parts, page.iter())}:
        if tag is lxml.etree.Comment:
            yield Use("html-comments", "html")
        elif isinstance(tag, str):
            yield from _of_element(tag, attributes, known)
            if tag == "style":
                yield from _of_sheet(text, known)


def _parts(element: Any) -> tuple[Any, tuple[tuple[str, str], ...], str]:
    """What is the same of most elements: there are a few kinds of them, in thousands of emails."""
    text = (element.text or "") if element.tag == "style" else ""
    return element.tag, tuple(element.attrib.items()), text


@cache
def _of_element(
    tag: str, attributes: tuple[tuple[str, str], ...], known: frozenset[str]
) -> frozenset[Use]:
    return frozenset(_uses_of_element(tag, attributes, known))


def _uses_of_element(
    tag: str, attributes: tuple[tuple[str, str], ...], known: frozenset[str]
) -> Iterator[Use]:
    yield Use(_named(_ELEMENTS.get(tag, f"html-{tag}"), f"<{tag}>", known), tag)
    if tag == "meta" and ("name", "color-scheme") in attributes:
        yield Use("html-meta-color-scheme", tag)
    for name, value in attributes:
        if name == "style":
            for each, said in _of_declarations(_declared(value), known):
                yield Use(each, tag, said)
        else:
            slug = "html-loading-attribute" if name == "loading" else f"html-{name}"
            yield Use(_named(slug, name, known), tag, value)
        if name in {"src", "srcset"}:
            yield Use(_image(value), tag)
        elif name == "href" and value.startswith(("#", "mailto:")):
            yield Use("html-anchor-links" if value[0] == "#" else "html-mailto-links", tag)


@cache
def _of_sheet(css: str, known: frozenset[str]) -> frozenset[Use]:
    rules = cssutils.parseString(css, validate=False).cssRules
    return frozenset(_of_rules(rules, known, frozenset()))


def _of_rules(rules: Any, known: frozenset[str], needs: frozenset[str]) -> Iterator[Use]:
    for rule in rules:
        if rule.type == rule.COMMENT:
            yield Use("css-comments", "style", needs=needs)
        elif rule.type == rule.MEDIA_RULE:
            asked = {"css-at-media", *_asked(rule.media.mediaText, known)}
            for each in asked:
                yield Use(each, "style", rule.media.mediaText, needs)
            yield from _of_rules(rule.cssRules, known, needs | asked)
        elif rule.type == rule.STYLE_RULE:
            chosen = set(_of_selectors(rule.selectorText, known))
            for each in chosen:
                yield Use(each, "style", rule.selectorText, needs)
            for each, said in _of_declarations(rule.style, known):
                yield Use(each, "style", said, needs | chosen)
        else:
            name = rule.cssText.split()[0].lstrip("@").rstrip("{;")
            yield Use(_named(f"css-at-{name}", f"@{name}", known), "style", needs=needs)


def _asked(media: str, known: frozenset[str]) -> Iterator[str]:
    """The pages about single media features; those about sizes are in that of `@media`."""
    for feature in re.findall(r"\(\s*([a-z-]+)", media):
        name = re.sub(r"^-webkit-|^(?:min|max)-", "", feature)
        if name not in {"width", "height"}:
            yield _named(f"css-at-media-{name}", f"@media ({feature})", known)


def _of_selectors(text: str, known: frozenset[str]) -> Iterator[str]:
    trees = cssselect.parse(text)
    if len(trees) > 1:
        yield "css-selector-grouping"
    for tree in trees:
        if tree.pseudo_element:
            name = f"css-pseudo-element-{tree.pseudo_element}"
            yield _named(name, f"::{tree.pseudo_element}", known)
        yield from _of_selector(tree.parsed_tree, known)


def _of_selector(tree: Any, known: frozenset[str]) -> Iterator[str]:
    if isinstance(tree, selectors.Element):
        yield "css-selector-type" if tree.element else "css-selector-universal"
        return
    inner = tree.selector
    if isinstance(tree, selectors.CombinedSelector):
        yield _COMBINATORS[tree.combinator]
        yield from _of_selector(tree.subselector, known)
    elif isinstance(tree, selectors.Pseudo | selectors.Function):
        name = tree.ident if isinstance(tree, selectors.Pseudo) else tree.name
        yield _named(f"css-pseudo-class-{name}", f":{name}", known)
    else:
        kinds = {selectors.Class: "class", selectors.Hash: "id", selectors.Attrib: "attribute"}
        yield f"css-selector-{kinds[type(tree)]}"
        if not isinstance(inner, selectors.Element):
            yield "css-selector-chaining"
    if isinstance(inner, selectors.Element) and inner.element is None:
        return  # `.a` is `*.a` to the parser
    yield from _of_selector(inner, known)


@cache
def _declared(style: str) -> Any:
    """A style attribute. Most stand on several kinds of elements, and the parser takes its time."""
    return cssutils.parseStyle(style, validate=False)


def _of_declarations(style: Any, known: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Features of declarations, each with the value of its declaration."""
    for declared in style:
        name, value = declared.name, declared.value
        if name == "display":
            yield _DISPLAYS.get(value.removeprefix("inline-"), "css-display"), value
        elif not name.startswith("mso-"):
            yield _named(_property(name), f"{name}:", known), value
        if declared.priority:
            yield "css-important", declared.cssText
        for part in declared.propertyValue:
            for each in _of_value(part, known):
                yield each, value


def _property(name: str) -> str:
    for pattern, slug in _PROPERTIES:
        if found := pattern.fullmatch(name):
            return found.expand(slug)
    return f"css-{name}"


def _of_value(part: Any, known: frozenset[str]) -> Iterator[str]:
    if unit := getattr(part, "dimension", None):
        yield _named("css-unit-percent" if unit == "%" else f"css-unit-{unit}", unit, known)
    elif part.type == "URI":
        yield _image(part.uri)
    elif "(" in part.cssText:
        name = part.cssText.partition("(")[0]
        fallback = f"css-function-{name}" if f"css-function-{name}" in known else f"css-{name}"
        yield _named(_FUNCTIONS.get(name, fallback), f"{name}()", known)
    elif part.value == "initial":
        yield "css-unit-initial"
    elif part.value in _FAMILIES:
        yield "css-sytem-ui"


def _image(address: str) -> str:
    ending = PurePosixPath(urlsplit(address).path).suffix.lower().lstrip(".")
    return "image-base64" if address.startswith("data:") else f"image-{ending or 'png'}"


def _named(slug: str, said: str, known: frozenset[str]) -> str:
    if slug in known:
        return slug
    return "" if said in _PLAIN else f"{UNTOLD} {said}"
