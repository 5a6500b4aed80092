"""The rows and the JSON output of a replay."""

from collections.abc import Sequence

from gazette.domain.identity import run_id

from gazette_cli.replay.comparison import Compared, Comparison, Seen
from gazette_cli.replay.summary import counts, kilobytes, medians, names
from gazette_cli.shared.answers import Document, Rows, Shown
from gazette_support.domain.replay import Change, Missing


def rows(changed: Sequence[Compared]) -> Rows:
    """Return the rows of changed emails."""
    return Rows(
        "changed",
        {
            "run": "run",
            "changes": "changes",
            "before": "subject before",
            "after": "subject after",
            "size": "HTML size",
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


def document(comparison: Comparison) -> Document:
    """Return the JSON output, with the most changed emails first."""
    sizes = medians(comparison)
    return {
        "replayed": len(comparison.emails),
        "changed": len(comparison.changed),
        "breaks": sum(each.breaks for each in comparison.emails),
        "other_categories": sum(not each.same_categories for each in comparison.emails),
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
        "version_before": each.version.number,
        "variation": each.variation,
        "same_categories": each.same_categories,
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
        return "unchanged"
    return each.after.subject or "-"
