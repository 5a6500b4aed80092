"""A batch as a row of a list and as a live view; the rate of a stream, and why it is stopped."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.run import Status
from gazette.domain.scheduling.calendar import slot_id
from gazette.steps.support.batches import BatchView
from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from cli.shared.console import printable

COLUMNS = (
    "batch",
    "stands",
    "expected",
    "pending",
    "sent",
    "skipped",
    "failed",
    "cancelled",
    "unknown",
)


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """A batch as it was looked at; `per_second` is how many runs ended since the look before."""

    view: BatchView
    pace: PaceReading
    per_second: float | None

    @classmethod
    def first(cls, view: BatchView, pace: PaceReading) -> "BatchProgress":
        """As of the first look: the rate is that since the batch began."""
        began = view.batch.started_at
        return cls(view, pace, _rate(view.ended, view.looked_at - began) if began else None)

    def then(self, view: BatchView, pace: PaceReading) -> "BatchProgress":
        """As of the next look."""
        passed = view.looked_at - self.view.looked_at
        return BatchProgress(view, pace, _rate(view.ended - self.view.ended, passed))

    @property
    def left(self) -> timedelta | None:
        """How long it takes until all have ended, at this rate."""
        if self.view.is_over or not self.per_second:
            return None
        return timedelta(seconds=math.ceil(self.view.to_come / self.per_second))

    def lines(self) -> list[tuple[str, ...]]:
        """For programs: a name and a value each; runs by status and reason."""
        view = self.view
        named = [
            ("batch", slot_id(view.batch.slot)),
            ("stands", stands(view)),
            ("expected", f"{view.expected}"),
            ("not started", f"{view.not_started}"),
            ("ended", f"{view.ended}"),
        ]
        if not view.is_over:
            named += [("a second", _rate_text(self.per_second)), ("left", _left_text(self.left))]
        runs = [("runs", *map(str, row)) for row in _by_status(view)]
        return [*named, *runs, ("rate", pace_text(self.pace))]

    def picture(self) -> RenderableType:
        """For people: what it is, a bar, runs by status and reason, and how fast digests go out."""
        view = self.view
        title = Text(f"Batch {slot_id(view.batch.slot)}, {stands(view)}", style="bold")
        bar = Table.grid(padding=(0, 1))
        bar.add_row(
            ProgressBar(total=max(view.expected, 1), completed=view.ended, width=40),
            Text(f"{view.ended} of {view.expected}"),
            Text("" if view.is_over else f"{_rate_text(self.per_second)} a second"),
            Text("" if view.is_over else f"{_left_text(self.left)} left"),
        )
        table = Table("status", "reason", "runs")
        table.columns[2].justify = "right"
        for row in _by_status(view):
            table.add_row(*map(str, row))
        if view.not_started:
            table.add_row("not started", "fan-out has not reached them yet", f"{view.not_started}")
        return Group(title, bar, table, Text(pace_text(self.pace), style="dim"))


def stands(view: BatchView) -> str:
    """The state in a word or two: to come, under way, over, or cancelled."""
    if view.batch.cancelled_at:
        return f"cancelled at {view.batch.cancelled_at:%H:%M:%S} UTC"
    if view.batch.started_at is None:
        return "to come"
    return "over" if view.is_over else "under way"


def row(view: BatchView) -> tuple[str, ...]:
    """A batch in the list; the columns are COLUMNS."""
    numbers = (
        view.expected,
        view.to_come,
        view.number(Status.SENT),
        view.number(Status.SKIPPED),
        view.number(Status.FAILED),
        view.number(Status.CANCELLED),
        view.number(Status.UNKNOWN),
    )
    return slot_id(view.batch.slot), stands(view), *map(str, numbers)


def listing(views: Sequence[BatchView]) -> Table:
    """The list, for people."""
    table = Table(*COLUMNS)
    for column in table.columns[2:]:
        column.justify = "right"
    for view in views:
        table.add_row(*row(view))
    return table


def pace_text(pace: PaceReading) -> str:
    """The rate of all digests together, and why they are stopped, if they are."""
    stopped = f"; {stopped_text(pace.breaker)}" if pace.breaker else ""
    return f"{rate_text(pace)}{stopped}"


def rate_text(pace: PaceReading) -> str:
    """How fast a stream goes, and what it has of the day."""
    of = "" if pace.rate == pace.full_rate else f" of {pace.full_rate:g}"
    cap = "" if pace.cap is None else f" of {pace.cap}, the cap of a new sending domain"
    quota = ""
    if pace.quota and pace.quota.daily is not None and pace.quota.left is not None:
        left, daily = pace.quota.left, pace.quota.daily
        quota = f"; {left:,} left for it of the account's {daily:,} in 24 hours"
    return f"at most {pace.rate:g}{of} emails a second; {pace.taken}{cap} today (UTC){quota}"


def stopped_text(breaker: OpenBreaker) -> str:
    """Why nothing is sent, since when, and when the next email is tried."""
    how = "by hand" if breaker.by_hand else "automatically"
    why = f" ({printable(breaker.why)})" if breaker.why else ""
    return f"stopped {how} since {moment(breaker.since)}{why}: {next_try(breaker)}"


def next_try(breaker: OpenBreaker) -> str:
    """When the next email is tried."""
    if breaker.by_hand:
        return "none until you resume sending"
    if breaker.is_probed:
        return f"one email is being tried now, the next at {moment(breaker.until)} or later"
    return f"one email at {moment(breaker.until)} or later"


def moment(instant: datetime) -> str:
    """An instant, to the second."""
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC"


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


def _left_text(left: timedelta | None) -> str:
    return "?" if left is None else str(left)
