"""The events that an operator's withdrawals apply to. Pure."""

from collections.abc import Callable, Sequence
from datetime import datetime

from gazette.domain.links import NEW_LINK
from gazette.domain.model import Event
from gazette.domain.window.briefs import Brief, StoredBrief, brief_of
from gazette.domain.window.folded import counts_at
from gazette.domain.withdrawing.withdrawals import WithdrawalKind, Withdrawals, in_force


class Withdrawn:
    """The withdrawals in force at an instant, by actor and by entity.

    False if there are none, so that events need not be compared.
    """

    __slots__ = ("_actors", "_entities")

    def __init__(self, withdrawals: Withdrawals, now: datetime) -> None:
        applying = in_force(withdrawals, now)
        self._actors, self._entities = (
            {each.id: each.at for each in applying if each.kind is kind}
            for kind in (WithdrawalKind.ACTOR, WithdrawalKind.ENTITY)
        )

    def __bool__(self) -> bool:
        """Return True if a withdrawal is in force."""
        return bool(self._actors or self._entities)

    def at(self, event: Event) -> datetime | None:
        """Return the time of the withdrawal that applies to an event, or None.

        A withdrawal applies to events up to its time: to those of its actor, or to those about its
        entity and those that reach its followers. It never applies to a link that a reader
        requested.
        """
        return self._at(brief_of(event), lambda: event.via)

    def at_of(self, stored: StoredBrief) -> datetime | None:
        """Return the time of the withdrawal that applies to an event of a window, or None.

        Only an event that reached its reader through a follow is decoded.
        """
        return self._at(stored.event, lambda: stored.decode().event.via)

    def _at(self, brief: Brief, via: Callable[[], Sequence[str]]) -> datetime | None:
        if brief.category == NEW_LINK:
            return None
        times = [self._actors.get(brief.person or ""), self._entities.get(brief.thing)]
        if self._entities and not brief.is_addressed:
            times += map(self._entities.get, via())
        since = counts_at(brief)
        return max((at for at in times if at and since <= at), default=None)
