"""What became of what a service said: counted, logged, and never silent."""

from enum import StrEnum


class Outcome(StrEnum):
    """One for each event, activity, follow or profile of a message."""

    STORED = "stored"
    DUPLICATE = "duplicate"
    AMENDED = "amended"
    RETRACTED = "retracted"
    MUTED = "muted"
    NOT_FOLLOWED = "not_followed"
    UNSUBSCRIBED = "unsubscribed"
    ERASED = "erased"
    CHANGED = "changed"
    OUTDATED = "outdated"
    ACTIVE = "active"
    QUARANTINED = "quarantined"
