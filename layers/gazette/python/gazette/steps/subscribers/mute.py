"""Mute and unmute things when a reader presses a button."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gazette.domain.muting.mutes import Mute, Mutes, changed
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.subscribers.sunset import mark_active

Changes = Callable[[Mutes], Iterable[Mute]]
"""A function that returns the changes to make, given the stored mutes."""


@dataclass(frozen=True, slots=True)
class Muting:
    """The result of a change of mutes."""

    reader: Subscriber | None
    """The reader after the change; None if the reader no longer exists."""

    refused: tuple[str, ...] = ()
    """The entities that were not muted, because the reader has muted too many."""

    is_changed: bool = False


def change_mutes(user_id: str, changes: Changes, *, context: RoutingContext) -> Muting:
    """Store changes of a reader's mutes with one conditional write. Safe to repeat.

    The same write stores `routes_since`, so every run that is prepared later routes its events
    again and removes those about a muted thing (rule 15). A worker that has already read the events
    notices the new revision in its last look (rule 11). So no waiting event is searched for, and
    an undo before the next email keeps the events. Also counts as activity. Raises NotYet if the
    profile keeps changing.
    """
    for _ in ATTEMPTS:
        reader = context.subscribers.get(user_id)
        if not isinstance(reader, Subscriber):
            return Muting(None)
        after = changed(reader.mutes, changes(reader.mutes))
        merged = reader.with_mutes(after.mutes, context.clock())
        if merged == reader or context.subscribers.put(merged, replacing=reader):
            mark_active(user_id, context.clock(), context=context)
            return Muting(merged, after.refused, is_changed=merged != reader)
    raise kept_changing(f"The profile of {user_id}")
