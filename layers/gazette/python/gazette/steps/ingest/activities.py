"""Take activities and follows in, and bring each activity to its followers."""

from datetime import timedelta
from itertools import chain, islice

from gazette.domain.commands import ChangeFollow, RetractActivity
from gazette.domain.errors import NotYet, UnreadableRow
from gazette.domain.model import Retracted
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.queues import FollowersQueue
from gazette.domain.ports.stores import Activities
from gazette.domain.stored import readable, require_readable
from gazette.domain.subscribers.following import Activity
from gazette.domain.subscribers.subscriber import Erased
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.ingest.followers import start_walk
from gazette.steps.ingest.late_follow import bring_all, page_of
from gazette.steps.routing.follows import forget_follow, forgotten_until, remember_follow
from gazette.steps.routing.reroute import reroute
from gazette.steps.routing.together import TimeFor
from gazette.steps.time_budget import PIECE, unlimited

LATE_FOLLOW = timedelta(days=1)
"""How far back a follow that arrives late brings the activities since it began."""

AT_ONCE = 500
"""Activities that are brought together."""


def create_activity(
    activity: Activity,
    *,
    activities: Activities,
    followers_queue: FollowersQueue,
    context: RoutingContext,
    time_left: TimeLeft = unlimited,
) -> Outcome:
    """Store the activity and bring it to its followers. Safe to repeat, in any order.

    An activity that was stored before is brought again until the walk over its followers has ended:
    a crash between the two must not lose it.
    """
    for _ in ATTEMPTS:
        is_new, stored = activities.create(activity)
        if isinstance(stored, Retracted) or stored.retracted:
            outcome = Outcome.RETRACTED
        elif is_new:
            outcome = Outcome.STORED
        elif activity.amends(stored):
            amended = activity.in_place_of(stored)
            if not activities.replace(stored, amended):
                continue
            stored, outcome = amended, Outcome.AMENDED
        else:
            outcome = Outcome.DUPLICATE
        start_walk(
            stored,
            activities=activities,
            followers_queue=followers_queue,
            context=context,
            time_left=time_left,
            again=_outdated_sides(activity, stored),
        )
        return outcome
    raise kept_changing(f"Activity {activity.id}")


def _outdated_sides(given: Activity, stored: Activity | Retracted) -> tuple[str, ...]:
    """The sides whose followers may have `given`, which is outdated.

    A worker may have died after it wrote a follower's event, before it read the activity again, and
    after the walk with the current version had passed that follower.
    """
    if isinstance(stored, Retracted) or given.has_content_of(stored):
        return ()
    return (*given.sides, *stored.sides, *sorted(stored.former))


def retract_activity(
    command: RetractActivity,
    *,
    activities: Activities,
    followers_queue: FollowersQueue,
    context: RoutingContext,
    time_left: TimeLeft = unlimited,
) -> Outcome:
    """Withdraw an activity, even before it arrives, from all followers who have it."""
    stored = activities.retract(command.entity, command.id)
    start_walk(
        stored,
        activities=activities,
        followers_queue=followers_queue,
        context=context,
        time_left=time_left,
    )
    return Outcome.RETRACTED


def change_follow(
    command: ChangeFollow,
    *,
    activities: Activities,
    followers_queue: FollowersQueue,
    context: RoutingContext,
    time_left: TimeLeft = unlimited,
) -> Outcome:
    """Store that a follow began, changed or ended at an instant. Safe to repeat, in any order.

    Activities since then that arrived before this message are brought to the reader, or taken back,
    as if it had arrived first: up to a day back. Those that `time_left` is too short for are left
    to the followers queue. Where a follow ends or changes, the runs that are prepared from now on
    route again what waits in them. Raises NotYet if `time_left` is too short for what waits already
    in a digest.
    """
    entity, user_id, at = command.entity, command.user_id, command.at
    follow = remember_follow(command, context)
    reader = context.subscribers.get(user_id)
    if isinstance(reader, Erased) or (reader and reader.erased_at and at <= reader.erased_at):
        forget_follow(entity, user_id, forgotten_until(reader), context=context)
        return Outcome.ERASED
    if len(follow.changes) > 1:
        context.subscribers.mark_rerouted(user_id, context.clock())
        reroute(user_id, context=context, time_left=time_left)
    time = TimeFor(time_left, PIECE)
    found = activities.since(entity, max(at, context.clock() - LATE_FOLLOW))
    unreadable: list[UnreadableRow] = []
    while some := list(islice(found, AT_ONCE)):
        unreadable += [each for each in some if isinstance(each, UnreadableRow)]
        try:
            time.require()
            unreadable += bring_all(
                follow, list(readable(some)), activities=activities, context=context, time=time
            )
        except NotYet:
            if time_left() >= PIECE:
                raise
            followers_queue.send(page_of(follow, each) for each in readable(chain(some, found)))
    require_readable(unreadable)
    return Outcome.CHANGED
