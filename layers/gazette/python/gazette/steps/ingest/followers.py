"""Deliver an activity to all followers: directly if there are few, or in pages through a queue."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from gazette.domain.errors import UnreadableRow
from gazette.domain.model import Retracted
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.queues import MESSAGES_A_CALL, FollowerPage, FollowersQueue, Walk
from gazette.domain.ports.stores import Activities, Follows
from gazette.domain.stored import is_of_one_row, readable
from gazette.domain.subscribers.following import Activity, Follow
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.reroute import retract_event
from gazette.steps.routing.route import route
from gazette.steps.time_budget import PIECE, require_time, share, unlimited

PAGE = 100
"""The number of followers per message. If an entity has fewer followers, no message is needed."""

PAGES_A_WALK = 1000
"""The number of pages that a walk queues before it continues in another message."""


def start_walk(
    stored: Activity | Retracted,
    *,
    activities: Activities,
    followers_queue: FollowersQueue,
    context: RoutingContext,
    time_left: TimeLeft = unlimited,
    again: Iterable[str] = (),
) -> None:
    """Deliver the activity to the followers of each side, or queue a walk over them.

    Sides whose walk is complete are skipped unless they are in `again`. If too little time is left
    for a side, it also goes to the followers queue.
    """
    if isinstance(stored, Retracted):
        return
    walks: list[Walk | FollowerPage] = []
    failed: list[Exception] = []
    for side in dict.fromkeys((*stored.to_walk, *again)):
        followers = context.follows.page(side, after="", limit=PAGE)
        if len(followers) == PAGE or time_left() < PIECE:
            walks.append(Walk(stored.entity.key, stored.id, side))
        else:
            try:
                route_to_followers(
                    stored, followers, activities=activities, context=context, whole_side=side
                )
            except Exception as err:  # noqa: BLE001 -- the other side must still receive the activity
                failed.append(_if_of_one_row(err))
    if walks:
        followers_queue.send(walks)
    _raise_first(failed)


def walk_followers(
    body: str,
    time_left: TimeLeft,
    *,
    decode: Callable[[str], Walk | FollowerPage],
    activities: Activities,
    followers_queue: FollowersQueue,
    context: RoutingContext,
) -> int:
    """Process one message of the followers queue, and return the number of followers. Safe to
    repeat.

    A walk queues the pages of a side, ten per call, and a further walk that continues after them.
    After a crash, the message is delivered again. Every follower still receives the activity once,
    because the event has the activity's id. Raises InvalidEvent if `decode` does, and NotYet if
    `time_left` is too short to start.
    """
    message = decode(body)
    require_time(time_left)
    activity = activities.get(message.entity, message.activity_id)
    if not isinstance(activity, Activity):
        return 0
    if isinstance(message, FollowerPage):
        return _route_page(message, activity, time_left, activities, followers_queue, context)
    return _walk(message, activity, activities, followers_queue, context.follows)


def route_to_followers(
    activity: Activity,
    followers: Sequence[Follow | UnreadableRow],
    *,
    activities: Activities,
    context: RoutingContext,
    whole_side: str = "",
) -> None:
    """Route the activity to these followers. The actor does not receive it.

    The activity is read again afterwards. So a concurrent amendment or retraction either finds the
    events that were written here, or is found by this read. `whole_side` means that these are all
    followers of the side. Raises UnreadableRow at the end if a follower's row cannot be read. By
    then, the other followers have the event, and the message is retried or becomes a dead letter.
    """
    known = {(follow.entity, follow.user_id): follow for follow in readable(followers)}
    for _ in ATTEMPTS:
        # Each version may name a different actor.
        users = [user for user in map(_user_of, followers) if activity.may_concern(user)]
        if activity.retracted:
            _retract(activity, users, context)
        else:
            route((activity.event_for(user) for user in users), context=context, known=known)
        if whole_side and activities.mark_walked(activity, whole_side):
            return
        latest = activities.get(activity.entity.key, activity.id)
        if not isinstance(latest, Activity) or (
            not whole_side and (activity.retracted or latest.has_content_of(activity))
        ):
            return
        activity, known = latest, {}
    raise kept_changing(f"Activity {activity.id}")


def _retract(activity: Activity, users: Sequence[str], context: RoutingContext) -> None:
    failed: list[Exception] = []
    for user_id in users:
        try:
            retract_event(user_id, activity.id, context=context, early=False)
        except Exception as err:  # noqa: BLE001 -- any error, because the other followers continue
            failed.append(_if_of_one_row(err))
    _raise_first(failed)


def _if_of_one_row(err: Exception) -> Exception:
    """Return the error if it affects a single follower. Raise all other errors."""
    if not is_of_one_row(err):
        raise err
    return err


def _raise_first(failed: Sequence[Exception]) -> None:
    for err in failed:
        raise err


def _route_page(
    page: FollowerPage,
    activity: Activity,
    time_left: TimeLeft,
    activities: Activities,
    followers_queue: FollowersQueue,
    context: RoutingContext,
) -> int:
    """Route the activity to the followers in a page, which is a range of user ids.

    New followers may make a page longer.

    If time runs out, the remaining followers are queued as a new page.
    """
    after, brought, time_left = page.after, 0, share(time_left)
    while True:
        some = context.follows.page(page.side, after=after, through=page.through, limit=PAGE)
        route_to_followers(activity, some, activities=activities, context=context)
        brought += len(some)
        if len(some) < PAGE:
            return brought
        after = _user_of(some[-1])
        if time_left() < PIECE:
            followers_queue.send([replace(page, after=after)])
            return brought


def _walk(
    walk: Walk,
    activity: Activity,
    activities: Activities,
    followers_queue: FollowersQueue,
    follows: Follows,
) -> int:
    """Queue at most PAGES_A_WALK pages after `walk.after`. Read ten pages at a time."""
    after, queued = walk.after, 0
    for _ in range(PAGES_A_WALK // MESSAGES_A_CALL):
        ten = follows.page(walk.side, after=after, limit=PAGE * MESSAGES_A_CALL)
        if not ten:
            break
        messages: list[Walk | FollowerPage] = []
        for start in range(0, len(ten), PAGE):
            through = _user_of(ten[start : start + PAGE][-1])
            messages.append(FollowerPage(walk.entity, walk.activity_id, walk.side, after, through))
            after = through
        followers_queue.send(messages)
        queued += len(ten)
        if len(ten) < PAGE * MESSAGES_A_CALL:
            break
    else:
        followers_queue.send([Walk(walk.entity, walk.activity_id, walk.side, after)])
        return queued
    activities.mark_walked(activity, walk.side)
    return queued


def _user_of(follow: Follow | UnreadableRow) -> str:
    """Return the user id of a follow. For an unreadable row, the id is taken from the key."""
    return follow.key[-1] if isinstance(follow, UnreadableRow) else follow.user_id
