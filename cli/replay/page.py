"""A replay as one page: what changes, and the most changed emails side by side.

It needs nothing else, loads nothing and runs nothing. The emails in it are in frames without any
rights, and their links lead nowhere.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from gazette.adapters.rendering.renderer import LONGEST_HTML
from gazette.domain.identity import run_id
from gazette.domain.replay import Change
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cli.replay import summary
from cli.replay.comparison import Compared, Comparison
from cli.replay.side_by_side import Fact, side_by_side
from cli.shared.answers import moment

_ROWS = 500
"""Emails that change less, and of which the page has a row each."""

_MEANINGS = {
    Change.FAILS: "can no longer be rendered",
    Change.SKIPPED: "have nothing left to show, and would not be sent",
    Change.EXCLUDED: "leave out an event that no template can show",
    Change.CUT: f"show fewer blocks, because their HTML would be above {LONGEST_HTML // 1000} KB",
    Change.MENDED: "could not be rendered before",
    Change.SUBJECT: "have another subject",
    Change.PREHEADER: "say something else behind the subject",
    Change.BLOCKS: "show other blocks",
    Change.ORDER: "show the same blocks in another order",
    Change.LINES: "have a block with other lines, or in another order",
    Change.TEXT: "differ in their text part",
    Change.HTML: "differ in their HTML part",
}


def page(
    comparison: Comparison,
    *,
    title: str,
    before: str,
    after: str,
    settings: Sequence[tuple[str, str, str]],
    notes: Sequence[str],
    made_at: datetime,
) -> str:
    """The page as HTML.

    `before`, `after`: what emails were rendered with. `settings`: of each that differs the name,
    and what it was and is.
    """
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found = summary.counts(comparison)
    others = comparison.changed[len(comparison.whole) :]
    return templates.get_template("page.html").render(
        title=title,
        made_at=moment(made_at),
        before=before,
        after=after,
        headline=summary.headline(comparison),
        tiles=[*_tiles(comparison)],
        changes=[(each.value, found[each], _MEANINGS[each]) for each in Change if found[each]],
        settings=[Fact(*each) for each in settings],
        problems=summary.problems(comparison),
        emails=[
            side_by_side(each, names_version=len(comparison.versions) > 1)
            for each in comparison.whole
        ],
        others=[_row(each) for each in others[:_ROWS]],
        more=max(0, len(others) - _ROWS),
        unchanged=len(comparison.emails) - len(comparison.changed),
        notes=notes,
    )


def _tiles(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Key figures: a name and a figure each."""
    found, sizes = summary.counts(comparison), summary.medians(comparison)
    yield "emails rendered again", f"{len(comparison.emails):,}"
    yield "change", f"{len(comparison.changed):,}"
    yield "fail", f"{found[Change.FAILS]:,}"
    yield "skipped", f"{found[Change.SKIPPED]:,}"
    yield "lose an event", f"{found[Change.EXCLUDED]:,}"
    yield f"larger than {LONGEST_HTML // 1000} KB", f"{found[Change.CUT]:,}"
    if comparison.emails:
        was, now = (summary.kilobytes(sizes[side]) for side in ("before", "after"))
        yield "median size of the HTML", f"{was} → {now}"


def _row(each: Compared) -> tuple[str, str, str, str, str]:
    was, now = each.before, each.after
    return (
        run_id(each.run.key),
        ", ".join(summary.names(each)),
        was.subject,
        now.subject,
        f"{summary.kilobytes(was.html_bytes)} → {summary.kilobytes(now.html_bytes)}",
    )
