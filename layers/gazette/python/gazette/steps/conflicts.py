"""Retry an optimistic write: read, decide, and write only if the row has not changed since."""

from gazette.domain.errors import NotYet

ATTEMPTS = range(5)
"""The number of tries of an optimistic write before a redelivery of the message continues.

    for _ in ATTEMPTS:
        current = rows.get(key)
        if rows.put(changed(current), replacing=current):
            return
    raise kept_changing("The row")
"""


def kept_changing(what: str) -> NotYet:
    """Return the error to raise after the last attempt; `what` is the subject of its sentence."""
    return NotYet(f"{what} kept changing. Try again later; completed work is not lost.")
