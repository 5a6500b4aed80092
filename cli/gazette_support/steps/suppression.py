"""Import suppressions, and remove a suppression."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

from gazette.domain.ports.stores import Bounces, Suppressions
from gazette.domain.subscribers.suppression import Suppression


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionContext:
    """The suppressed addresses, and the soft bounces by address."""

    suppressions: Suppressions
    bounces: Bounces


SIDE_BY_SIDE = 10
"""The number of suppressions that are stored at the same time, one for each connection."""

_A_CHUNK = 1000


def suppress_all(
    given: Iterable[Suppression],
    *,
    suppressions: Suppressions,
    done: Callable[[int, int], object] = lambda *_: None,
) -> None:
    """Suppress all addresses, ten at a time. Safe to repeat.

    After each thousand, `done` gets the number of stored suppressions, and the number of them that
    are new. If a write fails, raise the error after the writes that have begun.
    """

    def add(each: Suppression) -> bool:
        return suppressions.add(each.address, each.cause, each.since)

    with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
        for chunk in _chunks(given):
            results = [threads.submit(add, each) for each in chunk]
            done(len(results), sum(each.result() for each in results))


def _chunks(given: Iterable[Suppression]) -> Iterator[list[Suppression]]:
    remaining = iter(given)
    while chunk := list(islice(remaining, _A_CHUNK)):
        yield chunk


def remove_suppression(found: Suppression, *, context: SuppressionContext) -> None:
    """Reset the soft bounces and lift the suppression, unless its cause has changed."""
    context.bounces.forget(found.address)
    context.suppressions.lift(found.address, found.cause)
