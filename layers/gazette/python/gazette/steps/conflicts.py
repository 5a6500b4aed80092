"""Retry an optimistic write: read, decide, and write only if nothing has changed since the read."""

from gazette.domain.errors import NotYet

ATTEMPTS = range(5)
"""How often an optimistic write is tried before it is left to a redelivery of the message.

    for _ in ATTEMPTS:
        current = rows.get(key)
        if rows.put(changed(current), replacing=current):
            return
    raise kept_changing("The row")
"""


def kept_changing(what: str) -> NotYet:
    """The error to raise after the last attempt; `what` names the subject of the sentence."""
    return NotYet(f"{what} kept changing. Try again later: nothing that was done is lost.")
