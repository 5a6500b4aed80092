"""The folder that a preview is: one page, and beside it the email as it is and as it is forced."""

import re
from html import escape
from pathlib import Path
from typing import NamedTuple

from gazette.domain.model import Edition

INDEX = "index.html"
_CLIPPED = 102_000
"""Bytes of HTML after which Gmail shows no more."""

_QUERY = re.compile(r"\(\s*prefers-color-scheme\s*:\s*(dark|light)\s*\)", re.IGNORECASE)
_SCHEMES = re.compile(
    r"(<meta\s+name=\"(?:supported-)?color-schemes?\"\s+content=\")[^\"]*", re.IGNORECASE
)


class _Frame(NamedTuple):
    title: str
    file: str
    width: int


_FRAMES = (
    _Frame("Light", "light.html", 680),
    _Frame("Dark", "dark.html", 680),
    _Frame("Light, on a phone", "light.html", 320),
    _Frame("Dark, on a phone", "dark.html", 320),
)

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{subject}</title>
<style>
body {{ margin: 2rem; font: 16px/1.5 system-ui, sans-serif; color: #111827; background: #ffffff; }}
h1 {{ font-size: 1.4rem; }}
h2 {{ font-size: 1rem; margin: 0 0 0.5rem 0; }}
.row {{ display: flex; flex-wrap: wrap; gap: 2rem; align-items: flex-start; }}
iframe {{ display: block; height: 900px; max-width: 100%; border: 1px solid #6b7280; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; max-width: 80ch; }}
</style>
</head>
<body>
<main>
<h1 dir="auto">{subject}</h1>
<p>{sizes}</p>
<div class="row">
{frames}
</div>
<h2>Text</h2>
<pre dir="auto">{text}</pre>
</main>
</body>
</html>
"""


def write(edition: Edition, folder: Path) -> Path:
    """Write it all, and return the page to open."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "email.html": edition.html,
        "email.txt": edition.text,
        "light.html": forced(edition.html, "light"),
        "dark.html": forced(edition.html, "dark"),
        INDEX: _page(edition),
    }
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8", newline="")
    return folder / INDEX


def forced(html: str, scheme: str) -> str:
    """The email as it looks in `scheme`, whatever the browser's own: media queries say so."""
    queries = _QUERY.sub(lambda found: "all" if found[1].lower() == scheme else "not all", html)
    return _SCHEMES.sub(lambda found: f"{found[1]}{scheme}", queries)


def sizes(edition: Edition) -> str:
    """In bytes, and what part of what Gmail shows that is."""
    html, text = (len(part.encode()) for part in (edition.html, edition.text))
    return (
        f"HTML {html:,} bytes ({html / _CLIPPED:.0%} of what Gmail shows), text {text:,} bytes, "
        f"subject {len(edition.subject)} characters"
    )


def _page(edition: Edition) -> str:
    frames = "\n".join(
        f'<section><h2>{frame.title}</h2>\n<iframe sandbox title="{frame.title}" '
        f'src="{frame.file}" width="{frame.width}"></iframe></section>'
        for frame in _FRAMES
    )
    return _PAGE.format(
        subject=escape(edition.subject),
        sizes=escape(sizes(edition)),
        frames=frames,
        text=escape(edition.text),
    )
