"""Write the folder of a preview: a page, and the email as different mail programs show it."""

import re
from dataclasses import dataclass
from pathlib import Path

from gazette.domain.model import Edition
from gazette.domain.window.naming import direction_of
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gazette_cli.preview.inbox_row import inbox_row
from gazette_cli.preview.programs import as_in_word, without_images

INDEX = "index.html"
_CLIPPED = 102_000
"""The size of the HTML part in bytes above which Gmail clips an email."""

_QUERY = re.compile(r"\(\s*prefers-color-scheme\s*:\s*(dark|light)\s*\)", re.IGNORECASE)
_RIGHT_TO_LEFT = re.compile(r"<html\b[^>]*\bdir=\"rtl\"", re.IGNORECASE)
_SCHEMES = re.compile(
    r"(<meta\s+name=\"(?:supported-)?color-schemes?\"\s+content=\")[^\"]*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Frame:
    title: str
    width: int
    is_phone: bool = False


_FRAMES = (_Frame("wide, 620 px", 620), _Frame("on a phone, 360 px", 360, is_phone=True))


@dataclass(frozen=True, slots=True)
class _Scheme:
    title: str
    file: str
    frames: tuple[_Frame, ...] = _FRAMES
    hint: str = ""


_SHOWN = (
    _Scheme("Light", "light.html"),
    _Scheme("Dark", "dark.html"),
    _Scheme("Images blocked", "no-images.html"),
    _Scheme(
        "Like Outlook for Windows",
        "outlook.html",
        _FRAMES[:1],
        "An approximation: this browser, with only the CSS that Word applies. Word also has "
        "its own spacing, fonts and widths.",
    ),
)


def write(edition: Edition, folder: Path, *, sender: str) -> Path:
    """Write the folder, and return the page to open. `sender` is the sender's display name."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "email.html": edition.html,
        "email.txt": edition.text,
        "light.html": forced(edition.html, "light"),
        "dark.html": forced(edition.html, "dark"),
        "no-images.html": without_images(forced(edition.html, "light")),
        "outlook.html": as_in_word(forced(edition.html, "light")),
        INDEX: _page(edition, sender),
    }
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8", newline="")
    return folder / INDEX


def forced(html: str, scheme: str) -> str:
    """Force the color scheme `light` or `dark` by replacing the media queries of an email."""
    queries = _QUERY.sub(lambda match: "all" if match[1].lower() == scheme else "not all", html)
    return _SCHEMES.sub(lambda match: f"{match[1]}{scheme}", queries)


def sizes(edition: Edition) -> str:
    """Describe the sizes of an email, and the share of Gmail's limit that the HTML uses."""
    html, text = (len(part.encode()) for part in (edition.html, edition.text))
    return (
        f"HTML {html:,} bytes ({html / _CLIPPED:.0%} of Gmail's limit), text {text:,} bytes, "
        f"subject {len(edition.subject)} characters"
    )


def _page(edition: Edition, sender: str) -> str:
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    direction = "rtl" if _RIGHT_TO_LEFT.search(edition.html) else "ltr"
    return templates.get_template("page.html").render(
        row=inbox_row(edition, sender),
        sizes=sizes(edition),
        frames=_SHOWN,
        text=edition.text,
        direction=direction,
        direction_of=lambda text: direction_of(text, direction),
    )
