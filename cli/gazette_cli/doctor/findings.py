"""Findings of the checks, and the findings that an AWS emulator cannot show."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gazette.domain.console.levels import Level

_NO_DOMAIN = "it verifies no domain"
_NOT_SHOWN = (
    ("table ", "expiry is None", "it does not keep the expiry of tables"),
    ("account concurrency", "", "its limit depends on this computer"),
    ("identity ", "", _NO_DOMAIN),
    ("dkim ", "", _NO_DOMAIN),
    ("mail from ", "", _NO_DOMAIN),
    ("dmarc ", "", "the domain of its stage need not exist"),
)
"""The starts of a check and of its state, and the reason why an emulator cannot show the check."""

_NEVER = (
    "the delivery of email and its events, the authentication of the domain (SPF, DKIM, DMARC), "
    "alarms on the metrics that functions write to their logs, the protection and recovery of "
    "tables, and quotas of the account"
)
"""The things that an emulator cannot show."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding that a check reports."""

    check: str
    level: Level

    # The current state.
    seen: str

    # The remedy, or "" if there is no problem.
    todo: str = ""

    # The page with details, or "" if there is no problem.
    page: str = ""


@dataclass(frozen=True, slots=True)
class Unseen:
    """The result of a failed lookup."""

    # The reason.
    why: str


def ok(check: str, seen: str) -> Finding:
    """Create a finding that reports no problem."""
    return Finding(check, Level.OK, seen)


def warning(check: str, seen: str, todo: str, page: str) -> Finding:
    """Create a finding that an operator should review."""
    return Finding(check, Level.WARNING, seen, todo, page)


def problem(check: str, seen: str, todo: str, page: str) -> Finding:
    """Create a finding that reports a failure."""
    return Finding(check, Level.PROBLEM, seen, todo, page)


def unseen(check: str, what: Unseen) -> Finding:
    """Create a finding for a check that was not possible."""
    return Finding(check, Level.UNSEEN, what.why)


def marked(findings: Iterable[Finding], endpoint: str) -> Iterator[Finding]:
    """Yield the findings, with those that an emulator cannot show as not checked."""
    why = f"{endpoint} is an emulator, not AWS. It cannot show {_NEVER}."
    yield unseen("emulator", Unseen(why))
    for each in findings:
        reason = not_shown(each.check, each.seen) if each.level is not Level.OK else ""
        if reason:
            yield unseen(each.check, Unseen(f"not shown by the emulator: {reason}"))
        else:
            yield each


def not_shown(check: str, seen: str) -> str:
    """Return the reason why an emulator cannot show a check, or "" if it can."""
    return next(
        (
            reason
            for check_start, seen_start, reason in _NOT_SHOWN
            if check.startswith(check_start) and seen.startswith(seen_start)
        ),
        "",
    )
