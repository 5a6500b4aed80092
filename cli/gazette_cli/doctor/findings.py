"""Findings of the checks."""

from dataclasses import dataclass

from gazette.domain.console.levels import Level


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
