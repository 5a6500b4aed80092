"""The requests that readers make on the preference page."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

from gazette.domain.commands import ChangeFollow, ChoosePreferences
from gazette.domain.errors import NotYet, Unavailable, UnreadableRow
from gazette.domain.ports.bus import Bus
from gazette.domain.ports.clock import Clock, TimeLeft
from gazette.domain.ports.ledgers import Schedules
from gazette.domain.ports.stores import Follows, Subscribers, Suppressions
from gazette.domain.scheduling.quiet import QuietHours
from gazette.domain.subscribers.choices import NOTHING, Choice
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.frequency import ASKED_CATEGORIES, Frequencies
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
from gazette.steps.subscribers.mute import Muting, change_mutes
from gazette.steps.subscribers.resubscribe import resubscribe
from gazette.steps.subscribers.sunset import mark_active
from gazette.steps.subscribers.unsubscribe import unsubscribe
from gazette.steps.time_budget import require_time

SHOWN = 100
"""The maximum number of follows on a page, ordered by entity.

The next page begins after the last follow.
"""

_LOOKS = 5
"""The maximum number of reads for a page.

Each read returns SHOWN follows. One read may be too few, because ended follows are not shown.
"""


class OverviewReads(Protocol):
    """The dependencies for reading an overview, which a RoutingContext contains."""

    @property
    def subscribers(self) -> Subscribers:
        """The profiles."""

    @property
    def follows(self) -> Follows:
        """The follows."""

    @property
    def schedules(self) -> Schedules:
        """The schedules."""

    @property
    def clock(self) -> Clock:
        """The clock."""

    @property
    def defaults(self) -> Frequencies:
        """The installation's frequencies by category."""

    @property
    def quiet_hours(self) -> QuietHours | None:
        """The quiet hours of readers without their own choice."""

    @property
    def critical(self) -> Collection[str]:
        """The categories that are sent regardless of the reader's choice."""

    @property
    def sunset(self) -> timedelta | None:
        """The period of inactivity after which a subscriber becomes dormant."""

    @property
    def content(self) -> object:
        """The content sources that digests query. None if digests contain only events."""


def read_overview(
    user_id: str, *, context: OverviewReads, follows_after: str = ""
) -> Overview | None:
    """Return the reader as stored now, or None if the user id is unknown or was erased.

    `follows_after` is the entity after which the page's follows begin. An inactive reader is shown
    as dormant even if that status is not stored yet, because fan-out does not visit idle schedules.
    """
    stored = context.subscribers.get(user_id)
    if not isinstance(stored, Subscriber):
        return None
    now = context.clock()
    reader = stored.as_of(now, sunset=context.sunset)
    queried = tuple(sorted(ASKED_CATEGORIES)) if context.content else ()
    follows, more = some_follows(user_id, follows_after, context)
    schedules = tuple(context.schedules.of_user(user_id))
    return Overview(
        subscriber=reader,
        now=now,
        defaults=context.defaults,
        default_quiet_hours=context.quiet_hours,
        critical=tuple(sorted(context.critical)),
        queried_categories=queried,
        follows=tuple(follows),
        follows_after=follows_after,
        more_follows=more,
        next_due_at=next_digest(
            reader,
            schedules,
            follows,
            defaults=context.defaults,
            now=now,
            asked=queried,
            are_all=not (follows_after or more),
        ),
        schedules=schedules,
    )


def some_follows(user_id: str, after: str, context: OverviewReads) -> tuple[list[Follow], str]:
    """Return up to SHOWN active follows, sorted by title, starting after the entity `after`.

    Also returns the entity after which the next page begins, or an empty string if there are no
    more follows.
    """
    most = _LOOKS * SHOWN
    entities = list(context.follows.followed_by(user_id, after=after, at_most=most + 1))
    page: list[Follow] = []
    for first in range(0, min(len(entities), most), SHOWN):
        some = [(entity, user_id) for entity in entities[first : first + SHOWN]]
        follows = context.follows.get_many(some)
        in_force = [
            follows[key] for key in some if key in follows and follows[key].latest.following
        ]
        room = SHOWN - len(page)
        page += in_force[:room]
        if len(in_force) > room:
            return sorted(page, key=_by_title), page[-1].entity
    return sorted(page, key=_by_title), entities[most - 1] if len(entities) > most else ""


