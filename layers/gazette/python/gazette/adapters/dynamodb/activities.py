"""Activities in DynamoDB. Each activity has one row keyed by its entity, and a pointer row keyed by
the entity's parent.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from pynamodb.expressions.condition import Condition

from gazette.adapters.dynamodb.client import (
    bind,
    decoded,
    each_decoded,
    put_or_current,
    read_each,
    read_row,
    translated,
    written,
)
from gazette.adapters.dynamodb.event_rows import (
    actor_fields,
    as_json,
    content_in,
    entity_fields,
    optional_fields,
)
from gazette.adapters.dynamodb.tables import ActivityRow
from gazette.adapters.dynamodb.values import in_years, text, texts
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import Retracted
from gazette.domain.ports.clock import Clock
from gazette.domain.subscribers.following import Activity

_A_CALL = 100


class DynamoActivities:
    """Implementation of the `Activities` port backed by the `activities` table."""

    def __init__(self, table_name: str, *, retention: timedelta, clock: Clock) -> None:
        bind(ActivityRow, table_name)
        self._retention = retention
        self._clock = clock

    def get(self, entity: str, activity_id: str) -> Activity | Retracted | None:
        """Read the activity with one strongly consistent GetItem."""
        row = read_row(ActivityRow, entity, activity_id)
        return decoded(row, _activity_in) if row else None

    def create(self, activity: Activity) -> tuple[bool, Activity | Retracted]:
        """Store the activity with one conditional PutItem, and each pointer with a separate
        PutItem.

        The pointers are written first, so that every stored activity can be found from its parent.
        """
        self._point(activity, ActivityRow.entity.does_not_exist())
        row = activity_row(activity, self._clock() + self._retention)
        current = put_or_current(row, ActivityRow.entity.does_not_exist())
        return (True, activity) if current is None else (False, decoded(current, _activity_in))

    def replace(self, before: Activity, after: Activity) -> bool:
        """Replace the activity with one conditional PutItem, and the parent's pointer with a second
        PutItem.
        """
        self._point(after)
        row = activity_row(after, self._clock() + self._retention)
        try:
            return put_or_current(row, _is_unchanged(before)) is None
        except LookupError:
            return False

    def retract(self, entity: str, activity_id: str) -> Activity | Retracted:
        """Mark the activity as retracted with one conditional UpdateItem.

        If it was already retracted, one GetItem follows.
        """
        row = ActivityRow(entity, activity_id)
        withdrawn = written(
            row.update,
            actions=[
                ActivityRow.retracted.set(True),
                ActivityRow.walked.remove(),
                ActivityRow.expires_at.set(self._clock() + self._retention),
            ],
            condition=ActivityRow.retracted.does_not_exist() | (ActivityRow.retracted == False),  # noqa: E712 -- a condition of DynamoDB
        )
        if withdrawn:
            return decoded(row, _activity_in)
        return self.get(entity, activity_id) or Retracted(activity_id)

    def mark_walked(self, activity: Activity, side: str) -> bool:
        """Record, with one conditional UpdateItem, that all followers received the activity."""
        return written(
            ActivityRow(activity.entity.key, activity.id).update,
            actions=[ActivityRow.walked.add({side})],
            condition=_is_unchanged(activity),
        )

    def get_many(
        self, keys: Collection[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Activity | Retracted | UnreadableRow]:
        """Read activities with one strongly consistent BatchGetItem per hundred."""
        rows = list(read_each(ActivityRow, list(keys)))
        activities = each_decoded(rows, _activity_in)
        return {
            (row.entity, row.activity_id): activity
            for row, activity in zip(rows, activities, strict=True)
        }

    def since(self, side: str, instant: datetime) -> Iterator[Activity | UnreadableRow]:
        """Read the activities on an entity or on its children that occurred at or after `instant`.

        Costs one strongly consistent Query of the index per megabyte, and one BatchGetItem per
        hundred activities.
        """
        with translated():
            rows = list(
                ActivityRow.occurred_index.query(
                    side, ActivityRow.occurred_at >= instant, consistent_read=True
                )
            )
        keys = list(dict.fromkeys(map(_key_of_home, rows)))
        for first in range(0, len(keys), _A_CALL):
            for activity in self.get_many(keys[first : first + _A_CALL]).values():
                if isinstance(activity, UnreadableRow) or (
                    isinstance(activity, Activity) and activity.concerns_since(side, instant)
                ):
                    yield activity

    def _point(self, activity: Activity, condition: Condition | None = None) -> None:
        home = activity.entity.key
        for side in activity.sides[1:]:
            row = ActivityRow(
                side,
                _pointer(home, activity.id),
                home=home,
                occurred_at=activity.occurred_at,
                expires_at=self._clock() + self._retention,
            )
            written(row.save, condition)


def activity_row(activity: Activity, expires_at: datetime) -> ActivityRow:
    """Return the row to write when a version of an activity is stored. `walked` starts empty."""
    return ActivityRow(
        activity.entity.key,
        activity.id,
        occurred_at=activity.occurred_at,
        body=body_of_activity(activity),
        amended_at=activity.amended_at,
        retracted=activity.retracted,
        expires_at=expires_at,
    )


def _key_of_home(row: ActivityRow) -> tuple[str, str]:
    """Return the key of an activity from its row or from a pointer."""
    if row.home is None:
        return row.entity, row.activity_id
    return row.home, row.activity_id.removeprefix(_pointer(row.home, ""))


def _pointer(home: str, activity_id: str) -> str:
    """Return the sort key of a pointer. Control characters distinguish the key from activity ids.

    The key contains a hash of the entity, because DynamoDB limits sort keys to 1,024 bytes.
    """
    return f"\t{hashlib.sha256(home.encode()).hexdigest()}\t{activity_id}"


def _is_unchanged(activity: Activity) -> Condition:
    """Return the condition that the row has not changed since `activity` was read."""
    amended_at = (
        ActivityRow.amended_at.does_not_exist()
        if activity.amended_at is None
        else ActivityRow.amended_at == activity.amended_at
    )
    condition: Condition = (
        ActivityRow.body.exists() & amended_at & (ActivityRow.retracted == activity.retracted)
    )
    return condition


def _activity_in(row: ActivityRow) -> Activity | Retracted:
    if row.body is None:
        return Retracted(row.activity_id)
    body = json.loads(row.body)
    return Activity(
        id=row.activity_id,
        parent=None if body["parent"] is None else text(body["parent"]),
        occurred_at=in_years(row.occurred_at),
        amended_at=row.amended_at,
        retracted=bool(row.retracted),
        walked=frozenset(row.walked or ()),
        former=frozenset(texts(body.get("former", []))),
        **content_in(body),
    )


def body_of_activity(activity: Activity) -> str:
    """Return the content of an activity as JSON."""
    fields: dict[str, Any] = {
        "category": activity.category,
        "entity": entity_fields(activity.entity),
        "parent": activity.parent,
        "actor": actor_fields(activity.actor),
        "excerpt": activity.excerpt,
    }
    if activity.former:
        fields["former"] = sorted(activity.former)
    return as_json(fields | optional_fields(activity))
