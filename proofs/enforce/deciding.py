"""Which settings of a function decide what it asks of AWS.

A call that was recorded in one stage is judged in another only where these are equal. A setting
that is not named here decides.
"""

import re
from collections.abc import Iterator, Mapping

from gazette.settings.ranges import ASKED_SOURCE

AMOUNTS = frozenset(
    f"GAZETTE_{name}"
    for name in (
        "CHECK_AFTER",
        "CLOCK_SKEW",
        "COLLAPSE",
        "COMMIT_MARGIN",
        "EMAILS_PER_SECOND",
        "EVENT_RETENTION_DAYS",
        "EVIDENCE_GRACE",
        "FULL_BLOCKS",
        "IMMEDIATE_SHARE",
        "LONGEST_UNKNOWN",
        "LOOKBACK_SLOTS",
        "MAX_BLOCKS",
        "MAX_LATENESS",
        "RAMP_EVERY",
        "RAMP_FROM",
        "RECOMMENDATIONS_FRESH_FOR",
        "RECOMMENDATIONS_ITEMS",
        "RECOMMENDATIONS_LEAD",
        "RECOMMENDATIONS_PATIENCE",
        "RECOMMENDATIONS_PER_SECOND",
        "RECOMMENDATIONS_RAMP_FROM",
        "RECOMMENDATIONS_TIMEOUT",
        "RUN_RETENTION_DAYS",
        "SEND_TIMEOUT",
        "SETTLE_LAG",
        "SHARDS",
        "SMTP_COMMAND_TIMEOUT",
        "SMTP_PORT",
        "SMTP_REPLY_TIMEOUT",
        "SOFT_BOUNCES",
        "SOFT_BOUNCE_DAYS",
        "SPREAD",
        "WARMUP_DAILY",
        "WARMUP_FROM",
    )
)
"""How much, how long, how often: the same calls, more or fewer, sooner or later. The rate of emails
is kept in the row that has the account's quota, and read with it."""

_NAMED = re.compile(r"GAZETTE_(.*_(TABLE|URL|SECRET|SET|BUCKET)|(IMMEDIATE_)?SENDER|BUS)")
"""What calls name: the same setting names it in another stage, if it names anything."""

_ON_OR_OFF = frozenset(
    f"GAZETTE_{name}" for name in ("INSTALLATION", "LIST_ID", "SMTP_HOST", "SUNSET_DAYS")
)
"""Only whether there is one decides."""

_SOURCES = "GAZETTE_CONTENT_SOURCES"
_BESIDE = frozenset({_SOURCES, "GAZETTE_CONTENT_QUEUE_URL"})
"""A stage that asks a content source does all that another one does, and something beside it: calls
without one count everywhere, and those with one where it is asked too."""

_CRITICAL = "GAZETTE_CRITICAL_CATEGORIES"
"""Likewise: a stage with critical categories does all that another one does, and more."""

_NOTHING = frozenset({"", "0"})


def differing(told: Mapping[str, str], own: Mapping[str, str]) -> set[str]:
    """Settings that decide, and differ between `told` and those of the same function elsewhere.

    A name that stands for one thing in `told`, and for two elsewhere, differs too: nobody could
    say which of the two a call meant.
    """
    return set(_different(told, own)) | set(ambiguous(told, own))


def _different(told: Mapping[str, str], own: Mapping[str, str]) -> Iterator[str]:
    for name, value in own.items():
        if not name.startswith("GAZETTE_") or name in AMOUNTS:
            continue
        there = told.get(name)
        if name in _BESIDE:
            if _asks(told) and not _asks(own):
                yield name
            continue
        if name == _CRITICAL:
            if there not in {None, "[]"} and value == "[]":
                yield name
            continue
        if name in _ON_OR_OFF or _NAMED.fullmatch(name):
            if there is None or (value in _NOTHING) != (there in _NOTHING):
                yield name
        elif value != there:
            yield name


def _asks(settings: Mapping[str, str]) -> bool:
    """Whether a function with these settings has to do with a content source that is asked."""
    return ASKED_SOURCE in settings.get(_SOURCES, "")


def ambiguous(told: Mapping[str, str], own: Mapping[str, str]) -> Iterator[str]:
    """Names that stand for what another one stands for in `told`, and not elsewhere."""
    meant: dict[str, str] = {}
    for name in filter(_NAMED.fullmatch, own):
        there = told.get(name)
        if there and meant.setdefault(there, own[name]) != own[name]:
            yield name
