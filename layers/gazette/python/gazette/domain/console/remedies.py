"""The remedies for invalid ids, which commands and the support page state in the same words."""

USER = "Specify the user_id of your events, which has 1 to 64 ASCII characters without spaces."
EVENT = "Specify the id of the event."
RUN = "Specify an id such as ann-daily-17."
SLOT = "Specify the slot of a batch in UTC, such as 2026-11-22T06:10Z."


def gone(days: int) -> str:
    """Return the reason why a run may be missing."""
    return f"Runs are deleted after {days} days."
