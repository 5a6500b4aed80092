"""Answer what became of an activity, and count its followers by outcome. Makes no writes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gazette.domain.errors import UnreadableRow
from gazette.domain.model import Retracted
from gazette.domain.ports.stores import Activities, Follows
from gazette.domain.receipts.bodies import of_body
from gazette.domain.receipts.receipt import (
    ActivityReceipt,
    FollowerOutcomes,
    Found,
    FoundEvent,
    State,
)
from gazette.domain.receipts.rule import standing_of
from gazette.domain.stored import readable
from gazette.domain.subscribers.following import Activity, Follow
from gazette.steps.support.receipt import ReceiptContext, chain_of

PAGE = 100
"""The number of followers that one Query reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityContext:
    """The dependencies of receipts of activities."""

    activities: Activities
    follows: Follows
    receipts: ReceiptContext


def activity_receipt(entity: str, activity_id: str, *, activities: Activities) -> ActivityReceipt:
    """Return what is stored of an activity, with one call. `entity` is the key of its entity."""
    stored = activities.get(entity, activity_id)
    if isinstance(stored, Activity):
        return ActivityReceipt(
            entity,
            activity_id,
            stored=True,
            retracted=stored.retracted,
            distributed=not stored.to_walk,
            expires_at=stored.expires_at,
        )
    is_retracted = isinstance(stored, Retracted)
    return ActivityReceipt(
        entity,
        activity_id,
        stored=False,
        retracted=is_retracted,
        distributed=False,
        expires_at=None,
    )


def follower_outcomes(
    entity: str,
    activity_id: str,
    *,
    after: tuple[str, str] | None = None,
    at_most: int,
    context: ActivityContext,
) -> FollowerOutcomes | None:
    """Count the followers of an activity by the state of their events, in order of user ids.

    Looks at up to `at_most` follows, after the entity and the user id in `after`, and returns the
    place at which the next part begins. A part of 100 follows costs three or four calls, and one
    more for each follower with an event or a retraction, whose runs are read. Returns None if the
    activity is not stored, because its followers are then unknown.
    """
    activity = context.activities.get(entity, activity_id)
    if not isinstance(activity, Activity):
        return None
    sides = [*activity.sides, *sorted(activity.former)]
    side, user_id = after or (sides[0], "")
    count = _Count(activity, context)
    remaining = at_most
    for number in range(sides.index(side) if side in sides else len(sides), len(sides)):
        while remaining > 0:
            limit = min(PAGE, remaining)
            page = context.follows.page(sides[number], after=user_id, limit=limit)
            count.add(page, before=sides[:number])
            remaining -= len(page)
            if len(page) < limit:
                break
            user_id = _user_of(page[-1])
        else:
            return count.counted((sides[number], user_id))
        user_id = ""
    return count.counted(None)


class _Count:
    """The count of the followers so far."""

    def __init__(self, activity: Activity, context: ActivityContext) -> None:
        self._activity, self._context = activity, context
        self._now = context.receipts.clock()
        self._outcomes: Counter[State] = Counter()
        self._others = self._unreadable = 0

    def add(self, page: Sequence[Follow | UnreadableRow], *, before: Sequence[str]) -> None:
        """Count the followers of a page.

        `before` contains the sides whose followers were counted already. Such a follower does not
        count again.
        """
        follows = list(readable(page))
        self._unreadable += len(page) - len(follows)
        counted_before = self._context.follows.get_many(
            [(side, follow.user_id) for side in before for follow in follows]
        )
        twice = {user_id for _, user_id in counted_before}
        users = [
            follow.user_id
            for follow in follows
            if follow.user_id not in twice and self._concerns(follow)
        ]
        self._others += len(follows) - len(users)
        events = self._context.receipts.events.find_many(
            [(user_id, self._activity.id) for user_id in users]
        )
        for user_id in users:
            self._count(user_id, events.get((user_id, self._activity.id)))

    def counted(self, after: tuple[str, str] | None) -> FollowerOutcomes:
        """Return the counts. `after` is the place at which the next part begins."""
        return FollowerOutcomes(dict(self._outcomes), self._others, self._unreadable, after)

    def _concerns(self, follow: Follow) -> bool:
        """Return True if the activity was delivered to the follower, or may have been."""
        if not self._activity.may_concern(follow.user_id):
            return False
        return follow.entity in self._activity.former or (
            follow.changes[0][0] <= self._activity.occurred_at
        )

    def _count(self, user_id: str, found: Found | None) -> None:
        part = of_body(found) if isinstance(found, FoundEvent) else found
        if part is None:
            self._outcomes[State.NOT_STORED] += 1
            return
        try:
            if isinstance(part, UnreadableRow):
                raise part
            chain = chain_of(user_id, part, runs=self._context.receipts.runs)
        except UnreadableRow:
            self._unreadable += 1
        else:
            self._outcomes[standing_of(part, chain, self._now).state] += 1


def _user_of(follow: Follow | UnreadableRow) -> str:
    return follow.key[-1] if isinstance(follow, UnreadableRow) else follow.user_id
