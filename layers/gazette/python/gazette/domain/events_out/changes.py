"""Changes of rows, and the events out of each. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from gazette.domain.delivery.run import Run
from gazette.domain.errors import UnreadableRow
from gazette.domain.events_out.engagements import engagement_events
from gazette.domain.events_out.events import EventOut
from gazette.domain.events_out.runs import run_events
from gazette.domain.events_out.subscribers import present_state, reader_events
from gazette.domain.feedback.delivery_events import Engagement
from gazette.domain.subscribers.subscriber import Reader

RowT = TypeVar("RowT", Run, Engagement)


@dataclass(frozen=True, slots=True)
class ReaderChange:
    """A change of a reader's row. None stands for a row without a profile."""

    before: Reader | UnreadableRow
    after: Reader
    at: datetime
    """The time of the write, to the second."""


@dataclass(frozen=True, slots=True)
class RunChange:
    """A change of a run's row."""

    before: Run | UnreadableRow | None
    after: Run | None
    at: datetime


@dataclass(frozen=True, slots=True)
class EngagementChange:
    """A change of the row with an email's delivery events."""

    before: Engagement | UnreadableRow | None
    after: Engagement | None
    at: datetime


Change = ReaderChange | RunChange | EngagementChange
"""A change of a row, with the row before and after it."""


def events_of(change: Change) -> Iterator[EventOut]:
    """Yield the events of a change.

    If the row before the change cannot be read, its present state is published. Ids do not depend
    on the row before, so consumers recognise what they already know.
    """
    match change:
        case ReaderChange(before, after, at):
            if isinstance(before, UnreadableRow):
                yield from present_state(after, at)
            else:
                yield from reader_events(before, after, at)
        case RunChange(before, after, at):
            yield from run_events(_if_readable(before), after, at)
        case EngagementChange(before, after, _):
            yield from engagement_events(_if_readable(before), after)


def _if_readable(row: RowT | UnreadableRow | None) -> RowT | None:
    return None if isinstance(row, UnreadableRow) else row
