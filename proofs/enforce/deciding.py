"""The settings of a function that decide its calls to AWS.

A call that was recorded in one stage is judged in another one only if these are equal. A setting
that is missing here decides.
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
        "EMAILS_PER_SECOND",
        "EVENT_RETENTION_DAYS",
        "EVIDENCE_GRACE",
        "FULL_BLOCKS",
        "IMMEDIATE_SHARE",
        "LONGEST_UNKNOWN",
        "MAX_BLOCKS",
        "MAX_LATENESS",
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
        "SMTP_PORT",
        "SMTP_REPLY_TIMEOUT",
        "SOFT_BOUNCES",
        "SOFT_BOUNCE_DAYS",
        "SPREAD",
        "WARMUP_DAILY",
        "WARMUP_FROM",
    )
)
"""Amounts, durations and rates. They change the number and time of calls, but not their kind. The
rate of emails is in the row with the account's quota, and is read with it."""

_NAMED = re.compile(
    r"GAZETTE_(.*_(TABLE|URL|SECRET|SET|BUCKET)|(IMMEDIATE_)?SENDER|(EVENTS_OUT_)?BUS)"
)
"""Settings with names of resources. The same setting names the resource of another stage."""

_ON_OR_OFF = frozenset(
    f"GAZETTE_{name}" for name in ("INSTALLATION", "LIST_ID", "SMTP_HOST", "SUNSET_DAYS")
)
"""Settings that decide only by being set or not."""

_SOURCES = "GAZETTE_CONTENT_SOURCES"
_BESIDE = frozenset({_SOURCES, "GAZETTE_CONTENT_QUEUE_URL"})
"""Settings of a content source. A stage with one makes all calls of other stages, and further ones.
Calls without a source therefore count everywhere, and those with one only where there is one."""

_CRITICAL = "GAZETTE_CRITICAL_CATEGORIES"
"""Likewise: a stage with critical categories does all that another one does, and more."""

_TYPES = "GAZETTE_EVENTS_OUT"
"""The types of events out, which are all published by the same call."""

_NOTHING = frozenset({"", "0"})


def differing(told: Mapping[str, str], own: Mapping[str, str]) -> set[str]:
    """Return the settings that decide, and differ between `told` and those of the same function
    elsewhere.

    A name that stands for one resource in `told`, but for two elsewhere, also differs, because the
    resource of a call would be ambiguous.
    """
    return set(_different(told, own)) | set(ambiguous(told, own))


def _different(told: Mapping[str, str], own: Mapping[str, str]) -> Iterator[str]:
    for name, value in own.items():
        if not name.startswith("GAZETTE_") or name in AMOUNTS or name == _TYPES:
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
    """Return True if a function with these settings has a content source."""
    return ASKED_SOURCE in settings.get(_SOURCES, "")


def ambiguous(told: Mapping[str, str], own: Mapping[str, str]) -> Iterator[str]:
    """Yield names that stand for the same resource in `told`, but for different ones elsewhere."""
    meant: dict[str, str] = {}
    for name in filter(_NAMED.fullmatch, own):
        there = told.get(name)
        if there and meant.setdefault(there, own[name]) != own[name]:
            yield name
