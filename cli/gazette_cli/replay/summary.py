"""The key figures and sentences of a replay."""

from collections import Counter
from itertools import islice
from statistics import median

from gazette.adapters.rendering.renderer import LONGEST_HTML
from gazette.domain.identity import run_id

from gazette_cli.replay.comparison import Compared, Comparison
from gazette_support.domain.replay import Change, Missing
from gazette_support.steps.replay import Sample

_PROBLEMS = 20
"""The maximum number of different mistakes to print."""

_LARGER = f"larger than {LONGEST_HTML // 1000} KB"
_PHRASES = {
    Change.SUBJECT: ("subject", "subjects"),
    Change.PREHEADER: ("preheader", "preheaders"),
    Change.BLOCKS: ("with different blocks", "with different blocks"),
    Change.ORDER: ("order", "orders"),
    Change.LINES: ("with different lines", "with different lines"),
    Change.HTML: ("HTML part", "HTML parts"),
    Change.TEXT: ("text part", "text parts"),
    Change.MENDED: ("fixed", "fixed"),
    Change.SKIPPED: ("has no events left to show", "have no events left to show"),
    Change.EXCLUDED: ("loses an event", "lose an event"),
    Change.CUT: (_LARGER, _LARGER),
    Change.FAILS: ("fails", "fail"),
}
"""The phrases for each change, in the singular and in the plural."""

_ALWAYS = {Change.CUT, Change.FAILS}
"""Changes that the headline always counts, even if the count is zero."""

_MISSING = {
    Missing.READER: "their readers no longer have a profile",
    Missing.EVENTS: "their events are no longer stored",
    Missing.UNREADABLE: "this version cannot read their rows",
    Missing.TEMPLATES: "the version of the templates with which they were sent is no longer stored",
}


def counts(comparison: Comparison) -> Counter[Change]:
    """Count the emails with each change."""
    return Counter(change for each in comparison.emails for change in each.changes)


def headline(comparison: Comparison) -> str:
    """Summarise a replay in one sentence."""
    numbers = counts(comparison)
    parts = [
        f"{numbers[each]} {one if numbers[each] == 1 else many}"
        for each, (one, many) in _PHRASES.items()
        if numbers[each] or each in _ALWAYS
    ]
    was, now = (medians(comparison)[side] for side in ("before", "after"))
    size = f"; median size {kilobytes(was)} → {kilobytes(now)}" if comparison.emails else ""
    changed, every = len(comparison.changed), len(comparison.emails)
    verb = "change" if changed != 1 else "changes"
    return f"{changed} of {every} emails {verb}: {', '.join(parts)}{size}"


def medians(comparison: Comparison) -> dict[str, float]:
    """Return the median HTML sizes in bytes before and after the change, or 0. Only emails that
    exist on both sides count.
    """
    sizes = [
        (each.before.html_bytes, each.after.html_bytes)
        for each in comparison.emails
        if each.before.html_bytes and each.after.html_bytes
    ]
    was, now = map(median, zip(*sizes, strict=True)) if sizes else (0, 0)
    return {"before": was, "after": now}


def kilobytes(size: float) -> str:
    """Format a number of bytes in kilobytes."""
    return f"{size / 1000:.1f} KB"


def not_compared(comparison: Comparison) -> list[str]:
    """Return sentences about emails that could not be compared completely."""
    notes = [
        f"{number} {_emails(number)} cannot be rendered again because {_MISSING[why]}."
        for why, number in sorted(comparison.missing.items())
    ]
    if others := sum(not each.same_categories for each in comparison.emails):
        notes.append(
            f"{others} sent {_emails(others)} had different categories or a different order of "
            "categories, because events, profiles, templates or settings have changed since. "
            "The row of a run does not record other changes."
        )
    if both := [each for each in comparison.emails if each.after.problems and not each.breaks]:
        first = both[0]
        notes.append(
            f"Even before the change, {len(both)} {_emails(len(both))} cannot be shown "
            f"completely, such as {run_id(first.run.key)}: {first.after.problems[0].why}"
        )
    return notes


def reading(runs: Sample, days: int) -> list[str]:
    """Return sentences about the sample of runs."""
    notes = []
    if runs.unreadable:
        noun = "run" if runs.unreadable == 1 else "runs"
        notes.append(f"This version cannot read {runs.unreadable} {noun}.")
    if runs.parts:
        notes.append(
            f"Read {runs.read} of {runs.parts} parts of the table of runs "
            f"({runs.read_units:,.1f} read units), and found {runs.runs_seen} sent "
            f"{_emails(runs.runs_seen)} of {days} days."
        )
    elif runs.runs_seen > len(runs.runs):
        notes.append(
            f"Rendered {len(runs.runs)} of {runs.runs_seen} sent emails of {days} days. To "
            "render more, specify a larger --sample."
        )
    return notes


def problems(comparison: Comparison) -> list[str]:
    """Return each mistake once, with the id of an affected run. The last line states the number of
    omitted mistakes, if any.
    """
    first: dict[str, str] = {}
    for each in comparison.changed:
        if each.breaks:
            for problem in each.after.problems:
                first.setdefault(problem.why, run_id(each.run.key))
    lines = [f"{run}: {why}" for why, run in islice(first.items(), _PROBLEMS)]
    if (more := len(first) - _PROBLEMS) > 0:
        lines.append(f"{more} more mistakes. --json lists all of them.")
    return lines


def names(each: Compared) -> list[str]:
    """Return the names of an email's changes, with the worst first."""
    return [change.value for change in Change if change in each.changes]


def _emails(number: int) -> str:
    return "email" if number == 1 else "emails"
