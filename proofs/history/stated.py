"""The documented cost and growth of each use case. docs/tables.md and the tests use it."""

from collections.abc import Mapping
from dataclasses import dataclass

from proofs.history.verdict import Case

SIZES = (10, 100, 1_000, 10_000)


@dataclass(frozen=True)
class Grows:
    """A use case that may grow with some kinds of past, and its calls per hundred rows."""

    use: str
    kinds: tuple[str, ...]
    per_hundred: int
    how: str


CALLS: Mapping[str, int] = {
    "publish immediate": 6,
    "publish for the digest": 6,
    "publish critical": 6,
    "publish a list of ten": 20,
    "publish an activity": 10,
    "choose": 17,
    "unfollow": 16,
    "follow late": 26,
    "visit": 8,
    "mute": 4,
    "leave": 9,
    "leave the digests": 30,
    "return": 15,
    "erase": 12,
    "fan out": 10,
    "generate a digest": 12,
    "generate immediate": 10,
    "generate critical": 14,
    "sweep": 26,
    "redrive the last": 10,
    "redrive the first": 9,
    "explain": 7,
    "receipt": 4,
    "preference page": 4,
}
"""The maximum calls of each use case with ten rows, for each kind with bounded growth."""

GROWS: tuple[Grows, ...] = (
    Grows(
        "leave the digests",
        ("follows",),
        2,
        "one Query for each megabyte of follows, one BatchGetItem for each hundred follows",
    ),
    Grows(
        "erase",
        ("runs", "threads", "activities", "suppressed", "waiting", "paused", "stopped", "marks"),
        5,
        "one Query for each 500 events and visits, one BatchWriteItem for each 25",
    ),
    Grows(
        "follow late",
        ("activities",),
        5,
        "three BatchGetItem and one TransactWriteItems for each hundred activities",
    ),
    Grows(
        "choose and move",
        ("waiting",),
        2,
        "one Query for each megabyte of events, one TransactWriteItems for each 90 moved events",
    ),
    Grows(
        "leave the digests",
        ("waiting",),
        2,
        "one Query for each megabyte of events, one TransactWriteItems for each 90 moved events",
    ),
    Grows("erase", ("follows",), 5, "one BatchWriteItem for each 25 follows"),
    Grows("sweep", ("stopped",), 202, "one SendMessageBatch and one PutItem for each run"),
    Grows(
        "explain",
        ("runs", "threads", "suppressed", "stopped"),
        1,
        "one Query for each megabyte of runs",
    ),
    Grows(
        "explain",
        ("follows",),
        2,
        "one Query for each megabyte of follows, one BatchGetItem for each hundred follows",
    ),
    Grows(
        "preference page",
        ("follows",),
        2,
        "one Query for each megabyte of follows, one BatchGetItem for each hundred follows",
    ),
)

BOUNDS: Mapping[Case, int] = {("sweep", "stopped"): 15_010}
"""The maximum calls of a case with bounded growth, at any size. A sweep starts no run in the last
45 seconds of its two minutes. The next sweep continues with the remaining runs, oldest first.
"""

WORSE: Mapping[Case, int] = {}
"""The cases that still cost more than allowed, and the number of rows that shows this. Do not add
cases.
"""
