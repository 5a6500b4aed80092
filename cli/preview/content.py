"""What there is to show: a reader, and the events of one email to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Event
from gazette.domain.scheduling.kinds import ScheduleKind, immediate_schedule, kind_of
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.support.pending import Waiting

from cli.events.checking import Checked
from cli.events.digest_lines import events_in
from cli.preview.sample import EVENTS, READER
from cli.shared.console import NotPossible


class Kind(StrEnum):
    """The emails that there are."""

    DIGEST = "digest"
    IMMEDIATE = "immediate"


@dataclass(frozen=True, slots=True)
class EmailContent:
    """One email that is to be rendered. `schedule` says which kind, and why the reader gets it."""

    reader: Subscriber
    events: tuple[Event, ...]
    schedule: str

    @property
    def due_at(self) -> datetime:
        """When it is due, by which it calls days: as soon as the latest event has occurred."""
        return max(event.occurred_at for event in self.events)


def sample(kind: Kind) -> EmailContent:
    """With a bit of everything that makes an email look bad."""
    return _letter(READER, EVENTS, kind)


def of_entries(entries: Sequence[Checked], kind: Kind) -> EmailContent:
    """The events of a file, for the first reader of whom it has any. Raises NotPossible.

    A profile of theirs in the file says how they read; without it, they read as the sample does.
    """
    commands = [each.command for each in entries if each.command]
    events = events_in(commands)
    if not events:
        refused = sum(bool(each.problems) for each in entries)
        why = f"; {refused} would be refused, and `gazette event lint` says why" if refused else ""
        raise NotPossible(
            f"There is nothing to show among {len(entries)} entries{why}: put an event.created or "
            "an activity.created among them."
        )
    user_id = events[0].user_id
    profiles = [
        command.subscriber
        for command in commands
        if isinstance(command, ChangeSubscriber) and command.subscriber.user_id == user_id
    ]
    reader = max(profiles, key=lambda each: each.changed_at, default=READER)
    return _letter(reader, [each for each in events if each.user_id == user_id], kind)


def of_waiting(waiting: Waiting | None, user_id: str, kind: Kind) -> EmailContent:
    """What a reader will get. Raises NotPossible where nothing waits for them."""
    if waiting is None:
        raise NotPossible(
            f"There is no profile of {user_id}: `gazette explain {user_id}` says why."
        )
    immediate = sorted(
        name for name in waiting.by_schedule if kind_of(name) is ScheduleKind.IMMEDIATE
    )
    digests = (DAILY, Frequency.WEEKLY.value, Frequency.CUSTOM.value)
    for schedule in immediate if kind is Kind.IMMEDIATE else digests:
        if events := waiting.by_schedule.get(schedule):
            return EmailContent(waiting.subscriber, events, schedule)
    what = "No immediate email" if kind is Kind.IMMEDIATE else "No digest"
    raise NotPossible(f"{what} waits for {user_id}: `gazette explain {user_id}` says what does.")


def _letter(reader: Subscriber, events: Sequence[Event], kind: Kind) -> EmailContent:
    """An immediate email is about one entity: the one that would come first in a digest."""
    if kind is Kind.DIGEST:
        return EmailContent(reader, tuple(events), DAILY)
    busiest = compose(events, max_blocks=1).blocks[0].latest.entity.key
    about = tuple(event for event in events if event.entity.key == busiest)
    return EmailContent(reader, about, immediate_schedule(busiest))
