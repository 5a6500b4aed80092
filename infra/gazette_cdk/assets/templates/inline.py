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

from gazette_cdk.assets.templates.faults import Fault, Faults, TemplateError, fault, line_of

_JINJA = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
_WORD = "jinja{}mask"
_POSITIONAL = re.compile(r":(?:first|last|nth|only)-|[+~]")
_SELECTOR = re.compile(r"(?:^|[{}])\s*([^{}@]+)(?=\{)")
_STYLE = re.compile(r"<style\b[^>]*>(.*?)</style>", re.DOTALL | re.IGNORECASE)
_BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL)
_DYNAMIC_SELECTOR = re.compile(
    r"\s(?:class|id)\s*=\s*(?:\"[^\"]*jinja\d+mask[^\"]*\"|'[^']*jinja\d+mask[^']*')", re.IGNORECASE
)


def inline_part(part: str, css: str, *, name: str) -> str:
    """Inline CSS into a template that contains only part of a page."""
    page = inline(
        f"<!DOCTYPE html>\n<html><head><style>{css}</style></head><body>{part}</body></html>",
        name=name,
    )
    body = _BODY.search(page)
    if body is None:
        raise fault(
            name,
            "must contain only the content of <body>, without <body> itself.",
            line=line_of(part, "<body"),
        )
    return body[1].strip() + "\n"


def inline(template: str, *, name: str) -> str:
    """Inline CSS into the template of a whole page.

    Raise TemplateError if the result could differ from inlining each rendered email, because the
    CSS counts siblings or Jinja computes an attribute.
    """
    check_inlining(template, name=name)
    preamble, separator, page = template.partition("<!DOCTYPE")
    masked, tags, _ = _mask(separator + page)
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
    faults = Faults()
    for number, tag in enumerate(tags):
        word = _WORD.format(number)
        with faults.collecting():
            if f"&lt;!--{word}--" in inlined:
                problem = "is in a place where only text is allowed. Use {{ … }}."
                raise misplaced(name, tag, problem, template)
            if word not in inlined and word not in styles:
                raise misplaced(name, tag, "was lost while the CSS was inlined.", template)
    faults.raise_all()
    return preamble + _unmask(inlined, tags) + "\n"


def misplaced(name: str, tag: str, problem: str, template: str) -> TemplateError:
    """Return the error for a Jinja tag, with the line of its first occurrence."""
    return fault(name, f"{tag} {problem}", line=line_of(template, tag))


def check_inlining(template: str, *, name: str) -> None:
    """Raise TemplateError with everything in a template that prevents inlining its CSS."""
    faults = Faults()
    for style in _STYLE.finditer(template):
        with faults.collecting():
            check_selectors(style[1], name=name, line=_line(template, style.start(1)))
    start_of_page = max(template.find("<!DOCTYPE"), 0)  # parts of pages have no DOCTYPE
    page = template[start_of_page:]
    masked, tags, among_attributes = _mask(page)
    first = _line(template, start_of_page)
    for start, problem in among_attributes:
        line = first + _line(page, start) - 1
        faults.items.append(Fault(name, line, problem))
    for match in _DYNAMIC_SELECTOR.finditer(masked):
        before = _unmask(masked[: match.end()], tags)
        text = (
            f"the attribute{_unmask(match[0], tags)} is computed, so its CSS cannot be inlined "
            "before rendering. Put the condition around the whole element."
        )
        faults.items.append(Fault(name, first + _line(before, len(before)) - 1, text))
    faults.raise_all()


def check_selectors(css: str, *, name: str, line: int = 1) -> None:
    """Raise TemplateError with the selectors that count siblings. `line` is the first line of the
    CSS.
    """
    # Replace tags and comments with as many lines, so that later lines keep their numbers.
    bare = _JINJA.sub(lambda tag: "\n" * tag[0].count("\n"), css)
    faults = [
        Fault(
            name,
            line + _line(bare, selector.start(1)) - 1,
            f"the selector {selector[1].strip()!r} counts siblings ({match[0]!r}). Loops change "
            "their number, so it cannot be inlined before rendering. Use a class.",
        )
        for selector in _SELECTOR.finditer(bare)
        if (match := _POSITIONAL.search(selector[1]))
    ]
    if faults:
        raise TemplateError(*faults)


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _mask(page: str) -> tuple[str, list[str], list[tuple[int, str]]]:
    """Return the page with masked tags, the tags, and the position and problem of each tag that is
    among the attributes of an element.
    """
    tags: list[str] = []
    pieces: list[str] = []
    problems: list[tuple[int, str]] = []
    end = 0
    for tag in _JINJA.finditer(page):
        pieces.append(page[end : tag.start()])
        before = "".join(pieces)
        element = before[before.rfind("<") :] if before.rfind("<") > before.rfind(">") else ""
        if element and not _is_in_quotes(element):
            text = (
                f"{tag[0]} is among the attributes of {element.split()[0]}. Put it into a quoted "
                "value, or around the whole element."
            )
            problems.append((tag.start(), text))
        word = _WORD.format(len(tags))
        is_word = element or tag[0].startswith("{{") or _is_in_style(before)
        pieces.append(word if is_word else f"<!--{word}-->")
        tags.append(tag[0])
        end = tag.end()
    pieces.append(page[end:])
    return "".join(pieces), tags, problems


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
