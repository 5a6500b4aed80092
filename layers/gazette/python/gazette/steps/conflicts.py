"""Retries of optimistic writes, which fail if the row has changed since it was read."""

from gazette.domain.errors import NotYet

ATTEMPTS = range(5)
"""The maximum number of attempts of an optimistic write. If all attempts fail, the message is
retried.

    for _ in ATTEMPTS:
        current = rows.get(key)
        if rows.put(changed(current), replacing=current):
            return
    raise kept_changing("The row")
"""


def kept_changing(what: str) -> NotYet:
    """Return the error to raise when all attempts of an optimistic write have failed.

    `what` is the subject of the error message.
    """
    return NotYet(f"{what} kept changing. Try again later; completed work is not lost.")
