"""The selection of dead letters by run, batch or date."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime

from gazette.domain.identity import parse_run_id
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_of

from gazette_cli.dead_letters.messages import DeadLetter
from gazette_cli.shared.console import NotPossible, printable
from gazette_cli.shared.slots import named_slot

DueAt = Callable[[RunKey], datetime | None]
"""A function that returns the due time of a run, or None if the run no longer exists."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions that select dead letters. Without conditions, all dead letters are selected."""

    run: RunKey | None

    # The slot of a digest. Immediate runs do not have a slot.
    batch: datetime | None

    # The date in UTC on which the run was due.
    on: date | None

    @property
    def is_everything(self) -> bool:
        """True if there are no conditions."""
        return self == Selection(None, None, None)

    def includes(self, letter: DeadLetter, due_at: DueAt) -> bool:
        """Return True if a dead letter meets all conditions. A dead letter without a run meets no
        condition.
        """
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
    """Return the selection that the command's options specify. Raises NotPossible."""
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
            f"--run {printable(text)!r} is not a run id. Specify an id such as ann-daily-17. "
            "`gazette dlq show` and `gazette explain` show the ids."
        ) from err
