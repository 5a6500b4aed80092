"""Process activities and follows, and deliver each activity to its followers."""

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
from gazette.steps.ingest.late_follow import deliver_all, page_of
from gazette.steps.routing.follows import forget_follow, forgotten_until, remember_follow
from gazette.steps.routing.reroute import reroute
from gazette.steps.routing.together import TimeFor
from gazette.steps.time_budget import PIECE, unlimited

LATE_FOLLOW = timedelta(days=1)
"""The maximum age of activities that are delivered to a reader whose follow arrives late."""

AT_ONCE = 500
"""The maximum number of activities that are delivered to a reader together."""


def create_activity(
    activity: Activity,
    *,
    activities: Activities,
    followers_queue: FollowersQueue,
    context: RoutingContext,
    time_left: TimeLeft = unlimited,
) -> Outcome:
    """Store the activity and deliver it to its followers. Safe to repeat, in any order.

    An activity that was already stored is delivered again until all its followers have been
    visited, because a crash after storing must not lose the delivery.
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
    """Return the entities whose followers may have an outdated version of the activity.

    A worker may have written the outdated version to a follower after the walk with the current
    version had passed that follower, and crashed before it read the activity again.
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
    """Withdraw an activity from all followers who received it, even before the activity arrives."""
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
    """Record that a follow began, changed or ended at an instant. Safe to repeat, in any order.

    Activities of the last day that occurred since then, but arrived before this message, are
    delivered to the reader or withdrawn, as if the message had arrived first. If `time_left` is too
    short for some of them, they go to the followers queue. If a follow ends or changes, runs that
    are prepared from now on route their waiting events again. Raises NotYet if `time_left` is too
    short for the events that wait in a digest.
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
    later = activities.since(entity, max(at, context.clock() - LATE_FOLLOW))
    unreadable: list[UnreadableRow] = []
    while some := list(islice(later, AT_ONCE)):
        unreadable += [each for each in some if isinstance(each, UnreadableRow)]
        try:
            time.require()
            unreadable += deliver_all(
                follow, list(readable(some)), activities=activities, context=context, time=time
            )
        except NotYet:
            if time_left() >= PIECE:
                raise
            followers_queue.send(page_of(follow, each) for each in readable(chain(some, later)))
    require_readable(unreadable)
    return Outcome.CHANGED
