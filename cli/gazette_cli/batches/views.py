"""Views of batches: the list of all batches, and the live progress of one batch."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.run import Status
from gazette.domain.scheduling.calendar import slot_id
from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from gazette_cli.shared.answers import Document, Rows, Shown
from gazette_cli.shared.pace import pace_text, stream
from gazette_support.steps.batches import BatchView

COLUMNS = {
    "batch": "batch",
    "state": "state",
    "expected": "expected",
    "to_come": "pending",
    "sent": "sent",
    "skipped": "skipped",
    "failed": "failed",
    "cancelled": "cancelled",
    "unknown": "unknown",
    "started_at": "",
    "cancelled_at": "",
}


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """A snapshot of the progress of a batch."""

    view: BatchView
    pace: PaceReading

    # Runs that ended per second since the previous snapshot, or None if unknown.
    per_second: float | None

    @classmethod
    def first(cls, view: BatchView, pace: PaceReading) -> "BatchProgress":
        """Return the first snapshot, with the average rate since the batch began."""
        began = view.batch.started_at
        return cls(view, pace, _rate(view.ended, view.looked_at - began) if began else None)

    def then(self, view: BatchView, pace: PaceReading) -> "BatchProgress":
        """Return the next snapshot, with the rate since this snapshot."""
        passed = view.looked_at - self.view.looked_at
        return BatchProgress(view, pace, _rate(view.ended - self.view.ended, passed))

    @property
    def left(self) -> timedelta | None:
        """The estimated time until all runs have ended, or None if unknown."""
        if self.view.is_over or not self.per_second:
            return None
        return timedelta(seconds=math.ceil(self.view.to_come / self.per_second))

    @property
    def document(self) -> Document:
        """The progress as JSON output."""
        view = self.view
        return {
            "batch": slot_id(view.batch.slot),
            "state": state(view),
            "started_at": view.batch.started_at,
            "cancelled_at": view.batch.cancelled_at,
            "expected": view.expected,
            "not_started": view.not_started,
            "to_come": view.to_come,
            "ended": view.ended,
            "ended_per_second": self.per_second,
            "seconds_left": self.left,
            "runs": [
                {"status": status, "reason": reason, "runs": number}
                for status, reason, number in _by_status(view)
            ],
            "digests": stream(self.pace),
        }

    def lines(self) -> list[tuple[str, ...]]:
        """Return the rows of piped output: names with values, and the number of runs by status."""
        view = self.view
        facts = [
            ("batch", slot_id(view.batch.slot)),
            ("state", state_in_words(view)),
            ("expected", f"{view.expected}"),
            ("not started", f"{view.not_started}"),
            ("ended", f"{view.ended}"),
        ]
        if not view.is_over:
            facts += [("per second", _rate_text(self.per_second)), ("left", left_text(self.left))]
        runs = [("runs", *map(str, row)) for row in _by_status(view)]
        return [*facts, *runs, ("rate", pace_text(self.pace))]

    def picture(self) -> RenderableType:
        """Draw a progress bar, the number of runs by status and reason, and the rate of digests."""
        view = self.view
        title = Text(f"Batch {slot_id(view.batch.slot)}, {state_in_words(view)}", style="bold")
        bar = Table.grid(padding=(0, 1))
        bar.add_row(
            ProgressBar(total=max(view.expected, 1), completed=view.ended, width=40),
            Text(f"{view.ended} of {view.expected}"),
            Text("" if view.is_over else f"{_rate_text(self.per_second)} per second"),
            Text("" if view.is_over else f"{left_text(self.left)} left"),
        )
        table = Table("status", "reason", "runs")
        table.columns[2].justify = "right"
        for row in _by_status(view):
            table.add_row(*map(str, row))
        if view.not_started:
            table.add_row(
                "not started", "fan-out has not started these runs yet", f"{view.not_started}"
            )
        return Group(title, bar, table, Text(pace_text(self.pace), style="dim"))


def state_in_words(view: BatchView) -> str:
    """Return the state of a batch. For a cancelled batch, include the time of the cancellation."""
    cancelled = view.batch.cancelled_at
    return f"cancelled at {cancelled:%H:%M:%S} UTC" if cancelled else state(view)


def state(view: BatchView) -> str:
    """Return the state of a batch: to come, under way, over or cancelled."""
    if view.batch.cancelled_at:
        return "cancelled"
    if view.batch.started_at is None:
        return "to come"
    return "over" if view.is_over else "under way"


def listing(views: Sequence[BatchView]) -> Rows:
    """Return the rows of the list of batches."""
    return Rows("batches", COLUMNS, [_row(view) for view in views])


def _row(view: BatchView) -> tuple[object, ...]:
    return (
        slot_id(view.batch.slot),
        Shown(state(view), state_in_words(view)),
        view.expected,
        view.to_come,
        view.number(Status.SENT),
        view.number(Status.SKIPPED),
        view.number(Status.FAILED),
        view.number(Status.CANCELLED),
        view.number(Status.UNKNOWN),
        view.batch.started_at,
        view.batch.cancelled_at,
    )


def _by_status(view: BatchView) -> list[tuple[str, str, int]]:
    return [
        (status.value, reason.value, number)
        for status in Status
        for reason, number in view.by_reason(status).items()
    ]


def _rate(ended: int, passed: timedelta) -> float | None:
    return max(0, ended) / passed.total_seconds() if passed > timedelta(0) else None


def _rate_text(rate: float | None) -> str:
    return "?" if rate is None else f"{rate:.1f}"


def left_text(left: timedelta | None) -> str:
    """Format the remaining time, or "?" if it is unknown."""
    return "?" if left is None else str(left)
