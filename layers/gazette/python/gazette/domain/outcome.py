"""The outcomes of processing messages from services, for metrics and logs."""

from enum import StrEnum


class Outcome(StrEnum):
    """The outcome of processing one event, activity, follow, choice or profile."""

    STORED = "stored"
    DUPLICATE = "duplicate"
    AMENDED = "amended"
    RETRACTED = "retracted"
    MUTED = "muted"
    TOO_MANY_MUTED = "too_many_muted"
    NOT_FOLLOWED = "not_followed"
    UNSUBSCRIBED = "unsubscribed"
    ERASED = "erased"
    CHANGED = "changed"
    OUTDATED = "outdated"
    ACTIVE = "active"
    SEEN = "seen"
    QUARANTINED = "quarantined"
    FOREIGN = "foreign"
    TOO_OLD = "too_old"
