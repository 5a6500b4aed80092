"""The port `PersonalRows` on the stores of a World."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gazette.adapters.dynamodb.values import instant_text
from gazette.domain.export import Part, StoredRow
from gazette.domain.identity import run_id
from gazette.domain.subscribers.subscriber import Subscriber

from tests.world import World


@dataclass
class WorldRows:
    """The rows of a person in the stores of `world`, with the attributes that tests need."""

    world: World

    def profile(self, user_id: str) -> StoredRow | None:
        reader = self.world.subscribers.get(user_id)
        if reader is None:
            return None
        email = {"email": reader.email} if isinstance(reader, Subscriber) else {}
        return _row("subscribers", user_id=user_id, erased_at=reader.erased_at, **email)

    def of_address(self, address_hash: str) -> Sequence[StoredRow]:
        found = self.world.suppressions.get(address_hash)
        if found is None:
            return []
        return [_row("suppressions", reason=found.cause.value, by=sorted(found.readers))]

    def page(
        self, user_id: str, part: Part, *, after: str, limit: int
    ) -> tuple[Sequence[StoredRow], str]:
        rows = sorted((key, row) for key, row in self._each(user_id, part) if key > after)
        page = [row for _, row in rows[:limit]]
        if part is Part.RUNS:
            page += [row for each in page if (row := self._engagement(each))]
        return page, rows[limit - 1][0] if len(rows) > limit else ""

    def _each(self, user_id: str, part: Part) -> Iterator[tuple[str, StoredRow]]:
        world = self.world
        stores: Mapping[Part, Mapping[Any, Any]] = {
            Part.SCHEDULES: world.schedules.rows,
            Part.EVENTS: world.events.rows,
        }
        if part is Part.FOLLOWS:
            names = [entity for entity, reader in world.follows.rows if reader == user_id]
        elif part is Part.RUNS:
            for key, run in world.runs.rows.items():
                if key.user_id == user_id:
                    name = f"{key.schedule}#{key.sequence:010}"
                    yield name, _row("runs", user_id=user_id, run=name, due_at=run.due_at)
            return
        else:
            names = [name for reader, name in stores[part] if reader == user_id]
        for name in names:
            yield name, _row(part.value, user_id=user_id, name=name)

    def _engagement(self, row: StoredRow) -> StoredRow | None:
        schedule, _, sequence = str(row.values["run"]).partition("#")
        for key in self.world.runs.rows:
            is_same = (key.user_id, key.schedule) == (row.values["user_id"], schedule)
            if is_same and key.sequence == int(sequence) and key in self.engaged:
                return _row("engagement", run=run_id(key))
        return None

    @property
    def engaged(self) -> set[Any]:
        """The runs with delivery events."""
        return {key for key, run in self.world.runs.rows.items() if run.sent_at}


def _row(table: str, **values: Any) -> StoredRow:
    return StoredRow(
        table,
        {
            name: instant_text(value) if isinstance(value, datetime) else value
            for name, value in values.items()
            if value is not None
        },
    )