def with_follows_of(sent: Fields, overview: Overview, *, context: RoutingContext) -> Overview:
    """Return `overview` with all follows that a submitted form contains.

    Follows may have begun or ended since the form was shown, so the page may now show different
    follows.
    """
    known = {follow_field(follow.entity) for follow in overview.follows}
    named = {name for name in sent if name.startswith(FOLLOW_FIELD)} - known
    if not named or overview.has_all_follows:
        return overview
    user_id = overview.subscriber.user_id
    followed = context.follows.followed_by(user_id)
    keys = [(entity, user_id) for entity in followed if follow_field(entity) in named]
    follows = context.follows.get_many(keys).values() if keys else ()
    others = (follow for follow in follows if follow.latest.following)
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
    """Store a reader's choice, and changes of follows by entity key.

    `at` is the time of the choice; the default is now. `reader` is the reader as read, for the
    previous version. Returns and raises like `keep`.
    """
    now = at or context.clock()
    chosen = [choice_command(user_id, choice, now, reader)] if choice != NOTHING else []
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
    """Store several changes of a reader in this order, each with its own instant.

    Returns and raises like `keep`.
    """
    user_id, now = reader.user_id, reader
    chosen = list[ChoosePreferences]()
    for at, change in changes:
        if change.choice != NOTHING:
            chosen.append(choice_command(user_id, change.choice, at, now))
            now = replace(now, reader_choices=now.reader_choices.with_choice(at, change.choice))
    followed = [
        ChangeFollow(user_id, entity, state, at)
        for at, change in changes
        for entity, state in change.follows
    ]
    return keep(user_id, chosen, followed, bus=bus, context=context, time_left=time_left)


def choice_command(
    user_id: str, choice: Choice, at: datetime, reader: Subscriber | None
) -> ChoosePreferences:
    """Return the command that stores a choice. It contains all frequencies for the previous version
    if `reader` is given.
    """
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
    """Publish a reader's choices to the bus, and apply them.

    They are published first, so that ingest applies them even if this process fails. Then they are
    applied here, including to waiting events, because the page confirms the choice and no outdated
    email may follow (rule 11). Returns False if no change was made. Raises Unavailable, NotYet or
    UnreadableRow if the choices were not applied here, or if that is unknown; ingest then applies
    the published choices. A visit always counts as activity.
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
    """Apply a button of the preference page. If a field is invalid, report the error without making
    changes.

    `address` is the hash of the address that the page's link was sent to. `reader` has the same
    meaning as in `save`. A change that does not finish within `time_left` is not reported as saved.
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
        unmuting = Muting(reader)
        if saved and submission.unmuted:
            unmuting = change_mutes(user_id, lambda _: submission.unmuted, context=context)
    except (NotYet, Unavailable, UnreadableRow):
        return Notice.UNSURE
    if not saved:
        return Notice.NOT_SAVED
    is_changed = unmuting.is_changed or submission.choice != NOTHING or bool(submission.follows)
    return Notice.SAVED if is_changed else Notice.UNCHANGED


def _start(
    user_id: str,
    address: str,
    submission: Submission,
    *,
    suppressions: Suppressions,
    context: RoutingContext,
) -> Notice:
    """Resume email to the reader, unless the reader unsubscribed again since the page was shown."""

    def is_meant(reader: Subscriber) -> bool:
        return submission.leave_mark in {None, mark_of_leave(reader)}

    if resubscribe(user_id, address, suppressions=suppressions, context=context, is_meant=is_meant):
        return Notice.STARTED
    now = context.subscribers.get(user_id)
    if not isinstance(now, Subscriber) or is_meant(now):
        return Notice.NOT_STARTED
    return Notice.UNCHANGED if now.has_left else Notice.STARTED
