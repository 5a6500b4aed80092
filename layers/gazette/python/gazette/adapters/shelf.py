"""Events that no email can show: taken out of their schedule, with the reason."""

from gazette.adapters.dynamo import bind, written
from gazette.adapters.event_rows import stored_key
from gazette.adapters.tables import EventRow
from gazette.domain.identity import ASIDE
from gazette.domain.model import Event
from gazette.domain.ports import Clock

_REASON_CHARACTERS = 500


class DynamoEventShelf:
    """The port `EventShelf` on the table `events`."""

    def __init__(self, table_name: str, *, clock: Clock) -> None:
        bind(EventRow, table_name, read_timeout=5.0)
        self._clock = clock

    def set_aside(self, event: Event, schedule: str, why: str) -> bool:
        """One conditional UpdateItem."""
        return written(
            EventRow(event.user_id, event.id).update,
            actions=[
                EventRow.stored.set(stored_key(ASIDE, self._clock())),
                EventRow.was.set(schedule),
                EventRow.why.set(why[:_REASON_CHARACTERS]),
            ],
            condition=EventRow.stored.startswith(f"{schedule}#"),
        )
