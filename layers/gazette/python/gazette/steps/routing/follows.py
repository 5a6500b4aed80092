"""Store a subscriber's follows, and delete follows after an erasure."""

from dataclasses import replace
from datetime import datetime

from gazette.domain.commands import ChangeFollow
from gazette.domain.subscribers.following import Follow
from gazette.domain.subscribers.history import remember
from gazette.domain.subscribers.subscriber import Erased, Subscriber, was_erased
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext


def remember_follow(command: ChangeFollow, context: RoutingContext) -> Follow:
    """Store a change of a follow, and return the follow.

    A change from before an erasure is not stored together with later changes. Otherwise, an equal
    later change would be dropped, together with the beginning of the follow.
    """
    entity, user_id = command.entity, command.user_id
    current: Follow | None = None
    for _ in ATTEMPTS:
        if current and _is_from_before_an_erasure(command, current, context):
            return current
        changes = current.changes if current else ()
        follow = Follow(entity, user_id, remember(changes, command.at, command.state))
        if follow == current or context.follows.put(follow, replacing=current):
            return follow
        current = context.follows.get(entity, user_id)
    raise kept_changing(f"The follow of {entity} by {user_id}")


def _is_from_before_an_erasure(
    command: ChangeFollow, current: Follow, context: RoutingContext
) -> bool:
    """Return True if the reader was erased after the change.

    The reader is read only if the change precedes all other changes.
    """
    if current.changes and current.changes[0][0] <= command.at:
        return False
    return was_erased(context.subscribers.get(command.user_id), command.at)


def forgotten_until(reader: Subscriber | Erased) -> datetime | None:
    """Return the instant up to which an erased reader's data must be deleted.

    Returns None for all data, if the reader no longer exists.
    """
    return reader.erased_at if isinstance(reader, Subscriber) else None


def forget_follow(
    entity: str, user_id: str, until: datetime | None, *, context: RoutingContext
) -> None:
    """Delete a follow.

    With `until`, keep changes after that instant, which were made after a return. Raises NotYet if
    the follow keeps changing.
    """
    for _ in ATTEMPTS:
        follow = context.follows.get(entity, user_id)
        if follow is None:
            return
        later = tuple(change for change in follow.changes if until and change[0] > until)
        remaining = replace(follow, changes=later)
        if remaining == follow:
            return
        if later and context.follows.put(remaining, replacing=follow):
            return
        if not later and context.follows.remove(follow):
            return
    raise kept_changing(f"The follow of {entity} by {user_id}")
