"""The tables that `make attention` prints."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from statistics import median

from proofs.attention.acts import BEGIN, BUSY, CALM, Feature
from proofs.attention.simulation import Email
from proofs.attention.verdict import DIGEST, IMMEDIATE, MUTED, SEEN, Verdict

_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
_SECOND = timedelta(seconds=1)
_NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def name_of(features: frozenset[Feature]) -> str:
    """Return the name of a row."""
    if features == frozenset(Feature):
        return "all features"
    return ", ".join(each.value for each in Feature if each in features) or "no feature"


def tables(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the lines of both tables."""
    days = 1 + max((_day(email) for each in verdicts for email in each.emails), default=0)
    names = [_NAMES[day % len(_NAMES)] for day in range(days)]
    head = ["emails", "busy reader", "immediate", "digests", "in an hour", *names, "calm reader"]
    yield from _aligned([head, *(_emails(each, days) for each in verdicts)])
    yield ""
    head = ["events", "all", IMMEDIATE, DIGEST, SEEN, MUTED, "median wait", "longest wait"]
    yield from _aligned([[*head, "lost", "twice"], *map(_events, verdicts)])


def total(before: Verdict, after: Verdict, verdicts: Sequence[Verdict]) -> str:
    """Return the last line. `at_night` counts immediate emails with all features.

    `lost` and `twice` are the sums of all simulations.
    """
    return (
        f"attention: events={before.events} emails_before={len(before.emails)} "
        f"emails_after={len(after.emails)} at_night_before={before.at_night} "
        f"at_night={after.at_night} lost={sum(each.lost for each in verdicts)} "
        f"twice={sum(each.twice for each in verdicts)}"
    )


def of_reader(emails: Sequence[Email], user_id: str) -> list[Email]:
    """Return the emails of a reader."""
    return [email for email in emails if email.key.user_id == user_id]


def by_hour(emails: Sequence[Email]) -> Counter[int]:
    """Return the number of emails in each hour from the beginning."""
    return Counter((email.at - BEGIN) // _HOUR for email in emails)


def _day(email: Email) -> int:
    return (email.at - BEGIN) // _DAY


def _emails(verdict: Verdict, days: int) -> list[str]:
    busy = of_reader(verdict.emails, BUSY)
    immediate = sum(email.key.is_immediate for email in busy)
    by_day = Counter(map(_day, busy))
    numbers = [
        len(busy),
        immediate,
        len(busy) - immediate,
        max(by_hour(busy).values(), default=0),
        *(by_day[day] for day in range(days)),
        len(of_reader(verdict.emails, CALM)),
    ]
    return [name_of(verdict.features), *(f"{number:,}" for number in numbers)]


def _events(verdict: Verdict) -> list[str]:
    waits = [wait / _SECOND for wait in verdict.waits] or [0.0]
    ends = [verdict.ends[end] for end in (IMMEDIATE, DIGEST, SEEN, MUTED)]
    return [
        name_of(verdict.features),
        *(f"{number:,}" for number in (verdict.events, *ends)),
        _duration(median(waits)),
        _duration(max(waits)),
        str(verdict.lost),
        str(verdict.twice),
    ]


def _duration(seconds: float) -> str:
    if seconds < 2 * 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * 3600 else f"{seconds / 3600:.1f} h"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        numbers = (each.rjust(width) for each, width in zip(others, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *numbers]).rstrip()
