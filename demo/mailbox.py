"""The mailbox of the stand-in for SES, which can be opened while emails still arrive."""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from demo.invented import PICTURES_AT

_FOLDER = Path(__file__).parent / "data" / "pictures"
_PICTURE = re.compile(r"/pictures/([a-z0-9]{1,20}\.jpg)")

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Inbox</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; }}
main {{ margin: 2rem auto; max-width: 44rem; padding: 0 1rem; }}
ul {{ padding: 0; list-style: none; }}
li {{ padding: 0.5rem 0; border-bottom: 1px solid #8884; overflow-wrap: anywhere; }}
</style>
</head>
<body><main><h1>{number:,} emails</h1><ul>
{rows}
</ul></main></body>
</html>
"""


def inbox(emails: Sequence[tuple[str, str]]) -> str:
    """Return the page with all emails, latest first. `emails` contains recipients and subjects."""
    rows = "\n".join(
        f'<li>{escape(to)}<br><a href="/messages/{place}">{escape(subject)}</a></li>'
        for place, (to, subject) in reversed([*enumerate(emails)])
    )
    return _PAGE.format(number=len(emails), rows=rows)


def with_pictures(html: str) -> str:
    """Return the email's HTML with the pictures loaded from this server."""
    return html.replace(PICTURES_AT, "/pictures/")


def picture(path: str) -> bytes | None:
    """Return a picture of the demo, or None if `path` is not a picture."""
    match = _PICTURE.fullmatch(path)
    file = _FOLDER / match[1] if match else None
    return file.read_bytes() if file and file.is_file() else None
