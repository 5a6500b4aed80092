"""Which dead letters to redrive: those of a run, of a batch, or of a day."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime

from gazette.domain.identity import parse_run_id
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_of

from cli.dead_letters.messages import DeadLetter
from cli.shared.console import NotPossible, printable
from cli.shared.slots import named_slot

DueAt = Callable[[RunKey], datetime | None]
"""When a run was due; None if it no longer exists."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked for; all of it must be true of a letter, and nothing of it is of any.

    `batch`: the slot in which its run was due, which runs at once have none of; `on`: the date of
    UTC on which it was due.
    """

    run: RunKey | None
    batch: datetime | None
    on: date | None

    @property
    def is_everything(self) -> bool:
        """Whether there is no option, so that every dead letter is selected."""
        return self == Selection(None, None, None)

    def includes(self, letter: DeadLetter, due_at: DueAt) -> bool:
        """Whether a dead letter is selected; one that names no run only if all are."""
        if self.is_everything:
            return True
        if letter.key is None or (self.run and letter.key != self.run):
            return False
        if self.batch is None and self.on is None:
            return True
        due = due_at(letter.key)
        if due is None or (self.on and due.astimezone(UTC).date() != self.on):
            return False
        return self.batch is None or (not letter.key.is_immediate and slot_of(due) == self.batch)


def select(run: str | None, batch: str | None, on: datetime | None) -> Selection:
    """The selection that the options describe. Raises NotPossible."""
    return Selection(
        run=_run(run) if run else None,
        batch=named_slot(batch, name="--batch") if batch else None,
        on=on.date() if on else None,
    )


def _run(text: str) -> RunKey:
    try:
        return parse_run_id(text)
    except ValueError as err:
        raise NotPossible(
            f"--run {printable(text)!r} is no run: write its id, such as ann-daily-17, as "
            "`gazette dlq show` and `gazette explain` do."
        ) from err
