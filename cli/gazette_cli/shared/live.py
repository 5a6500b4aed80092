"""Live views, and progress bars for long tasks, on the terminal."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Protocol, TypeVar

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress import track

from gazette_cli.shared.answers import Document, answer
from gazette_cli.shared.console import wants_json

_BETWEEN_LOOKS = 2.0
"""The minimum interval between reads in seconds. Reads take at most a quarter of the total time."""

Item = TypeVar("Item")


class Snapshot(Protocol):
    """The state of a live view at one time."""

    @property
    def document(self) -> Document:
        """The state as JSON output."""

    def lines(self) -> Sequence[Sequence[str]]:
        """Return the cells of each line of piped output."""

    def picture(self) -> RenderableType:
        """Draw the state for a terminal."""


SnapshotT = TypeVar("SnapshotT", bound=Snapshot)


def watch(
    first: SnapshotT,
    refresh: Callable[[SnapshotT], SnapshotT],
    *,
    is_last: Callable[[SnapshotT], bool],
) -> None:
    """Print the first snapshot. On a terminal, refresh it until `is_last` is true or Ctrl-C is
    pressed.
    """
    console = Console()
    if wants_json() or not console.is_terminal:
        answer(first.document, lines=first.lines(), picture=first.picture)
        return
    snapshot, duration = first, 0.0
    with suppress(KeyboardInterrupt), Live(snapshot.picture(), console=console) as live:
        while not is_last(snapshot):
            _pause(max(_BETWEEN_LOOKS, 3 * duration))
            began = time.monotonic()
            snapshot = refresh(snapshot)
            live.update(snapshot.picture())
            duration = time.monotonic() - began


def progress(items: Iterable[Item], doing: str, *, total: int | None = None) -> Iterable[Item]:
    """Iterate over items. If standard error is a terminal, show a progress bar."""
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
