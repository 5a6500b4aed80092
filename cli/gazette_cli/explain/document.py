"""The JSON output of an explanation."""

from collections.abc import Iterable

from gazette.domain.delivery.run import BEGINNING
from gazette.domain.explanation import ExplainedRun, Explanation, Outlook, Waiting
from gazette.domain.identity import run_id
from gazette.steps.support.words.runs import words_in
from gazette.steps.support.words.summary import verdict

from gazette_cli.shared.answers import Document
from gazette_cli.shared.next_commands import aimed


def document(found: Explanation, *, stage: str) -> Document:
    """Return the output of `gazette explain --json`. Commands in its texts name the stage."""
    suppression = found.suppression
    return {
        "answer": [aimed(each, stage=stage) for each in verdict(found)],
        "user_id": found.user_id,
        "on": found.on,
        "now": found.now,
        "status": found.status,
        "suppressed_for": suppression.cause if suppression else None,
        "suppressed_since": suppression.since if suppression else None,
        "time_zone": found.zone.key,
        "changed_at": found.changed_at,
        "chosen_at": found.chosen_at,
        "erased_at": found.erased_at,
        "registered_on": found.registered_on,
        "active_on": found.active_on,
        "paused_until": found.paused_until,
        "quiet_hours": str(found.quiet_hours) if found.quiet_hours else None,
        "dormant_at": found.dormant_at,
        "is_allowed": found.is_allowed,
        "follows": found.follows,
        "schedules": [*map(_schedule, found.outlooks)],
        "choices": [
            {
                "category": each.category,
                "frequency": each.frequency,
                "chosen": each.chosen,
                "default": each.default,
            }
            for each in found.choices
        ],
        "overrides": [
            {"entity": each.entity, "frequency": each.frequency, "since": each.since}
            for each in found.overrides
        ],
        "mutes": [{"entity": each.entity, "muted_at": each.at} for each in found.mutes],
        "waiting": _waiting(found.waiting),
        "late": _waiting(found.late),
        "over_limit": _waiting(found.over_limit),
        "muted": _waiting(found.muted),
        "expired": _waiting(found.expired),
        "lapsed": _waiting(found.lapsed),
        "seen": _waiting(found.seen),
        "withdrawn": _waiting(found.withdrawn),
        "merged": _waiting(found.merged),
        "given_up": _waiting(found.given_up),
        "held_categories": found.held_categories,
        "critical_categories": found.critical,
        "runs": [_run(each, found, stage) for each in found.runs],
        "unreadable": found.unreadable,
    }


def _schedule(outlook: Outlook) -> Document:
    return {
        "schedule": outlook.schedule.name,
        "due": outlook.due,
        "next": outlook.next,
        "with_notice": outlook.with_notice,
        "quiet": outlook.quiet or (),
        "sources": outlook.schedule.sources,
        "fetched_at": outlook.schedule.fetched_at,
    }


def _waiting(some: Iterable[Waiting]) -> list[Document]:
    return [
        {
            "schedule": each.schedule,
            "about": each.about or None,
            "category": each.category,
            "events": each.count,
            "oldest": each.oldest,
            "newest": each.newest,
        }
        for each in some
    ]


def _run(entry: ExplainedRun, found: Explanation, stage: str) -> Document:
    run, words = entry.run, words_in(entry, found)
    window = run.window
    return {
        "run": run_id(run.key),
        "schedule": run.key.schedule,
        "about": entry.about or None,
        "status": run.status,
        "reason": run.reason,
        "meaning": words.why,
        "what_to_do": aimed(words.todo, stage=stage),
        "due_at": run.due_at,
        "created_at": run.created_at,
        "claimed_at": run.claimed_at,
        "sent_at": run.sent_at,
        "delay": run.sent_at - run.due_at if run.sent_at else None,
        "attempts": run.attempt,
        "provider_code": run.detail or None,
        "message_id": run.message_id or None,
        "templates": run.templates if run.attempt else None,
        "templates_gone": run.templates_gone or None,
        "window_since": window.since if window and window.since > BEGINNING else None,
        "window_until": window.until if window else None,
        "covers": dict(entry.covers),
        "events": run.events,
        "asked_at": run.asked_at,
        "without": run.without,
    }
