"""What a reader does on the preference page."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from gazette.domain.commands import ChangeFollow, ChoosePreferences
from gazette.domain.errors import NotYet, Unavailable, UnreadableRow
from gazette.domain.ports.bus import Bus
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.stores import Suppressions
from gazette.domain.subscribers.choices import NOTHING, Choice
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.frequency import ASKED_CATEGORIES
from gazette.domain.subscribers.leaving import Change
from gazette.domain.subscribers.overview import Notice, Overview, next_digest
from gazette.domain.subscribers.preference_form import (
    FOLLOW_FIELD,
    Act,
    Fields,
    Submission,
    follow_field,
    mark_of_leave,
)
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.subscribers.whole_maps import whole_map_at
from gazette.steps.context import RoutingContext
from gazette.steps.ingest.choices import choose_preferences
from gazette.steps.routing.follows import remember_follow
from gazette.steps.routing.reroute import TO_ANSWER, reroute
from gazette.steps.subscribers.resubscribe import resubscribe
from gazette.steps.subscribers.sunset import mark_active
from gazette.steps.subscribers.unsubscribe import unsubscribe
from gazette.steps.time_budget import require_time

SHOWN = 100
"""Follows on a page, in the order of their entities; the next page begins behind the last one."""

_LOOKS = 5
"""How often so many follows are read for a page: those that have ended are not shown."""


def read_overview(
    user_id: str, *, context: RoutingContext, follows_after: str = ""
) -> Overview | None:
    """The reader as they are stored now; None where nothing, or no longer anything, is known.

    `follows_after`: the entity behind which the follows on the page begin. By the date a reader is
    dormant before anybody has stored it: nobody visits an idle schedule.
    """
    found = context.subscribers.get(user_id)
    if not isinstance(found, Subscriber):
        return None
    now = context.clock()
    reader = found.as_of(now, sunset=context.sunset)
    asked = tuple(sorted(ASKED_CATEGORIES)) if context.content else ()
    follows, more = some_follows(user_id, follows_after, context)
    return Overview(
        subscriber=reader,
        now=now,
        defaults=context.defaults,
        critical=tuple(sorted(context.critical)),
        asked=asked,
        follows=tuple(follows),
        follows_after=follows_after,
        more_follows=more,
        next_due_at=next_digest(
            reader,
            context.schedules.of_user(user_id),
            follows,
            defaults=context.defaults,
            now=now,
            asked=asked,
            are_all=not (follows_after or more),
        ),
    )


def some_follows(user_id: str, after: str, context: RoutingContext) -> tuple[list[Follow], str]:
    """Up to SHOWN follows in force on entities behind `after`, by title.

    And the entity behind which the next ones begin; empty if there are none.
    """
    most = _LOOKS * SHOWN
    entities = list(context.follows.followed_by(user_id, after=after, at_most=most + 1))
    shown: list[Follow] = []
    for first in range(0, min(len(entities), most), SHOWN):
        some = [(entity, user_id) for entity in entities[first : first + SHOWN]]
        found = context.follows.get_many(some)
        there = [found[key] for key in some if key in found and found[key].latest.following]
        room = SHOWN - len(shown)
        shown += there[:room]
        if len(there) > room:
            return sorted(shown, key=_by_title), shown[-1].entity
    return sorted(shown, key=_by_title), entities[most - 1] if len(entities) > most else ""


def with_follows_of(sent: Fields, overview: Overview, *, context: RoutingContext) -> Overview:
    """`overview` with the follows that a form has fields of, if it does not have these.

    Others have begun or ended since the page was shown, so that it now ends elsewhere.
    """
    known = {follow_field(follow.entity) for follow in overview.follows}
    named = {name for name in sent if name.startswith(FOLLOW_FIELD)} - known
    if not named or overview.has_all_follows:
        return overview
    user_id = overview.subscriber.user_id
    followed = context.follows.followed_by(user_id)
    keys = [(entity, user_id) for entity in followed if follow_field(entity) in named]
    found = context.follows.get_many(keys).values() if keys else ()
    others = (follow for follow in found if follow.latest.following)
    return replace(overview, follows=(*overview.follows, *others))


def _by_title(follow: Follow) -> tuple[str, str]:
    return follow.title.casefold() or follow.entity, follow.entity


def save(
    user_id: str,
    choice: Choice,
    follows: Sequence[tuple[str, FollowState]],
    *,
    bus: Bus,
    context: RoutingContext,
    time_left: TimeLeft,
    at: datetime | None = None,
    reader: Subscriber | None = None,
) -> bool:
    """Keep what a reader chose, and says of entities that they follow, by their keys.

    `at`: when they chose; by default now. `reader`: as they were read, for the version before.
    Returns and raises as `keep`.
    """
    now = at or context.clock()
    chosen = [_chosen(user_id, choice, now, reader)] if choice != NOTHING else []
    followed = [ChangeFollow(user_id, entity, state, now) for entity, state in follows]
    if not chosen and not followed:
        mark_active(user_id, now, context=context)
        return True
    return keep(user_id, chosen, followed, bus=bus, context=context, time_left=time_left)


def save_all(
    reader: Subscriber,
    changes: Sequence[tuple[datetime, Change]],
    *,
    bus: Bus,
    context: RoutingContext,
    time_left: TimeLeft,
) -> bool:
    """Keep several changes of a reader, each at its instant, in this order.

    Returns and raises as `keep`.
    """
    user_id, now = reader.user_id, reader
    chosen = list[ChoosePreferences]()
    for at, change in changes:
        if change.choice != NOTHING:
            chosen.append(_chosen(user_id, change.choice, at, now))
            now = replace(now, reader_choices=now.reader_choices.with_choice(at, change.choice))
    followed = [
        ChangeFollow(user_id, entity, state, at)
        for at, change in changes
        for entity, state in change.follows
    ]
    return keep(user_id, chosen, followed, bus=bus, context=context, time_left=time_left)


def _chosen(
    user_id: str, choice: Choice, at: datetime, reader: Subscriber | None
) -> ChoosePreferences:
    if reader is None or not choice.frequencies:
        return ChoosePreferences(user_id, choice, at)
    after = reader.reader_choices.with_choice(at, choice)
    return ChoosePreferences(
        user_id, choice, at, whole_map=whole_map_at(at, reader.service_choices, after)
    )


def keep(
    user_id: str,
    chosen: Sequence[ChoosePreferences],
    followed: Sequence[ChangeFollow],
    *,
    bus: Bus,
    context: RoutingContext,
    time_left: TimeLeft,
) -> bool:
    """Do what a reader says, to the end.

    First on the bus: what is there is done by ingest, whatever becomes of this process. Then here,
    to the end, what waits included: who is told that it is saved gets nothing else any more
    (rule 11). False: nothing was changed. Raises Unavailable, NotYet or UnreadableRow where it is
    not done here, or nobody can tell: ingest does what the bus took. A visit is a sign of life in
    any case.
    """
    if not bus.put([*chosen, *followed]):
        return False
    for change in followed:
        require_time(time_left, least=TO_ANSWER)
        remember_follow(change, context)
    if followed:
        context.subscribers.mark_rerouted(user_id, context.clock())
    for command in chosen:
        choose_preferences(command, context=context, time_left=time_left)
    if followed:
        reroute(user_id, context=context, time_left=time_left)
    return True


def perform(
    user_id: str,
    address: str,
    submission: Submission,
    *,
    bus: Bus,
    suppressions: Suppressions,
    context: RoutingContext,
    time_left: TimeLeft,
    reader: Subscriber | None = None,
) -> Notice:
    """Press a button; what is wrong with a field is told and nothing else done.

    `address`: the hash of the address that the page's link went to. `reader`: as in `save`.
    What could not be finished within `time_left` of the invocation is not told as saved.
    """
    if submission.problems:
        return Notice.WRONG
    if submission.act is Act.UNSUBSCRIBE:
        unsubscribe(
            user_id,
            address,
            subscribers=context.subscribers,
            suppressions=suppressions,
            schedules=context.schedules,
            at=context.clock(),
        )
        return Notice.UNSUBSCRIBED
    if submission.act is Act.START:
        return _start(user_id, address, submission, suppressions=suppressions, context=context)
    if submission.act is Act.WAKE:
        mark_active(user_id, context.clock(), context=context)
        return Notice.AWAKE
    try:
        saved = save(
            user_id,
            submission.choice,
            submission.follows,
            bus=bus,
            context=context,
            time_left=time_left,
            reader=reader,
        )
    except (NotYet, Unavailable, UnreadableRow):
        return Notice.UNSURE
    if not saved:
        return Notice.NOT_SAVED
    return Notice.SAVED if submission.choice != NOTHING or submission.follows else Notice.UNCHANGED


def _start(
    user_id: str,
    address: str,
    submission: Submission,
    *,
    suppressions: Suppressions,
    context: RoutingContext,
) -> Notice:
    """Start again who left, if they have not left once more since the page was shown."""

    def is_meant(reader: Subscriber) -> bool:
        return submission.left in {None, mark_of_leave(reader)}

    if resubscribe(user_id, address, suppressions=suppressions, context=context, is_meant=is_meant):
        return Notice.STARTED
    now = context.subscribers.get(user_id)
    if not isinstance(now, Subscriber) or is_meant(now):
        return Notice.NOT_STARTED
    return Notice.UNCHANGED if now.has_left else Notice.STARTED
