"""`python -m tests.configuration_page`: docs/configuration.md, written from the settings."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, get_origin

from infra.stage import Stage

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "configuration.md"
SOURCE = ROOT / "infra" / "stage.py"

GROUPS: dict[str, tuple[str, ...]] = {
    "Who you are": (
        "sender",
        "list_id",
        "alarm_email",
        "runbook_url",
        "account",
        "region",
        "tags",
        "bus",
        "sources",
        "templates",
    ),
    "What readers get": (
        "default_frequencies",
        "link_hosts",
        "collapse",
        "max_groups",
        "sunset_days",
        "max_lateness",
    ),
    "How email is sent": (
        "mail_provider",
        "immediate_sender",
        "domain",
        "sandbox",
        "hosted_zone",
        "mail_from_domain",
        "dmarc",
        "tls",
        "digest_pool",
        "immediate_pool",
        "send_timeout",
        "smtp_host",
        "smtp_port",
        "smtp_security",
        "smtp_secret",
        "smtp_command_timeout",
        "smtp_reply_timeout",
    ),
    "How fast": (
        "emails_per_second",
        "immediate_share",
        "ramp_from",
        "ramp_every",
        "warmup_from",
        "warmup_daily",
        "spread",
        "concurrency",
        "account_concurrency",
        "ingest_window",
        "feedback_window",
        "shards",
    ),
    "What is reported": (
        "track_clicks",
        "track_opens",
        "opens_are_life",
        "tracking_domain",
        "feedback_by_sns",
        "report_deliveries",
        "soft_bounces",
        "soft_bounce_days",
        "category_hold",
    ),
    "Unknown outcomes": ("unknown_policy", "evidence_grace", "longest_unknown"),
    "Where readers' links lead": (
        "links_domain",
        "links_certificate",
        "api_address",
        "edge_rate_limit",
        "base_url",
        "requests_per_second",
        "requests_burst",
        "preferences_concurrency",
    ),
    "How long data is stored": (
        "event_retention_days",
        "run_retention_days",
        "archive_days",
        "restorable",
        "retain",
    ),
    "Time-outs and clocks, which you should not need": (
        "settle_lag",
        "clock_skew",
        "commit_margin",
        "check_after",
        "lookback_slots",
        "dashboard",
        "ticks",
        "host_layers",
    ),
}
_HEAD = """# Configuration

For whoever sets up a stage. A stage is one installation of Gazette; `context.stages` in `cdk.json`
lists them. `make docs` writes this page from `Stage` in `infra/stage.py`. Synthesis refuses a value
that is out of range or of another type, and names the setting.

- A second stage in the same account and region needs a `bus` of its own.
- Tables, and the keys that sign readers' links, are in a stack of their own, with deletion
  protection and retention, and point-in-time recovery for what cannot be told again (`restorable`).
- If no Python 3.13 is on your machine, synthesis warns that the layers ship without `.pyc` files.

More about some of them: [sending](sending.md), [unknown outcomes](unknown-outcomes.md),
[subscribers](subscribers.md), [templates](templates.md)."""
_TEXT = re.compile(r"(?:\[(?P<unit>[^\]]+)\] )?(?P<meaning>.+?)\n\n(?P<wrong>.+)", re.DOTALL)
_NOT_SET = "name"


@dataclass(frozen=True)
class Setting:
    """What the page says of a setting."""

    kind: str
    default: str
    unit: str
    meaning: str
    wrong: str


def texts() -> dict[str, str]:
    """The text below each setting in the source."""
    body = next(
        node.body
        for node in ast.parse(SOURCE.read_text()).body
        if isinstance(node, ast.ClassDef) and node.name == Stage.__name__
    )
    return {
        setting.target.id: text.value.value
        for setting, text in pairwise(body)
        if isinstance(setting, ast.AnnAssign)
        and isinstance(setting.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def settings() -> Mapping[str, Setting]:
    """Each setting by its name. Raises KeyError where one has no text."""
    said = texts()
    return {
        each.name: _setting(each.type, _given(each), said[each.name])
        for each in fields(Stage)
        if each.name != _NOT_SET
    }


def _given(each: Field[Any]) -> object:
    """The default as a stage that says nothing has it."""
    return each.default if each.default_factory is MISSING else each.default_factory()


def _setting(kind: object, default: object, text: str) -> Setting:
    parts = _TEXT.fullmatch(text)
    if parts is None:
        raise ValueError(f"a meaning, an empty line, and what happens if it is wrong: {text!r}")
    unit, meaning, wrong = (" ".join((part or "").split()) for part in parts.groups())
    return Setting(_kind(kind), _default(default), unit, meaning, wrong)


def _kind(kind: object) -> str:
    names = {str: "text", int: "number", bool: "true or false", dict: "object", list: "list"}
    return names[get_origin(kind) or kind]  # type: ignore[index]


def _default(default: object) -> str:
    if default is MISSING:
        return "required"
    if isinstance(default, list | dict):
        return f"`{json.dumps(default)}`" if default else "none"
    if isinstance(default, bool):
        return str(default).lower()
    return f"`{default}`" if isinstance(default, str) and default else str(default)


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_tables(), ""])


def _tables() -> Iterator[str]:
    known = settings()
    for group, names in GROUPS.items():
        yield f"\n## {group}\n"
        yield "| setting | type | default | unit | meaning | if it is wrong |"
        yield "| --- | --- | --- | --- | --- | --- |"
        for name in names:
            row = known[name]
            yield (
                f"| `{name}` | {row.kind} | {row.default} | {row.unit} "
                f"| {row.meaning} | {row.wrong} |"
            ).replace("  |", " |")


if __name__ == "__main__":
    PAGE.write_text(page())
