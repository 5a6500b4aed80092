"""The progress of an import: a line on a terminal, or a note every ten seconds."""

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from gazette_cli.imports.items import Kind
from gazette_cli.shared.console import note, wants_json

_BETWEEN_NOTES = 10.0


class Display:
    """A progress line on standard error if it is a terminal, else notes."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        console = Console(stderr=True)
        self._bar = None
        if console.is_terminal and not wants_json():
            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=console,
                transient=True,
            )
        self._task = self._bar.add_task("", total=None) if self._bar else None
        self._clock = clock
        self._noted_at: float | None = None

    def __enter__(self) -> "Display":
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def put(self, kind: Kind, done: int, total: int) -> None:
        """Show how many items of a kind are acknowledged."""
        if self._bar and self._task is not None:
            self._bar.update(self._task, description=kind.plural, completed=done, total=total)
        elif done == total or self._is_due():
            note(f"{kind.plural}: {done:,} of {total:,}")

    def waiting(self, messages: int) -> None:
        """Show that the import waits for ingest."""
        text = f"waiting for ingest, which has {messages:,} messages"
        if not messages:
            text = "waiting for a minute, because SQS counts messages late"
        if self._bar and self._task is not None:
            self._bar.update(self._task, description=text)
        elif self._is_due():
            note(text)

    def _is_due(self) -> bool:
        now = self._clock()
        if self._noted_at is not None and now - self._noted_at < _BETWEEN_NOTES:
            return False
        self._noted_at = now
        return True
