"""What a replay has found, in sentences, as rows, and for programs."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from gazette.adapters.rendering.renderer import LONGEST_HTML
from gazette.domain.identity import run_id
from gazette.domain.replay import Change, Missing

from cli.replay.comparison import Compared, Comparison, Seen
from cli.shared.answers import Document, Rows, Shown

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
    """The median bytes of HTML of the emails that there are, on each side; 0 of none."""
    sizes = {
        "before": [each.before.html_bytes for each in comparison.emails],
        "after": [each.after.html_bytes for each in comparison.emails],
    }
    return {
        side: median(found) if (found := [*filter(None, some)]) else 0
        for side, some in sizes.items()
    }


def kilobytes(size: float) -> str:
    """Bytes as people read them."""
    return f"{size / 1000:.1f} KB"


def not_compared(comparison: Comparison) -> list[str]:
    """What of the sample says less than it seems to: a sentence each."""
    said = [
        f"{number} {_emails(number)} cannot be rendered again: {_MISSING[why]}."
        for why, number in sorted(comparison.missing.items())
    ]
    if others := sum(not each.as_sent for each in comparison.emails):
        said.append(
            f"{others} {_emails(others)} showed something else when sent: events, profile, "
            "templates or settings have changed since."
        )
    return said


def problems(comparison: Comparison) -> list[str]:
    """What breaks, each mistake once, with one of the runs that have it."""
    first: dict[str, str] = {}
    for each in comparison.changed:
        if each.breaks:
            for problem in each.after.problems:
                first.setdefault(problem.why, run_id(each.run.key))
    return [f"{run}: {why}" for why, run in first.items()]


def rows(changed: Sequence[Compared]) -> Rows:
    """The runs that change, for people."""
    return Rows(
        "changed",
        {
            "run": "run",
            "changes": "changes",
            "before": "subject before",
            "after": "after",
            "size": "HTML",
        },
        [
            (
                run_id(each.run.key),
                ", ".join(names(each)),
                each.before.subject or None,
                Shown(each.after.subject, _same(each)),
                f"{kilobytes(each.before.html_bytes)} → {kilobytes(each.after.html_bytes)}",
            )
            for each in changed
        ],
    )


def names(each: Compared) -> list[str]:
    """Its changes, the worst first."""
    return [change.value for change in Change if change in each.changes]


def document(comparison: Comparison) -> Document:
    """For programs: all emails, the most changed first."""
    sizes = medians(comparison)
    return {
        "replayed": len(comparison.emails),
        "changed": len(comparison.changed),
        "breaks": sum(each.breaks for each in comparison.emails),
        "not_as_sent": sum(not each.as_sent for each in comparison.emails),
        "missing": {why.value: comparison.missing[why] for why in Missing},
        "changes": {change.value: counts(comparison)[change] for change in Change},
        "median_html_bytes": {side: sizes[side] for side in ("before", "after")},
        "emails": [_email(each) for each in sorted(comparison.emails, key=lambda each: each.place)],
    }


def _email(each: Compared) -> Document:
    run = each.run
    return {
        "run": run_id(run.key),
        "user_id": run.key.user_id,
        "schedule": run.key.schedule,
        "due_at": run.due_at,
        "sent_at": run.sent_at,
        "variation": each.variation,
        "as_sent": each.as_sent,
        "changes": names(each),
        "before": _side(each.before),
        "after": _side(each.after),
    }


def _side(seen: Seen) -> Document:
    return {
        "subject": seen.subject,
        "preheader": seen.preheader,
        "html_bytes": seen.html_bytes,
        "text_bytes": seen.text_bytes,
        "blocks": seen.blocks,
        "left_out": seen.left_out,
        "problems": [{"event": each.event, "why": each.why} for each in seen.problems],
    }


def _same(each: Compared) -> str:
    if each.before.subject == each.after.subject:
        return "the same"
    return each.after.subject or "-"


def _emails(number: int) -> str:
    return "email" if number == 1 else "emails"
