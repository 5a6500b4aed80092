"""The page of a replay, with all changes and a side-by-side view of the most changed emails.

The page has no external resources and no scripts. Emails are shown in sandboxed frames, and their
links are placeholders.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from gazette.adapters.console.style import Tone
from gazette.adapters.rendering.renderer import LONGEST_HTML
from gazette.domain.identity import run_id
from gazette.domain.scheduling.instants import moment
from gazette.domain.window.naming import LTR, direction_of

from gazette_cli.replay import summary
from gazette_cli.replay.comparison import Compared, Comparison
from gazette_cli.replay.side_by_side import Fact, side_by_side
from gazette_cli.shared.pages.look import Conclusion, Tile, page_templates
from gazette_support.domain.replay import Change

_ROWS = 500
"""The maximum number of rows in the table of emails that are not shown side by side."""

_MEANINGS = {
    Change.FAILS: "can no longer be rendered",
    Change.SKIPPED: "have no events left to show, and would not be sent",
    Change.EXCLUDED: "omit an event that templates cannot show",
    Change.CUT: f"show fewer blocks, because their HTML would exceed {LONGEST_HTML // 1000} KB",
    Change.MENDED: "could not be rendered before",
    Change.SUBJECT: "have a different subject",
    Change.PREHEADER: "have a different preheader",
    Change.BLOCKS: "show different blocks",
    Change.ORDER: "show the same blocks in a different order",
    Change.LINES: "have a block with different lines, or with its lines in a different order",
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
    """Return the page as HTML.

    `before` and `after` describe the templates and settings. `settings` has the name and the two
    values of each setting that differs.
    """
    templates = page_templates(Path(__file__).parent)
    templates.filters["direction"] = partial(direction_of, default=LTR)
    counts = summary.counts(comparison)
    others = comparison.changed[len(comparison.whole) :]
    return templates.get_template("page.html").render(
        title=title,
        made_at=moment(made_at),
        before=before,
        after=after,
        conclusion=_conclusion(comparison),
        tiles=[*_tiles(comparison)],
        changes=[(each.value, counts[each], _MEANINGS[each]) for each in Change if counts[each]],
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


def _conclusion(comparison: Comparison) -> Conclusion:
    """Return whether emails fail, or else how many change."""
    counts, every = summary.counts(comparison), len(comparison.emails)
    details = [f"{summary.headline(comparison)}."]
    if fails := counts[Change.FAILS]:
        text = f"{fails:,} of {every:,} emails can no longer be rendered"
        return Conclusion(text, Tone.BAD, details)
    if broken := sum(each.breaks for each in comparison.emails):
        text = f"{broken:,} of {every:,} emails omit events or are no longer sent"
        return Conclusion(text, Tone.BAD, details)
    if not comparison.changed:
        return Conclusion("No email changes", Tone.GOOD, details)
    return Conclusion(f"{len(comparison.changed):,} of {every:,} emails change", details=details)


def _tiles(comparison: Comparison) -> Iterator[Tile]:
    """Yield the key figures."""
    counts, sizes = summary.counts(comparison), summary.medians(comparison)
    yield Tile("emails rendered again", f"{len(comparison.emails):,}")
    yield Tile("changed", f"{len(comparison.changed):,}")
    for name, change in (
        ("failed", Change.FAILS),
        ("skipped", Change.SKIPPED),
        ("with events omitted", Change.EXCLUDED),
        (f"larger than {LONGEST_HTML // 1000} KB", Change.CUT),
    ):
        tone = Tone.BAD if counts[change] else Tone.NEUTRAL
        yield Tile(name, f"{counts[change]:,}", tone=tone)
    if comparison.emails:
        for side in ("before", "after"):
            yield Tile(f"median size of the HTML {side}", summary.kilobytes(sizes[side]))


def _row(each: Compared) -> tuple[str, str, str, str, str]:
    was, now = each.before, each.after
    return (
        run_id(each.run.key),
        ", ".join(summary.names(each)),
        was.subject,
        now.subject,
        f"{summary.kilobytes(was.html_bytes)} → {summary.kilobytes(now.html_bytes)}",
    )
