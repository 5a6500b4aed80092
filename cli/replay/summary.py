"""What a replay has found, in figures and sentences."""

from collections import Counter
from itertools import islice
from statistics import median

from gazette.adapters.rendering.renderer import LONGEST_HTML
from gazette.domain.identity import run_id
from gazette.domain.replay import Change, Missing
from gazette.steps.support.replay import Sample

from cli.replay.comparison import Compared, Comparison

_PROBLEMS = 20
"""Different mistakes that people are told of."""

_LARGER = f"larger than {LONGEST_HTML // 1000} KB"
_SAID = {
    Change.SUBJECT: ("subject", "subjects"),
    Change.PREHEADER: ("preheader", "preheaders"),
    Change.BLOCKS: ("with other blocks", "with other blocks"),
    Change.ORDER: ("order", "orders"),
    Change.LINES: ("with other lines", "with other lines"),
    Change.HTML: ("HTML part", "HTML parts"),
    Change.TEXT: ("text part", "text parts"),
    Change.MENDED: ("mended", "mended"),
    Change.SKIPPED: ("has nothing left to show", "have nothing left to show"),
    Change.EXCLUDED: ("loses an event", "lose an event"),
    Change.CUT: (_LARGER, _LARGER),
    Change.FAILS: ("fails", "fail"),
}
"""Of one email, and of any other number."""

_ALWAYS = {Change.CUT, Change.FAILS}
"""Said also where there is none: nobody has to know that they could be there."""

_MISSING = {
    Missing.READER: "their readers have no profile any more",
    Missing.EVENTS: "their events are no longer stored",
    Missing.UNREADABLE: "this version cannot read their rows",
    Missing.TEMPLATES: "the version of the templates that they were sent with is no longer stored",
}


def counts(comparison: Comparison) -> Counter[Change]:
    """How many emails have each change."""
    return Counter(change for each in comparison.emails for change in each.changes)


def headline(comparison: Comparison) -> str:
    """Everything in one sentence."""
    found = counts(comparison)
    told = [
        f"{found[each]} {one if found[each] == 1 else many}"
        for each, (one, many) in _SAID.items()
        if found[each] or each in _ALWAYS
    ]
    was, now = (medians(comparison)[side] for side in ("before", "after"))
    size = f"; median size {kilobytes(was)} → {kilobytes(now)}" if comparison.emails else ""
    changed, every = len(comparison.changed), len(comparison.emails)
    verb = "change" if changed != 1 else "changes"
    return f"{changed} of {every} emails {verb}: {', '.join(told)}{size}"


def medians(comparison: Comparison) -> dict[str, float]:
    """The median bytes of HTML of the emails that there are on both sides; 0 of none."""
    sizes = [
        (each.before.html_bytes, each.after.html_bytes)
        for each in comparison.emails
        if each.before.html_bytes and each.after.html_bytes
    ]
    was, now = map(median, zip(*sizes, strict=True)) if sizes else (0, 0)
    return {"before": was, "after": now}


def kilobytes(size: float) -> str:
    """Bytes as people read them."""
    return f"{size / 1000:.1f} KB"


def not_compared(comparison: Comparison) -> list[str]:
    """What of the sample says less than it seems to: a sentence each."""
    said = [
        f"{number} {_emails(number)} cannot be rendered again: {_MISSING[why]}."
        for why, number in sorted(comparison.missing.items())
    ]
    if others := sum(not each.same_categories for each in comparison.emails):
        said.append(
            f"{others} {_emails(others)} showed other categories, or in another order, when sent: "
            "events, profile, templates or settings have changed since. Of other changes the row "
            "of a run tells nothing."
        )
    if both := [each for each in comparison.emails if each.after.problems and not each.breaks]:
        first = both[0]
        said.append(
            f"{len(both)} {_emails(len(both))} cannot be shown in full before either, such as "
            f"{run_id(first.run.key)}: {first.after.problems[0].why}"
        )
    return said


def reading(runs: Sample, days: int) -> list[str]:
    """Which runs there were to choose from: a sentence each."""
    said = []
    if runs.unreadable:
        noun = "run" if runs.unreadable == 1 else "runs"
        said.append(f"{runs.unreadable} {noun} cannot be read by this version.")
    if runs.parts:
        said.append(
            f"Read {runs.read} of {runs.parts} parts of the table of runs, {runs.read_units:,.1f} "
            f"read units, and found {runs.runs_seen} sent {_emails(runs.runs_seen)} of {days} days."
        )
    elif runs.runs_seen > len(runs.runs):
        said.append(
            f"{len(runs.runs)} of {runs.runs_seen} sent emails of {days} days: --sample has more."
        )
    return said


def problems(comparison: Comparison) -> list[str]:
    """What breaks, each mistake once, with one of the runs that have it; the first of many."""
    first: dict[str, str] = {}
    for each in comparison.changed:
        if each.breaks:
            for problem in each.after.problems:
                first.setdefault(problem.why, run_id(each.run.key))
    told = [f"{run}: {why}" for why, run in islice(first.items(), _PROBLEMS)]
    if (more := len(first) - _PROBLEMS) > 0:
        told.append(f"And {more} other mistakes: --json has each.")
    return told


def names(each: Compared) -> list[str]:
    """Its changes, the worst first."""
    return [change.value for change in Change if change in each.changes]


def _emails(number: int) -> str:
    return "email" if number == 1 else "emails"
