"""What the demo leaves behind: every email as a file, an index, and the figures."""

import html
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from demo.ses import Accepted

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;"
    "color-scheme:light dark}table{border-collapse:collapse;width:100%}"
    "td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #8884}"
)


def write(folder: Path, accepted: Sequence[Accepted], report: Mapping[str, float]) -> None:
    """`emails/*.eml` and `*.html`, `index.html` and `report.json` in `folder`."""
    emails = folder / "emails"
    shutil.rmtree(emails, ignore_errors=True)
    emails.mkdir(parents=True)
    rows = []
    for number, mail in enumerate(accepted, 1):
        stem = f"{number:05d}-{mail.tags['run']}"
        (emails / f"{stem}.eml").write_bytes(mail.message.as_bytes())
        (emails / f"{stem}.html").write_text(mail.part("html"), encoding="utf-8")
        rows.append(
            f'<tr><td>{html.escape(mail.to)}</td><td><a href="emails/{stem}.html">'
            f"{html.escape(str(mail.message['Subject']))}</a></td>"
            f'<td><a href="emails/{stem}.eml">.eml</a></td></tr>'
        )
    figures = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{value}</td></tr>" for name, value in report.items()
    )
    (folder / "index.html").write_text(
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>Gazette demo</title><style>{_STYLE}</style></head><body><h1>Gazette demo</h1>"
        "<p>The messages that 1,899 students sent each other from 21 to 27 May 2004, "
        "replayed as if that week began today; names are invented. A digest goes out when "
        "something happened since the reader's last email.</p>"
        f"<table>{figures}</table><h2>{len(accepted)} emails</h2>"
        "<table><tr><th>To</th><th>Subject</th><th>Source</th></tr>"
        f"{''.join(rows)}</table></body></html>",
        encoding="utf-8",
    )
    (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n")
