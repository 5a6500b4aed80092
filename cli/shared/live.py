"""What a terminal shows while it lasts: a view that refreshes, and the bar of a long task."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Protocol, TypeVar

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress import track

from cli.shared.answers import Document, answer
from cli.shared.console import wants_json

_BETWEEN_LOOKS = 2.0
"""Seconds, at least: looking takes a quarter of the time at most."""

Item = TypeVar("Item")


class Sight(Protocol):
    """What was seen at one look."""

    @property
    def document(self) -> Document:
        """For programs."""

    def lines(self) -> Sequence[Sequence[str]]:
        """Where it is piped."""

    def picture(self) -> RenderableType:
        """For people."""


SightT = TypeVar("SightT", bound=Sight)


def watch(
    first: SightT, again: Callable[[SightT], SightT], *, is_last: Callable[[SightT], bool]
) -> None:
    """Answer with the first look; on a terminal look `again` until `is_last`, or Ctrl-C."""
    console = Console()
    if wants_json() or not console.is_terminal:
        answer(first.document, lines=first.lines(), picture=first.picture)
        return
    sight, took = first, 0.0
    with suppress(KeyboardInterrupt), Live(sight.picture(), console=console) as live:
        while not is_last(sight):
            _pause(max(_BETWEEN_LOOKS, 3 * took))
            began = time.monotonic()
            sight = again(sight)
            live.update(sight.picture())
            took = time.monotonic() - began


def progress(items: Iterable[Item], doing: str, *, total: int | None = None) -> Iterable[Item]:
    """The items, with a bar on standard error while that is a terminal."""
    console = Console(stderr=True)
    return track(
        items,
        doing,
        total=total,
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _pause(seconds: float) -> None:
    time.sleep(seconds)
