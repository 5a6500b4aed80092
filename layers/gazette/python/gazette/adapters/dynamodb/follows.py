"""Follows in DynamoDB. Each row contains one reader's follow of one entity, with a history of
changes.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from pynamodb.expressions.condition import Condition

from gazette.adapters.dynamodb.client import (
    bind,
    decoded,
    delete_rows,
    each_decoded,
    put_or_current,
    read_each,
    read_row,
    translated,
    written,
)
from gazette.adapters.dynamodb.histories import read_changes, write_changes
from gazette.adapters.dynamodb.tables import FollowRow
from gazette.domain.errors import UnreadableRow
from gazette.domain.ports.clock import Clock
from gazette.domain.subscribers.following import Follow

_PAGES_COUNTED = 10
"""The maximum number of megabytes that a count reads, which is about a hundred thousand follows."""


class DynamoFollows:
    """Implementation of the ports `Follows` and `FollowerCounts` backed by the `follows` table.

    `retention` is the time for which ended follows are stored.
    """

    def __init__(self, table_name: str, *, retention: timedelta, clock: Clock) -> None:
        bind(FollowRow, table_name)
        self._retention = retention
        self._clock = clock

    def get(self, entity: str, user_id: str) -> Follow | None:
        """Read a follow with one strongly consistent GetItem."""
        row = read_row(FollowRow, entity, user_id)
        return decoded(row, _follow) if row else None

    def get_many(self, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Follow]:
        """Read follows with one strongly consistent BatchGetItem per hundred."""
        rows = read_each(FollowRow, keys)
        return {(row.entity, row.user_id): decoded(row, _follow) for row in rows}

    def put(self, follow: Follow, *, replacing: Follow | None) -> bool:
        """Write a follow with one conditional PutItem."""
        ended = not follow.changes[-1][1].following
        row = FollowRow(
            follow.entity,
            follow.user_id,
            changes=write_changes(follow.changes),
            expires_at=self._clock() + self._retention if ended else None,
        )
        condition = FollowRow.entity.does_not_exist() if replacing is None else _as_read(replacing)
        try:
            return put_or_current(row, condition) is None
        except LookupError:
            return False

    def page(
        self, entity: str, *, after: str, through: str = "", limit: int
    ) -> Sequence[Follow | UnreadableRow]:
        """Read a page of an entity's followers with one strongly consistent Query per megabyte.

        User ids are ASCII, so all of them sort before `~`.
        """
        with translated():
            rows = FollowRow.query(
                entity,
                FollowRow.user_id.between(after or "!", through or "~" * 65),
                consistent_read=True,
                limit=limit + 1 if after else limit,
            )
            others = [row for row in rows if row.user_id != after][:limit]
        return list(each_decoded(others, _follow))

    def count_followers(self, entity: str) -> tuple[int, bool]:
        """Count the followers with one eventually consistent Query per megabyte, up to ten.

        A Query reads ended follows too, which have an expiry.
        """
        followers: int = 0
        last: Any = None
        for _ in range(_PAGES_COUNTED):
            with translated():
                connection: Any = FollowRow._get_connection()
                page = connection.query(
                    entity,
                    filter_condition=FollowRow.expires_at.does_not_exist(),
                    select="COUNT",
                    exclusive_start_key=last,
                )
            followers += int(page["Count"])
            last = page.get("LastEvaluatedKey")
            if last is None:
                return followers, True
        return followers, False

    def followed_by(
        self, user_id: str, *, after: str = "", at_most: int | None = None
    ) -> Iterator[str]:
        """Read a user's follows with one Query of the index per megabyte (about ten thousand
        follows).
        """
        with translated():
            behind = FollowRow.entity > after if after else None
            for row in FollowRow.by_user.query(user_id, behind, limit=at_most):
                yield row.entity

    def forget(self, user_id: str, entities: Collection[str]) -> None:
        """Delete follows with one BatchWriteItem per 25 follows."""
        delete_rows(FollowRow(entity, user_id) for entity in entities)

    def remove(self, follow: Follow) -> bool:
        """Delete a follow with one conditional DeleteItem."""
        return written(FollowRow(follow.entity, follow.user_id).delete, _as_read(follow))


def _as_read(follow: Follow) -> Condition:
    unchanged: Condition = FollowRow.changes == write_changes(follow.changes)
    return unchanged


def _follow(row: FollowRow) -> Follow:
    changes = read_changes(row.changes)
    if not changes:
        raise ValueError("the follow has no changes")
    return Follow(entity=row.entity, user_id=row.user_id, changes=changes)
