"""The row of an email in a list: who sent it, its subject, and what follows in grey."""

from collections.abc import Sequence
from html import escape

from gazette.domain.model import Edition

from gazette_cli.preview.inbox_row import after_subject

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Inbox</title>
<style>
body {{ margin: 0; font: 14px/20px Roboto, Helvetica, Arial, sans-serif; color: #202124; }}
ul {{ margin: 0; padding: 0; list-style: none; }}
li {{ display: flex; gap: 16px; padding: 10px 16px; border-bottom: 1px solid #e5e7eb; }}
li, p, span {{ white-space: nowrap; }}
b {{ flex: 0 0 96px; }}
p {{ flex: 1; margin: 0; overflow: hidden; text-overflow: ellipsis; color: #5f6368; }}
p span {{ font-weight: bold; color: #202124; }}
@media (max-width: 480px) {{
  li {{ display: block; padding: 12px 16px; }}
  p span {{ display: block; overflow: hidden; text-overflow: ellipsis; }}
}}
</style>
</head>
<body>
<main>
<ul>
{rows}
</ul>
</main>
</body>
</html>
"""


def inbox(sender: str, editions: Sequence[Edition]) -> str:
    """A page with a row for each email."""
    rows = "\n".join(
        f'<li><b>{escape(sender)}</b><p dir="auto"><span dir="auto">{escape(each.subject)}</span> '
        f"{escape(after_subject(each.html))}</p></li>"
        for each in editions
    )
    return _PAGE.format(rows=rows)
