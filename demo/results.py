"""The output of the demo: every email as a file, an inbox page, and the figures."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from textwrap import shorten
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from demo import campus
from demo.audit import read
from demo.featured import featured
from demo.inbox import Row
from demo.invented import PICTURES_AT
from demo.ses import Accepted

_PICTURES = Path(__file__).parent / "data" / "pictures"
_SHOWN = 140
"""The maximum number of preheader characters that inboxes show."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the inbox. `due_at` is the due time of the email in its reader's time zone."""

    file: str
    reader: str
    subject: str
    preheader: str
    due_at: datetime


@dataclass(frozen=True, slots=True)
class Day:
    """The emails that were due on one date in their readers' time zones, in order."""

    title: str
    lines: tuple[Line, ...]


def real(days: float) -> str:
    """Return the title of a replay of the first `days`."""
    match days:
        case 1:
            return "One real day"
        case campus.DAYS:
            return "One real week"
        case _:
            return f"{days} real days"


def write(
    folder: Path,
    accepted: Sequence[Accepted],
    rows: Sequence[Row],
    due: Mapping[str, datetime],
    report: Mapping[str, float],
) -> None:
    """Write `emails/*.eml` and `*.html`, `pictures`, `index.html` and `report.json` to `folder`.

    `rows` contains the rows of `accepted`, in the same order. `due` contains the due time of each
    run.
    """
    emails = folder / "emails"
    shutil.rmtree(emails, ignore_errors=True)
    emails.mkdir(parents=True)
    shutil.copytree(_PICTURES, folder / "pictures", dirs_exist_ok=True)
    lines = []
    for number, (mail, row) in enumerate(zip(accepted, rows, strict=True), 1):
        file = f"{number:05d}-{mail.tags['run']}"
        (emails / f"{file}.eml").write_bytes(mail.message.as_bytes())
        html = mail.part("html").replace(PICTURES_AT, "../pictures/")
        (emails / f"{file}.html").write_text(html, encoding="utf-8")
        lines.append(_line(file, row, due[mail.tags["run"]]))
    best = featured(rows, [read(mail) for mail in accepted])
    (folder / "index.html").write_text(
        page(lines, [(each.why, lines[each.place]) for each in best], report), encoding="utf-8"
    )
    (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n")


def page(
    lines: Sequence[Line], best: Sequence[tuple[str, Line]], report: Mapping[str, float]
) -> str:
    """Return the inbox as HTML.

    The page has no scripts, and loads only its own emails and pictures.
    """
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return templates.get_template("inbox.html").render(
        days=[*_days(lines)],
        featured=best,
        shown=next((line for _, line in best), None),
        report=report,
        title=real(report["days"]),
        emails=len(lines),
        readers=len({line.reader for line in lines}),
    )


def _line(file: str, row: Row, due_at: datetime) -> Line:
    student = int(row.to.partition("@")[0].removeprefix("student"))
    local = due_at.astimezone(ZoneInfo(campus.zone(student)))
    preheader = shorten(row.preheader, _SHOWN, placeholder=" …")
    return Line(file, campus.name(student), row.subject, preheader, local)


def _days(lines: Sequence[Line]) -> Iterator[Day]:
    ordered = sorted(lines, key=lambda line: (line.due_at.date(), line.due_at))
    for date, some in groupby(ordered, key=lambda line: line.due_at.date()):
        yield Day(f"{date:%A, %-d %B}", tuple(some))
