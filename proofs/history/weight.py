"""The size of a row: the bytes that the real adapter would store."""

from datetime import timedelta
from typing import Any

from gazette.adapters.dynamodb import activities
from gazette.adapters.dynamodb.events import event_row
from gazette.adapters.dynamodb.histories import write_changes
from gazette.adapters.dynamodb.runs import run_row
from gazette.adapters.dynamodb.tables import ActivityRow, FollowRow
from gazette.domain.delivery.run import Run
from gazette.domain.model import Retracted, StoredEvent
from gazette.domain.subscribers.following import Activity, Follow

from tests.meter import item_size

RETENTION = timedelta(days=200)
"""The retention of runs."""

_KEYS = 150
"""The bytes of a row that contains only keys. A schedule has several times as many bytes."""


def weight(row: Any) -> int:
    """Return the bytes of a row."""
    match row:
        case Run():
            return _size(run_row(row, retention=RETENTION))
        case StoredEvent():
            return _size(event_row(row))
        case Follow():
            return _size(follow_row(row))
        case Activity():
            return _size(activity_row(row))
        case Retracted() | str() | tuple():
            return _KEYS
        case _:
            return 4 * _KEYS


def follow_row(follow: Follow) -> FollowRow:
    """Return the row of an active follow."""
    return FollowRow(follow.entity, follow.user_id, changes=write_changes(follow.changes))


def activity_row(activity: Activity) -> ActivityRow:
    """Return the row of an activity without a parent."""
    row = activities.activity_row(activity, activity.occurred_at + RETENTION)
    row.walked = set(activity.walked) or None
    return row


def _size(row: Any) -> int:
    return item_size(row.serialize())
