"""How the commands name a batch: by its slot."""

from datetime import datetime

from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.instants import read_instant

from cli.shared.console import NotPossible, printable


def named_slot(text: str, *, name: str = "ID") -> datetime:
    """Any instant names the slot that it lies in; its zone must be there. Raises NotPossible."""
    try:
        instant = read_instant(text)
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise NotPossible(
            f"{name} {printable(text)!r} is no batch: write its slot in UTC, such as "
            "2026-11-22T06:10Z, as `gazette batch list` does."
        )
    return slot_of(instant)
