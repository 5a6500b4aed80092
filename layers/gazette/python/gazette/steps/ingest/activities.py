"""What happens on an entity, on its way to every follower of it or of its parent."""

from datetime import timedelta

from gazette.domain.commands import ChangeFollow, RetractActivity
from gazette.domain.model import Retracted
from gazette.domain.outcome import Outcome
from gazette.domain.ports.outside import FollowersQueue
from gazette.domain.ports.stores import Activities
from gazette.domain.stored import readable, require_readable
from gazette.domain.subscribers.following import Activity
from gazette.domain.subscribers.subscriber import Erased
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.ingest.followers import bring_to, set_out
from gazette.steps.routing.follows import forget_follow, forgotten_until, remember_follow
from gazette.steps.routing.route import reroute

LATE_FOLLOW = timedelta(days=1)
"""How far back a follow that comes late is shown what happened before it came."""


def create_activity(
    activity: Activity,
    *,
    activities: Activities,
    followers_queue: FollowersQueue,
    context: RoutingContext,
) -> Outcome:
    """Store the activity and set out for its followers. Safe to repeat, in any order.

    Also when it was there already, until the walk over its followers has ended: a crash between
    the row and its followers must not lose them.
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
        set_out(
            stored,
            activities=activities,
            followers_queue=followers_queue,
            context=context,
            again=_outdated_sides(activity, stored),
        )
        return outcome
    raise kept_changing(f"Activity {activity.id}")


def _outdated_sides(said: Activity, stored: Activity | Retracted) -> tuple[str, ...]:
    """Where somebody may have got what was said and is no longer so.

    Its worker may have died between a follower's event and looking at the activity once more,
    after the walk that brings what is so now had passed.
    """
    if isinstance(stored, Retracted) or said.says_like(stored):
        return ()
    return (*said.sides, *stored.sides, *sorted(stored.former))


def retract_activity(
    command: RetractActivity,
    *,
    activities: Activities,
    followers_queue: FollowersQueue,
    context: RoutingContext,
) -> Outcome:
    """Withdraw the activity, also before it came, and from every follower who has it."""
    stored = activities.retract(command.entity, command.id)
    set_out(stored, activities=activities, followers_queue=followers_queue, context=context)
    return Outcome.RETRACTED


def change_follow(
    command: ChangeFollow, *, activities: Activities, context: RoutingContext
) -> Outcome:
    """Remember that a follow began, changed or ended at an instant. Safe to repeat, in any order.

    What happened on the entity since, and came before this did, is brought to the reader or
    taken back as if this had come first: up to a day back.
    """
    entity, user_id, at = command.entity, command.user_id, command.at
    follow = remember_follow(command, context)
    reader = context.subscribers.get(user_id)
    if isinstance(reader, Erased) or (reader and reader.erased_at and at <= reader.erased_at):
        forget_follow(entity, user_id, forgotten_until(reader), context=context)
        return Outcome.ERASED
    found = list(activities.since(entity, max(at, context.clock() - LATE_FOLLOW)))
    for activity in readable(found):
        bring_to(activity, [follow], activities=activities, context=context)
    if len(follow.changes) > 1:
        reroute(user_id, context=context)
    require_readable(found)
    return Outcome.CHANGED
