"""Texts of emails differ from their background, as SpamAssassin reads their colours.

SpamAssassin 4.0.1 adds 0.7 points to an email with one text that does not, even if the text is
hidden (`html_font_invisible` of Mail::SpamAssassin::HTML). It reads backgrounds from `style` only,
and none of `body`, which it takes for white. `make spam` runs the program itself.
"""

import re
from collections.abc import Iterator

import lxml.html
import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.compose import compose
from lxml.html import HtmlElement

from gazette_cli.preview.content import Kind, sample
from tests.builders import LINKS, a_subscriber

_LEAST = 12.0
"""The least distance of a text's colour from its background."""

_COLOUR = re.compile(r"(?:^|;)\s*color:\s*([^;]+)")
_GROUND = re.compile(r"(?:^|;)\s*background-color:\s*([^;]+)")


def parts(colour: str) -> tuple[int, int, int]:
    digits = colour.strip().removeprefix("#")
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    red, green, blue = (int(digits[place : place + 2], 16) for place in (0, 2, 4))
    return red, green, blue


def distance(colour: str, ground: str) -> float:
    """Return the distance that SpamAssassin computes: of the parts, weighted by brightness."""
    apart = zip((0.2126, 0.7152, 0.0722), parts(colour), parts(ground), strict=True)
    return float(sum((weight * (one - other)) ** 2 for weight, one, other in apart) ** 0.5)


def low_contrasts(html: str, ground: str) -> Iterator[tuple[str, str, str]]:
    """Yield each text whose colour is too near its background, with both colours.

    `ground` is the background of the body.
    """
    body = lxml.html.document_fromstring(html).find("body")
    yield from _within(body, "#000000", ground)


def _within(element: HtmlElement, colour: str, ground: str) -> Iterator[tuple[str, str, str]]:
    style = element.get("style", "")
    if found := _COLOUR.search(style):
        colour = found[1]
    if element.tag != "body" and (found := _GROUND.search(style)):
        ground = found[1]
    words = (element.text or "", *(inner.tail or "" for inner in element))
    text = " ".join(words).strip()
    if text and distance(colour, ground) < _LEAST:
        yield text, colour, ground
    for inner in element:
        if isinstance(inner.tag, str):
            yield from _within(inner, colour, ground)


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("ground", ["#ffffff", "#f3f4f6"])
def test_no_text_is_almost_as_bright_as_its_background(
    renderer: JinjaRenderer, kind: Kind, ground: str
) -> None:
    content = sample(kind)
    digest = compose(content.events, max_blocks=10)
    made = renderer.render(digest, a_subscriber(), LINKS, content.schedule)
    assert list(low_contrasts(made.html, ground)) == []


@pytest.mark.parametrize(
    ("colour", "low"), [("#f3f4f6", True), ("#fff", True), ("#e6e6e6", True), ("#e2e3e5", False)]
)
def test_text_of_almost_the_same_brightness_is_found(colour: str, low: bool) -> None:
    page = f'<body><div style="color: {colour}; display: none">Text</div></body>'
    assert bool(list(low_contrasts(page, "#f3f4f6"))) is low
