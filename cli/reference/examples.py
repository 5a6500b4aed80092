"""One example of each command, for docs/cli.md. A test parses them all."""

from collections.abc import Mapping

EXAMPLES: Mapping[str, str] = {
    "event lint": "gazette event lint events.json",
    "event preview": "gazette event preview events.json",
    "event schemas": "gazette event schemas build/schemas",
    "batch list": "gazette batch list --limit 20",
    "batch show": "gazette batch show 2026-11-22T06:10Z",
    "batch cancel": "gazette batch cancel 2026-11-22T06:10Z",
    "dlq list": "gazette dlq list",
    "dlq show": "gazette dlq show generate-dead",
    "dlq redrive": "gazette dlq redrive failed --batch 2026-11-22T06:10Z",
    "experiment show": "gazette experiment show",
    "experiment start": "gazette experiment start short-subjects 1=90 2=10",
    "experiment stop": "gazette experiment stop",
    "links list": "gazette links list",
    "links rotate": "gazette links rotate",
    "links retire": "gazette links retire k1",
    "quarantine list": "gazette quarantine list",
    "quarantine redrive": "gazette quarantine redrive",
    "sending status": "gazette sending status",
    "sending stop": 'gazette sending stop "wrong subject line" --category like',
    "sending resume": "gazette sending resume --category like",
    "suppression list": "gazette suppression list --reason bounced --since 2026-11-01",
    "suppression add": "gazette suppression add ann@example.com",
    "suppression remove": "gazette suppression remove ann@example.com",
    "suppression import": "gazette suppression import suppressed.csv",
    "suppression export": "gazette suppression export > suppressed.csv",
    "explain": "gazette explain ann 2026-11-21",
    "preview": "gazette preview immediate --user ann --locale de",
    "statistics": "gazette statistics --experiment short-subjects --html subjects.html",
}
