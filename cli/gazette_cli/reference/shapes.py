"""The JSON fields of each command's output, with the kinds of their values.

A test runs the commands, and compares their output with this module. Add fields, but never rename
or remove a field. `?` after a kind means that the value may be null. Instants are ISO 8601 in UTC,
and rates are emails per second.
"""

from collections.abc import Mapping

Shape = str | list["Shape"] | Mapping[str, "Shape"]
"""The shape of a JSON value: its kind, a list with one element shape, or an object with a shape per
field. The field `*` matches any name.
"""

ONE_A_LINE = frozenset({"suppression export"})
"""Commands with long output, which print one JSON object per line (https://jsonlines.org)."""

_IMPORTED: Mapping[str, Shape] = {
    "suppressions": "number",
    "profiles": "number",
    "follows": "number",
}

_STREAM: Shape = {
    "state": "text",
    "reason": "text?",
    "since": "instant?",
    "next_try_at": "instant?",
    "per_second": "number",
    "at_most_per_second": "number",
    "sent_today": "number",
    "daily_cap": "number?",
    "quota": "number?",
    "quota_left": "number?",
}

_VARIATIONS: Shape = [{"variation": "number", "weight": "number", "share": "number"}]
_EXPERIMENT: Shape = {
    "experiment": "text?",
    "since": "instant?",
    "variations": _VARIATIONS,
}

_IN_FORCE: Mapping[str, Shape] = {
    "version": "number",
    "candidate": "number?",
    "percent": "number?",
    "since": "instant?",
    "by": "text?",
}

_SUPPRESSED: Shape = {
    "address_hash": "text",
    "suppressed": "boolean",
    "changed": "boolean",
    "reason": "text?",
}

_WITHDRAWN: Shape = {
    "kind": "text",
    "id": "text",
    "withdrawn": "boolean",
    "changed": "boolean",
    "at": "instant?",
    "until": "instant?",
}

_STOPPED: Shape = {
    "category": "text?",
    "stopped": "boolean",
    "changed": "boolean",
    "since": "instant?",
}

_SOURCE_STOPPED: Shape = {"stopped": "boolean", "changed": "boolean", "since": "instant?"}

_WAITING: Shape = [
    {
        "schedule": "text",
        "about": "text?",
        "category": "text",
        "events": "number",
        "oldest": "instant",
        "newest": "instant",
    }
]

RUN: Shape = {
    "run": "text",
    "schedule": "text",
    "about": "text?",
    "status": "text",
    "reason": "text",
    "meaning": "text",
    "what_to_do": "text",
    "due_at": "instant",
    "created_at": "instant?",
    "claimed_at": "instant?",
    "sent_at": "instant?",
    "delay": "number?",
    "attempts": "number",
    "provider_code": "text?",
    "message_id": "text?",
    "templates": "number?",
    "templates_gone": "number?",
    "window_since": "instant?",
    "window_until": "instant?",
    "covers": {"*": "number"},
    "events": "number?",
    "asked_at": "instant?",
    "without": ["text"],
}

_REPLAYED: Shape = {
    "subject": "text",
    "preheader": "text",
    "html_bytes": "number",
    "text_bytes": "number",
    "blocks": ["text"],
    "left_out": "number",
    "problems": [{"event": "text?", "why": "text"}],
}

_HELD: Shape = [{"category": "text", "by_hand": "boolean", "since": "instant", "reason": "text"}]

_BATCHES: Shape = [
    {
        "batch": "text",
        "state": "text",
        "expected": "number",
        "to_come": "number",
        "sent": "number",
        "skipped": "number",
        "failed": "number",
        "cancelled": "number",
        "unknown": "number",
        "started_at": "instant?",
        "cancelled_at": "instant?",
    }
]

