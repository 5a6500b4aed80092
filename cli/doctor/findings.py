"""What a check finds, and what could not be looked at."""

from dataclasses import dataclass

from cli.shared.answers import Level


@dataclass(frozen=True, slots=True)
class Finding:
    """`seen`: the fact. `todo`: what to do, and `page` where to read on; both empty if all is
    well."""

    check: str
    level: Level
    seen: str
    todo: str = ""
    page: str = ""


@dataclass(frozen=True, slots=True)
class Unseen:
    """What could not be looked at, and why, as the end of a sentence."""

    why: str


def ok(check: str, seen: str) -> Finding:
    """All is well."""
    return Finding(check, Level.OK, seen)


def warning(check: str, seen: str, todo: str, page: str) -> Finding:
    """Somebody should look."""
    return Finding(check, Level.WARNING, seen, todo, page)


def problem(check: str, seen: str, todo: str, page: str) -> Finding:
    """It does not work."""
    return Finding(check, Level.PROBLEM, seen, todo, page)


def unseen(check: str, what: Unseen) -> Finding:
    """Nobody looked: it may be well or not."""
    return Finding(check, Level.UNSEEN, what.why)
