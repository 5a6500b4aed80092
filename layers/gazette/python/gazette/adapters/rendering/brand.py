"""The content of `brand.json`: the service's name, address, colours and logo."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from gazette.domain.identity import CATEGORY_NAME
from gazette.domain.links import has_host, is_web_link
from gazette.domain.subscribers.addresses import ADDRESS

_COLOUR = re.compile(r"#[0-9a-f]{6}")
_LEAST_CONTRAST = 4.5
"""The minimum contrast of text (WCAG 2.2, success criterion 1.4.3, level AA).
https://www.w3.org/TR/WCAG22/#contrast-minimum"""

_DERIVED_CONTRAST = 7.0
"""The minimum contrast of a derived colour (WCAG 2.2, success criterion 1.4.6, level AAA), because
no designer has checked it. https://www.w3.org/TR/WCAG22/#contrast-enhanced"""

LIGHT, DARK = "#ffffff", "#111827"
"""The background colours of emails and pages in light and dark mode."""


_WIDEST_LOGO = 536
"""The maximum width of the logo in pixels. An email is at most 600 pixels wide, with a margin of 32
pixels on either side."""

NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""The pattern of line breaks, control characters, bidirectional controls and lone surrogates."""


class BrandError(ValueError):
    """An invalid brand file.

    `problems` has the field and the text of each problem. The text names the field and the remedy.
    The field is empty for a problem of the whole file.
    """

    def __init__(self, file: Path, problems: Sequence[tuple[str, str]]) -> None:
        super().__init__("\n".join(f"{file}: {text}" for _, text in problems))
        self.file = file
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """The content of `brand.json`."""

    name: str
    postal_address: str
    accent: str = "#1d4ed8"
    """The colour of the name, titles and buttons in light mode, as `#rrggbb`."""

    accent_dark: str = "#93c5fd"
    """The colour of the name, titles and buttons in dark mode, as `#rrggbb`. If the file has only
    `accent`, it is a lighter shade of `accent`."""

    logo: str = ""
    """The https address of an image of `logo_width` by `logo_height` pixels. If empty, emails show
    the name instead."""

    logo_dark: str = ""
    """The https address of the logo for dark mode, in the same size. May be empty."""

    logo_width: int = 120
    logo_height: int = 40
    home: str = ""
    """The URL of the service. May be empty."""

    help: str = ""
    """The URL of the service's help pages. May be empty."""

    person_in_from: bool = False
    """True if the sender of an immediate email is shown as `Bo Berg (Gazette)`, if one named person
    acted. The address stays the sender's."""

    reply_to: Mapping[str, str] = field(default_factory=dict)
    """The addresses for replies, by category. `*` is the address for all other categories."""

    def replies_to(self, categories: Collection[str]) -> str:
        """Return the address for replies to an email, or an empty text.

        If the categories of the email have different addresses, the result is the address of `*`.
        """
        others = self.reply_to.get("*", "")
        addresses = {self.reply_to.get(category, others) for category in categories}
        return addresses.pop() if len(addresses) == 1 else others


def read_brand(file: Path) -> Brand:
    """Read the brand from a file. Raise BrandError with all problems of the file."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as err:
        raise BrandError(file, [("", f"not JSON: {err}.")]) from err
    if not isinstance(content, dict):
        raise BrandError(file, [("", 'the file must be an object, such as {"name": "Shop"}.')])
    if problems := list(_problems(content)):
        raise BrandError(file, problems)
    if "accent" in content and "accent_dark" not in content:
        content["accent_dark"] = lightened(content["accent"])
    return Brand(**content)


def _problems(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the problems of a brand file, each with its field."""
    known = {each.name: each for each in fields(Brand)}
    sound: dict[str, Any] = {"name": "", "postal_address": ""}
    for name, value in content.items():
        if name not in known:
            yield name, f"unknown field {name!r}; allowed are {', '.join(known)}."
            continue
        expected = dict if name == "reply_to" else known[name].type
        if type(value) is expected:
            sound[name] = value
        else:
            yield name, f"{name} must be {_kind(expected)}."
    for name in ("name", "postal_address"):
        text = sound[name]
        if not text.strip() and (name not in content or type(content[name]) is str):
            yield name, f"{name} is missing. Every email shows this field."
        if NO_TEXT.search(text):
            yield name, f"{name} must be one line without control characters."
    yield from _problems_of_values(Brand(**sound), has_logo="logo" in content)


def _problems_of_values(brand: Brand, *, has_logo: bool) -> Iterator[tuple[str, str]]:
    for category, address in brand.reply_to.items():
        if category != "*" and not CATEGORY_NAME.fullmatch(category):
            yield "reply_to", f"reply_to: {category!r} is neither a category nor *."
        if not isinstance(address, str) or not ADDRESS.fullmatch(address):
            yield "reply_to", f"reply_to: the value of {category!r} must be an address."
    if brand.logo_dark and not has_logo:
        yield "logo_dark", "logo_dark requires logo, which is shown in light mode."
    for name in ("logo", "logo_dark", "home", "help"):
        link = str(getattr(brand, name))
        if link and not (link.startswith("https://") and is_web_link(link) and has_host(link)):
            yield name, f"{name} must be a web address that begins with https://."
    for name, pixels in (("logo_width", brand.logo_width), ("logo_height", brand.logo_height)):
        if not 1 <= pixels <= _WIDEST_LOGO:
            yield name, f"{name} must be 1 to {_WIDEST_LOGO} pixels."
    for name, colour, ground in (
        ("accent", brand.accent, LIGHT),
        ("accent_dark", brand.accent_dark, DARK),
    ):
        if not _COLOUR.fullmatch(colour):
            yield name, f"{name} must be like #1d4ed8, in lower case."
        elif (ratio := contrast(colour, ground)) < _LEAST_CONTRAST:
            yield (
                name,
                (
                    f"{name} has a contrast of {ratio:.1f} on {ground}; readable text needs "
                    f"{_LEAST_CONTRAST}. Choose a {_other_shade(ground)} shade."
                ),
            )


def contrast(colour: str, ground: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21.
    https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
    """
    lighter, darker = sorted((_luminance(colour), _luminance(ground)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def lightened(accent: str) -> str:
    """Return the shade of a colour for dark mode: the colour mixed with as little white as gives a
    contrast of `_DERIVED_CONTRAST` on the dark background.

    Mixing with white keeps the hue, so that the brand stays recognisable.
    """
    parts = [int(accent[at : at + 2], 16) for at in (1, 3, 5)]
    shades = (
        "#" + "".join(f"{part + (255 - part) * percent // 100:02x}" for part in parts)
        for percent in range(101)
    )
    return next(shade for shade in shades if contrast(shade, DARK) >= _DERIVED_CONTRAST)


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour.
    https://www.w3.org/TR/WCAG22/#dfn-relative-luminance
    """
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


def _other_shade(ground: str) -> str:
    return "darker" if ground == LIGHT else "lighter"


def _kind(field_type: object) -> str:
    kinds = {bool: "true or false", int: "a whole number", dict: "an object of addresses"}
    return kinds.get(cast("type", field_type), "a string")