SHAPES: Mapping[str, Shape] = {
    "batch list": {"batches": _BATCHES},
    "batch show": {
        "batch": "text",
        "state": "text",
        "started_at": "instant?",
        "cancelled_at": "instant?",
        "expected": "number",
        "not_started": "number",
        "to_come": "number",
        "ended": "number",
        "ended_per_second": "number?",
        "seconds_left": "number?",
        "runs": [{"status": "text", "reason": "text", "runs": "number"}],
        "digests": _STREAM,
    },
    "batch cancel": {
        "batch": "text",
        "cancelled": "number",
        "sent": "number",
        "unknown": "number",
        "ended_otherwise": "number",
        "not_started": "number",
        "pending": "number",
    },
    "cost": {
        "items": [
            {
                "service": "text",
                "what": "text",
                "quantity": "number",
                "unit": "text",
                "dollars": "number",
                "fixed": "boolean",
            }
        ],
        "usage": {"*": "any"},
        "region": "text",
        "stage_region": "text",
        "oldest_price": "date",
        "sums": {"*": "number"},
        "emails": "number",
    },
    "simulate": {
        "readers": "number",
        "emails": "number",
        "digests": "number",
        "immediate": "number",
        "due": "number",
        "in_hour": "number",
        "soon_after": "number",
        "on_time": "boolean",
        "digest_delay_p50": "number",
        "digest_delay_p99": "number",
        "immediate_delay_p99": "number",
        "too_late": "number",
        "over_cap": "number",
        "skips": "number",
        "refused": "number",
        "failed": "number",
        "requeues_per_email": "number",
        "last_at": "instant",
        "queues": [
            {
                "queue": "text",
                "most_messages": "number",
                "at": "instant",
                "minutes_in_use": "number",
            }
        ],
        "ceilings": [
            {
                "name": "text",
                "multiple": "number?",
                "load": "number",
                "limit": "number",
                "unit": "text",
                "to_do": "text",
            }
        ],
        "service": {"*": "number"},
        "write_units": {"*": "number"},
        "dollars": {"*": "number"},
        "peak_mb": "number",
        "wall_s": "number",
    },
    "dlq list": {"queues": [{"queue": "text", "messages": "number", "oldest": "instant?"}]},
    "dlq show": {
        "dead_letters": [
            {
                "queue": "text",
                "about": "text",
                "run": "text?",
                "since": "instant",
                "received": "number",
                "redrive": "text",
                "why": "text",
            }
        ],
        "more": "boolean",
    },
    "dlq redrive": {
        "queues": [{"queue": "text", "moved": "number", "left": "number", "came_back": "number"}],
        "messages": [{"about": "text", "redrive": "text", "why": "text"}],
    },
    "event lint": {
        "entries": [
            {
                "entry": "text",
                "ok": "boolean",
                "detail_type": "text?",
                "does": "text?",
                "bytes": "number?",
                "billed_events": "number?",
                "problems": ["text"],
                "more_problems": "number",
                "warning": "text?",
            }
        ]
    },
    "event preview": {
        "lines": ["text"],
        "others": [{"detail_type": "text", "does": "text"}],
        "refused": ["text"],
    },
    "event schemas": {"files": ["text"]},
    "init": {"files": ["text"]},
    "experiment show": _EXPERIMENT,
    "experiment start": _EXPERIMENT,
    "experiment stop": _EXPERIMENT,
    "accept": {
        "steps": [
            {
                "step": "text",
                "expected": "text",
                "seen": "text",
                "result": "text",
                "seconds": "number",
            }
        ],
        "acceptance": "text",
        "stage": "text",
        "passed": "number",
        "failed": "number",
        "not_shown": "number",
        "state_file": "text?",
    },
    "doctor": {
        "findings": [
            {"check": "text", "level": "text", "seen": "text", "todo": "text", "page": "text"}
        ],
        "problems": "number",
        "warnings": "number",
        "unseen": "number",
    },
    "explain": {
        "answer": ["text"],
        "user_id": "text",
        "on": "date?",
        "now": "instant",
        "status": "text?",
        "suppressed_for": "text?",
        "suppressed_since": "instant?",
        "time_zone": "text",
        "changed_at": "instant?",
        "chosen_at": "instant?",
        "erased_at": "instant?",
        "registered_on": "date?",
        "active_on": "date?",
        "paused_until": "date?",
        "quiet_hours": "text?",
        "dormant_at": "instant?",
        "is_allowed": "boolean",
        "follows": "number",
        "schedules": [
            {
                "schedule": "text",
                "due": "text",
                "next": ["instant"],
                "with_notice": ["instant"],
                "quiet": ["instant"],
                "sources": ["text"],
                "fetched_at": "instant?",
            }
        ],
        "choices": [
            {"category": "text", "frequency": "text", "chosen": "text?", "default": "text?"}
        ],
        "overrides": [{"entity": "text", "frequency": "text", "since": "instant"}],
        "mutes": [{"entity": "text", "muted_at": "instant"}],
        "waiting": _WAITING,
        "late": _WAITING,
        "over_limit": _WAITING,
        "merged": _WAITING,
        "muted": _WAITING,
        "expired": _WAITING,
        "lapsed": _WAITING,
        "seen": _WAITING,
        "withdrawn": _WAITING,
        "given_up": _WAITING,
        "held_categories": ["text"],
        "critical_categories": ["text"],
        "runs": [RUN],
        "unreadable": ["text"],
    },
    "export": {
        "user_id": "text",
        "rows": [{"table": "text", "row": {"*": "any"}}],
        "not_included": [{"what": "text", "meaning": "text"}],
    },
    "receipt": {
        "answer": ["text"],
        "id": "text",
        "receipts": [
            {
                "user_id": "text",
                "id": "text",
                "state": "text",
                "because": "text?",
                "why": "text?",
                "at": "instant?",
                "category": "text?",
                "schedule": "text?",
                "next_digest": "instant?",
                "is_held": "boolean",
                "shown_as": "text?",
                "known_since": "instant",
                "emails": [
                    {
                        "email": "text",
                        "sent_at": "instant?",
                        "certainty": "text",
                        "events": "number?",
                        "outcomes": {"*": "instant"},
                    }
                ],
            }
        ],
        "activities": [
            {
                "entity": "text",
                "id": "text",
                "stored": "boolean",
                "retracted": "boolean",
                "distributed": "boolean",
                "expires_at": "instant?",
                "followers": {"*": "number"},
                "others": "number",
                "unreadable": "number",
                "next": "text?",
            }
        ],
    },
    "links list": {"keys": [{"key": "text", "signs": "boolean"}]},
    "links rotate": {"signs": "text", "retired": "text?", "keys": ["text"]},
    "links retire": {"signs": "text", "retired": "text?", "keys": ["text"]},
    "find": {
        "found": [
            {
                "user_id": "text",
                "run": "text?",
                "status": "text?",
                "reason": "text?",
                "due_at": "instant?",
                "created_at": "instant?",
                "claimed_at": "instant?",
                "sent_at": "instant?",
                "message_id": "text?",
            }
        ]
    },
    "overview": {
        "at": "instant",
        "lines": [{"level": "text", "area": "text", "text": "text", "command": "text?"}],
        "alarms": [{"alarm": "text", "since": "instant"}],
        "due": [{"batch": "text", "digests": "number"}],
        "batches": _BATCHES,
        "unknown": "number",
        "oldest_open_due_at": "instant?",
        "oldest_open_seconds": "number",
        "held_by_day": "number",
        "queues": {"*": "number"},
        "dead_letters": {"*": "number"},
        "quarantine": "number",
        "digest": _STREAM,
        "immediate": _STREAM,
        "held_categories": _HELD,
        "withdrawals": "number",
        "templates": {**_IN_FORCE, "version": "number?", "deployed_since": "boolean"},
    },
    "preview": {"subject": "text", "html_bytes": "number", "text_bytes": "number", "page": "text"},
    "replay": {
        "replayed": "number",
        "changed": "number",
        "breaks": "number",
        "other_categories": "number",
        "missing": {"*": "number"},
        "changes": {"*": "number"},
        "median_html_bytes": {"before": "number", "after": "number"},
        "emails": [
            {
                "run": "text",
                "user_id": "text",
                "schedule": "text",
                "due_at": "instant",
                "sent_at": "instant?",
                "version_before": "number",
                "variation": "number",
                "same_categories": "boolean",
                "changes": ["text"],
                "before": _REPLAYED,
                "after": _REPLAYED,
            }
        ],
        "runs_found": "number",
        "parts_read": "number",
        "parts": "number",
        "read_units": "number",
        "page": "text",
    },
    "quarantine list": {
        "events": [{"since": "instant", "detail_type": "text", "reason": "text"}],
        "more": "boolean",
    },
    "quarantine redrive": {"moved": "number", "left": "number", "came_back": "number"},
    "sources try": {
        "url": "text",
        "usable": "boolean",
        "problem": "text?",
        "todo": "text?",
        "status": "number?",
        "seconds": "number",
        "items": "number",
        "skipped": "number",
        "refused": [{"item": "number", "field": "text?", "reason": "text", "left_out": "boolean"}],
        "shown": [{"id": "text", "title": "text", "url": "text"}],
    },
    "sources status": {
        "state": "text",
        "reason": "text?",
        "since": "instant?",
        "next_try_at": "instant?",
        "per_second": "number",
        "at_most_per_second": "number",
        "requests_today": "number",
        "waiting": "number",
        "dead_letters": "number",
    },
    "sources stop": _SOURCE_STOPPED,
    "sources resume": _SOURCE_STOPPED,
    "sources arm": {
        "armed": "number",
        "right": "number",
        "inactive": "number",
        "unreadable": "number",
        "changing": "number",
    },
    "sending status": {
        "digest": _STREAM,
        "immediate": _STREAM,
        "held_categories": _HELD,
    },
    "sending stop": _STOPPED,
    "sending resume": _STOPPED,
    "rollback": {
        "deployments": [
            {
                "deployment": "text",
                "version": "text",
                "published_at": "instant",
                "is_live": "boolean",
                "is_whole": "boolean",
            }
        ]
    },
    "send-test": {"address": "text", "subject": "text", "message_id": "text"},
    "statistics": {
        "title": "text",
        "since": "instant",
        "until": "instant",
        "unreported": "number",
        "emails": [
            {
                "group": "text",
                "value": "text",
                "sent": "number",
                "*": "number?",
            }
        ],
        "readers": [
            {
                "outcome": "text",
                "variation": "number?",
                "version": "number?",
                "readers": "number",
                "did": "number",
                "low": "number?",
                "high": "number?",
                "verdict": "text?",
            }
        ],
        "verdicts": ["text"],
        "notes": ["text"],
    },
    "templates list": {
        "versions": [
            {
                "version": "number",
                "readers": "number",
                "pushed_at": "instant?",
                "by": "text?",
                "note": "text?",
                "settings": {"*": "any"},
                "bytes": "number?",
                "checksum": "text?",
                "release": "text?",
                "layer": "text?",
            }
        ],
        "log": [
            {
                "at": "instant",
                "by": "text",
                "what": "text",
                "version": "number",
                "candidate": "number?",
                "percent": "number?",
                "note": "text?",
            }
        ],
        "in_force": _IN_FORCE,
        "deployed_since": "boolean",
    },
    "templates diff": {
        "before": "text",
        "after": "text",
        "files": [{"file": "text", "change": "text", "added": "number", "removed": "number"}],
    },
    "templates push": {
        "in_force": _IN_FORCE,
        "changed": "boolean",
        "pushed": "number?",
        "uploaded": "boolean",
        "checksum": "text",
        "bytes": "number",
        "files": [{"file": "text", "change": "text", "added": "number", "removed": "number"}],
        "settings": [{"setting": "text", "before": "any", "after": "any"}],
    },
    "templates rollout": {"in_force": _IN_FORCE, "changed": "boolean"},
    "templates rollback": {"in_force": _IN_FORCE, "changed": "boolean"},
    "restore": {"back": "number", "changed": "number", "deleted": "number", "written": "number"},
    "events-out republish": {"batches": "number", "events": "number", "failed": ["text"]},
    "events-out tell": {"events": ["text"]},
    "suppression list": {
        "addresses": [{"address_hash": "text", "reason": "text", "since": "instant"}],
        "more": "boolean",
    },
    "suppression add": _SUPPRESSED,
    "suppression remove": _SUPPRESSED,
    "suppression import": {"new": "number", "there_already": "number"},
    "withdraw add": _WITHDRAWN,
    "withdraw list": {
        "withdrawals": [{"kind": "text", "id": "text", "at": "instant", "until": "instant"}],
        "most": "number",
    },
    "withdraw remove": _WITHDRAWN,
    "import check": {
        **_IMPORTED,
        "dollars": "number",
        "dollars_by_service": {"*": "number"},
        "seconds": "number",
    },
    "import run": {**_IMPORTED, "quarantined": [{"reason": "text", "messages": "number"}]},
    "import verify": {
        "missing": [{"line": "number", "kind": "text", "difference": "text"}],
        "verified": "number",
    },
    "suppression export": {"address_hash": "text", "reason": "text", "since": "instant"},
}
"""The shape of each command's output, by the path of the command."""
