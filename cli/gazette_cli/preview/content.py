"""The content of an email: the reader and the events."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Event
from gazette.domain.scheduling.kinds import ScheduleKind, immediate_schedule, kind_of
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.support.pending import Waiting

from gazette_cli.events.checking import Checked
from gazette_cli.events.digest_lines import events_in
from gazette_cli.preview.sample import EVENTS, READER
from gazette_cli.shared.console import NotPossible


class Kind(StrEnum):
    """The kinds of email that can be rendered."""

    DIGEST = "digest"
    IMMEDIATE = "immediate"


@dataclass(frozen=True, slots=True)
class EmailContent:
    """The reader, events and schedule of an email."""

    reader: Subscriber
    events: tuple[Event, ...]

    # The name of the schedule. It determines the kind and the footer of the email.
    schedule: str

    # The date on which the reader's digests end, if the email has the notice about it.
    ends_on: date | None = None

    @property
    def due_at(self) -> datetime:
        """The due time, which is the time of the latest event. Days in the email are named relative
        to this time.
        """
        return max(event.occurred_at for event in self.events)


def sample(kind: Kind) -> EmailContent:
    """Return sample content, with texts that are difficult to lay out."""
    return _letter(READER, EVENTS, kind)


def of_entries(entries: Sequence[Checked], kind: Kind) -> EmailContent:
    """Return the events of the first reader in a file. Raises NotPossible.

    The profile in the file describes the reader. Without a profile, the sample reader is used.
    """
    commands = [each.command for each in entries if each.command]
    events = events_in(commands)
    if not events:
        rejected = sum(bool(each.problems) for each in entries)
        verb = "entry is" if rejected == 1 else "entries are"
        why = (
            f" {rejected} {verb} invalid. To see the problems, run `gazette event lint`."
            if rejected
            else ""
        )
        number = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
        raise NotPossible(
            f"No event to show in {number}.{why} Add an event.created or activity.created event."
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
    """Return the waiting events of a reader. Raises NotPossible if there are none."""
    if waiting is None:
        raise NotPossible(
            f"{user_id} has no profile. To see the reason, run `gazette explain {user_id}`."
        )
    immediate = sorted(
        name for name in waiting.by_schedule if kind_of(name) is ScheduleKind.IMMEDIATE
    )
    digests = (DAILY, Frequency.WEEKLY.value, Frequency.CUSTOM.value)
    for schedule in immediate if kind is Kind.IMMEDIATE else digests:
        if events := waiting.by_schedule.get(schedule):
            return EmailContent(waiting.subscriber, events, schedule)
    email = "an immediate email" if kind is Kind.IMMEDIATE else "a digest"
    raise NotPossible(
        f"No event of {user_id} is waiting for {email}. To see the waiting events, run `gazette "
        f"explain {user_id}`."
    )


def _letter(reader: Subscriber, events: Sequence[Event], kind: Kind) -> EmailContent:
    """Return the content of an email. An immediate email contains only the events of the entity
    that a digest would show first.
    """
    if kind is Kind.DIGEST:
        return EmailContent(reader, tuple(events), DAILY)
    busiest = compose(events, max_blocks=1).blocks[0].latest.entity.key
    about = tuple(event for event in events if event.entity.key == busiest)
    return EmailContent(reader, about, immediate_schedule(busiest))
