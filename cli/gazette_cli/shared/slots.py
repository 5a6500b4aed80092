"""Slots, which identify batches."""

from datetime import datetime

from gazette.domain.console import remedies
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.instants import read_zoned_instant

from gazette_cli.shared.console import NotPossible, printable


def named_slot(text: str, *, name: str = "ID") -> datetime:
    """Return the slot that contains an instant with a time zone. Raises NotPossible."""
    try:
        return slot_of(read_zoned_instant(text))
    except ValueError as err:
        raise NotPossible(
            f"{name} {printable(text)!r} is not a batch. {remedies.SLOT} To see the slots, run "
            "`gazette batch list`."
        ) from err
