"""Deliver several activities to a reader whose follow arrived after them."""

from collections.abc import Sequence

from gazette.domain.errors import UnreadableRow
from gazette.domain.ports.queues import FollowerPage
from gazette.domain.ports.stores import Activities
from gazette.domain.subscribers.following import Activity, Follow
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.catch_up import catch_up
from gazette.steps.routing.reroute import retract_together
from gazette.steps.routing.together import TimeFor


def deliver_all(
    follow: Follow,
    some: Sequence[Activity],
    *,
    activities: Activities,
    context: RoutingContext,
    time: TimeFor,
) -> Sequence[UnreadableRow]:
    """Deliver these activities to the reader, or withdraw them, like `route_to_followers`.

    The activities are read again afterwards. So a concurrent amendment or retraction either finds
    the events that were written here, or is found by this read. Returns the rows that cannot be
    read.
    """
    user_id = follow.user_id
    known = {(follow.entity, user_id): follow}
    unreadable: list[UnreadableRow] = []
    for _ in ATTEMPTS:
        # Each version may name a different actor.
        concerned = [each for each in some if each.may_concern(user_id)]
        retracted = [each.id for each in concerned if each.retracted]
        retract_together(user_id, retracted, context=context, time=time)
        events = [each.event_for(user_id) for each in concerned if not each.retracted]
        catch_up(user_id, events, known=known, context=context, time=time)
        keys = {(each.entity.key, each.id): each for each in some if not each.retracted}
        latest = activities.get_many(keys.keys()) if keys else {}
        unreadable += [each for each in latest.values() if isinstance(each, UnreadableRow)]
        some = [
            each
            for key, each in latest.items()
            if isinstance(each, Activity) and not each.has_content_of(keys[key])
        ]
        if not some:
            return unreadable
        known = {}
    raise kept_changing(f"Activity {some[0].id}")


def page_of(follow: Follow, activity: Activity) -> FollowerPage:
    """Return a message that delivers the activity to this follower only."""
    user_id = follow.user_id
    return FollowerPage(
        activity.entity.key, activity.id, follow.entity, _before(user_id), through=user_id
    )


def _before(user_id: str) -> str:
    """Return a string that sorts directly before this user id and after all smaller user ids.

    User ids are ASCII without spaces.
    """
    last = user_id[-1]
    return user_id[:-1] + (f"{chr(ord(last) - 1)}{'~' * 65}" if last > "!" else "")
