"""The page of an unsubscribe link: show the effect of the link, apply it, and undo it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from gazette.domain.errors import Unavailable, UnreadableForm
from gazette.domain.links import UNDO_FOR, LinkToken, Scope, ScopeKind, entity_mark, thing_in
from gazette.domain.muting.mutes import Mute, Mutes, in_force, mute_now, name_of
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.scheduling.calendar import zone_of
from gazette.domain.subscribers.following import Follow
from gazette.domain.subscribers.frequency import fallback_for_immediate
from gazette.domain.subscribers.leaving import (
    Change,
    LeaveAct,
    Leaving,
    Undone,
    change_of,
    pause,
    weekly,
)
from gazette.domain.subscribers.preference_form import Fields
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.taking_back import made_before, undo
from gazette.steps.context import RoutingContext
from gazette.steps.preferences.page import save_all, some_follows
from gazette.steps.preferences.requests import PageContext, leave, record_left
from gazette.steps.subscribers.mute import change_mutes
from gazette.steps.subscribers.resubscribe import resubscribe
from gazette.steps.subscribers.unsubscribe import is_at

_ENDS_A_LIST = {ScopeKind.DIGESTS, ScopeKind.IMMEDIATE}
"""The scopes, in addition to EVERYTHING, that statistics count as unsubscribing."""


def look(link: LinkToken, *, context: PageContext) -> Leaving:
    """Return the effect of the link without applying it, because scanners open every link in an
    email."""
    return _leaving(link, _reader_at(link, context.routing), context.routing)


def press(
    link: LinkToken,
    read_form: Callable[[], Fields],
    *,
    read_undo: Callable[[str, LinkToken], Undone],
    context: PageContext,
    time_left: TimeLeft,
) -> Leaving:
    """Apply the action of the unsubscribe page's form.

    One-click requests and unknown forms unsubscribe from the link's scope. Raises the errors of
    `leave_by`, and InvalidToken if `read_undo` rejects the token.
    """
    try:
        sent = read_form()
    except UnreadableForm:
        sent = {}
    act = next((act for act in LeaveAct if act in sent.get("act", ())), LeaveAct.LEAVE)
    if act is LeaveAct.LEAVE and link.scope.kind is ScopeKind.EVERYTHING:
        act = LeaveAct.EVERYTHING
    if act is not LeaveAct.UNDO:
        return leave_by(link, act, context=context, time_left=time_left)
    undone = read_undo(sent.get("undo", ("",))[0], link)
    return take_back(link, undone, context=context, time_left=time_left)


def leave_by(
    link: LinkToken, act: LeaveAct, *, context: PageContext, time_left: TimeLeft
) -> Leaving:
    """Apply a button or a mail program's one-click request, and return the result.

    Safe to repeat. Like `unsubscribe`, it applies to the address that the link was sent to. If the
    reader has another address or has unsubscribed, the reader's choices do not change. Raises
    Unavailable, NotYet or UnreadableRow if the change was not made, or if the result is unknown.
    """
    routing = context.routing
    reader = _reader_at(link, routing)
    before = _leaving(link, reader, routing)
    if act is LeaveAct.EVERYTHING:
        unsubscribed = leave(link, context=context)
        return _done(_left(before, reader, unsubscribed, routing), act, routing)
    is_barred = before.is_barred and act is LeaveAct.LEAVE
    if reader is None or reader.has_left or is_barred:
        return _done(before, _confirmed_act(reader, act), routing)
    if act is LeaveAct.LEAVE and link.scope.kind is ScopeKind.THING:
        return _mute(link, before, reader, context)
    follows = _follows(reader, before.scope, act, routing)

    def wanted(then: Subscriber, followed: Sequence[Follow], at: datetime) -> Change:
        return _wanted(act, before.scope, then, followed, at, routing)

    now = routing.clock()
    change = wanted(reader, follows, now)
    if change.is_nothing:
        earlier = made_before(reader, follows, wanted, since=now - UNDO_FOR)
        return replace(before, act=act, left_before=earlier)
    _change(reader, change, now, context, time_left)
    if act is LeaveAct.LEAVE and link.scope.kind in _ENDS_A_LIST:
        record_left(link, context)
    return replace(before, reader=_reader_at(link, routing), act=act, left_at=now)


def take_back(
    link: LinkToken, undone: Undone, *, context: PageContext, time_left: TimeLeft
) -> Leaving:
    """Undo the change that this link made. Raises the errors of `leave_by`.

    `act` is None in the result if email can no longer be sent to the address.
    """
    routing = context.routing
    reader = _reader_at(link, routing)
    result = _leaving(link, reader, routing)
    if reader is None:
        return result
    if undone.act is LeaveAct.EVERYTHING:
        return _return(reader, link, result, undone.at, context)
    if undone.act is LeaveAct.LEAVE and link.scope.kind is ScopeKind.THING:
        return _unmute(link, result, reader, undone.at, context)
    today = _today(reader, routing.clock())
    follows = _follows(reader, result.scope, undone.act, routing)
    changes = undo(reader, follows, undone.at, today)
    if changes:
        context.announce()
        _require_accepted(
            save_all(reader, changes, bus=context.bus, context=routing, time_left=time_left)
        )
    now = _reader_at(link, routing)
    return _done(replace(result, reader=now), _confirmed_act(now, LeaveAct.UNDO), routing)


def _mute(link: LinkToken, found: Leaving, reader: Subscriber, context: PageContext) -> Leaving:
    """Mute the entity of the link, unless it is already muted."""
    routing, now = context.routing, context.routing.clock()
    entity, title = thing_in(link.scope)

    def mutes(stored: Mutes) -> Sequence[Mute]:
        is_new = all(each.entity != entity for each in in_force(stored))
        return [mute_now(entity, title, stored, now)] if is_new else []

    muting = change_mutes(reader.user_id, mutes, context=routing)
    if muting.reader is None:
        return replace(found, reader=None, act=LeaveAct.LEAVE)
    if muting.refused:
        return replace(found, act=LeaveAct.LEAVE, has_no_room=True)
    (mute,) = (each for each in in_force(muting.reader.mutes) if each.entity == entity)
    if muting.is_changed:
        return replace(found, reader=muting.reader, act=LeaveAct.LEAVE, left_at=mute.at)
    is_recent = timedelta(0) <= now - mute.at <= UNDO_FOR
    earlier = mute.at if is_recent else None
    return replace(found, reader=muting.reader, act=LeaveAct.LEAVE, left_before=earlier)


def _unmute(
    link: LinkToken, found: Leaving, reader: Subscriber, muted_at: datetime, context: PageContext
) -> Leaving:
    """Undo the mute that this link made at `muted_at`, and no later mute."""
    entity, _ = thing_in(link.scope)
    end = Mute(entity, muted_at).ended
    muting = change_mutes(reader.user_id, lambda _: [end], context=context.routing)
    now = muting.reader
    is_muted = now is not None and any(each.entity == entity for each in in_force(now.mutes))
    act = LeaveAct.LEAVE if is_muted else LeaveAct.UNDO
    return _done(replace(found, reader=now), _confirmed_act(now, act), context.routing)


def _return(
    reader: Subscriber, link: LinkToken, found: Leaving, left_at: datetime, context: PageContext
) -> Leaving:
    """Resume email to a reader who unsubscribed at `left_at`, unless a later unsubscription is
    stored.
    """

    def is_meant(now: Subscriber) -> bool:
        """Return True if the stored unsubscription is to be undone.

        Rows of the previous version do not contain its time.
        """
        return now.status is SubscriberStatus.UNSUBSCRIBED and now.left_at in {None, left_at}

    if not reader.has_left or resubscribe(
        reader.user_id,
        link.address,
        suppressions=context.suppressions,
        context=context.routing,
        is_meant=is_meant,
    ):
        return replace(found, act=LeaveAct.UNDO)
    now = _reader_at(link, context.routing)
    has_left_again = (
        now is not None and now.status is SubscriberStatus.UNSUBSCRIBED and not is_meant(now)
    )
    if has_left_again:
        return _done(found, LeaveAct.EVERYTHING, context.routing)
    return replace(found, act=None)


def _left(
    found: Leaving, reader: Subscriber | None, left: Subscriber | None, context: RoutingContext
) -> Leaving:
    """Return the page with the time of the unsubscription, so that a recent unsubscription can be
    undone.
    """
    if reader is None or left is None or left.left_at is None:
        return found
    if not reader.has_left:
        return replace(found, left_at=left.left_at)
    had_left = reader.status is SubscriberStatus.UNSUBSCRIBED
    is_recent = context.clock() - left.left_at <= UNDO_FOR
    return replace(found, left_before=left.left_at if had_left and is_recent else None)


def _done(found: Leaving, act: LeaveAct, context: RoutingContext) -> Leaving:
    """Return the page after an action. For EVERYTHING, list the categories that are still sent."""
    is_all = act is LeaveAct.EVERYTHING
    still = tuple(sorted(context.critical)) if is_all else found.still
    return replace(found, act=act, still=still)


def _confirmed_act(reader: Subscriber | None, act: LeaveAct) -> LeaveAct:
    """Return the action that the page confirms.

    An unsubscribed reader gets no email after any action.
    """
    has_left = reader is not None and reader.has_left
    return LeaveAct.EVERYTHING if has_left and act is not LeaveAct.LEAVE else act


def _wanted(
    act: LeaveAct,
    scope: Scope,
    reader: Subscriber,
    follows: Sequence[Follow],
    at: datetime,
    context: RoutingContext,
) -> Change:
    if act is LeaveAct.PAUSE:
        return pause(reader, _today(reader, at))
    if act is LeaveAct.WEEKLY:
        return weekly(reader, follows, defaults=context.defaults)
    return change_of(scope, reader, follows, defaults=context.defaults)


def _change(
    reader: Subscriber, change: Change, at: datetime, context: PageContext, time_left: TimeLeft
) -> None:
    """Publish a change to the bus and apply it."""
    context.announce()
    _require_accepted(
        save_all(
            reader,
            [(at, change)],
            bus=context.bus,
            context=context.routing,
            time_left=time_left,
        )
    )


def _require_accepted(is_taken: bool) -> None:
    if not is_taken:
        raise Unavailable("The event bus did not accept the change, so no change was made.")


def _leaving(link: LinkToken, reader: Subscriber | None, context: RoutingContext) -> Leaving:
    scope, still = _scope_of(link.scope, context.critical)
    if scope.kind is ScopeKind.THING:
        entity, title = thing_in(scope)
        return Leaving(scope=scope, reader=reader, still=still, thing=title or name_of(entity))
    if reader is None or scope.kind in {ScopeKind.EVERYTHING, ScopeKind.DIGESTS}:
        return Leaving(scope=scope, reader=reader, still=still)
    return Leaving(
        scope=scope,
        reader=reader,
        follows=tuple(
            each.title or each.entity
            for each in _follows_named(reader, scope, context)
            if each.latest.following
        ),
        fallback=fallback_for_immediate(reader.chosen, context.defaults),
        keeps_some=scope.kind is ScopeKind.CATEGORY and _may_keep_some(reader, context),
        still=still,
    )


def _may_keep_some(reader: Subscriber, context: RoutingContext) -> bool:
    """Return True if the reader may still get email of the category through follows.

    This is the case if a follow has its own frequency, or if one page cannot show all follows.
    """
    follows, more = some_follows(reader.user_id, "", context)
    return bool(more) or any(each.latest.frequency for each in follows)


def _scope_of(scope: Scope, critical: Collection[str]) -> tuple[Scope, tuple[str, ...]]:
    """Return the part of a scope from which readers can unsubscribe, and the scope's critical
    categories.

    If all names are critical, they are kept, because a scope without names would mean all immediate
    emails.
    """
    if scope.kind in {ScopeKind.DIGESTS, ScopeKind.ENTITY}:
        return scope, ()
    if scope.kind is ScopeKind.THING:
        return scope, tuple(sorted(critical))
    still = tuple(sorted(name for name in scope.names or critical if name in critical))
    names = tuple(name for name in scope.names if name not in critical)
    return (replace(scope, names=names) if names else scope), still


def _reader_at(link: LinkToken, context: RoutingContext) -> Subscriber | None:
    reader = context.subscribers.get(link.run.user_id)
    return reader if isinstance(reader, Subscriber) and is_at(reader, link.address) else None


def _follows(
    reader: Subscriber, scope: Scope, act: LeaveAct, context: RoutingContext
) -> Sequence[Follow]:
    """Return the follows that an action may change, including ended follows, which may be
    restored.
    """
    if act is LeaveAct.PAUSE or (act is LeaveAct.LEAVE and scope.kind is ScopeKind.CATEGORY):
        return []
    if act is LeaveAct.LEAVE and scope.kind is ScopeKind.ENTITY:
        return _follows_named(reader, scope, context)
    return _read_follows(reader, set(context.follows.followed_by(reader.user_id)), context)


def _follows_named(reader: Subscriber, scope: Scope, context: RoutingContext) -> Sequence[Follow]:
    """Return the follows of the entities that an unsubscribe link identifies by short hashes."""
    if scope.kind is not ScopeKind.ENTITY:
        return []
    followed = context.follows.followed_by(reader.user_id)
    entities = {entity for entity in followed if entity_mark(entity) in scope.names}
    return _read_follows(reader, entities, context)


def _read_follows(
    reader: Subscriber, entities: Collection[str], context: RoutingContext
) -> Sequence[Follow]:
    if not entities:
        return []
    follows = context.follows.get_many([(entity, reader.user_id) for entity in entities])
    return sorted(follows.values(), key=lambda each: each.entity)


def _today(reader: Subscriber, at: datetime) -> date:
    return at.astimezone(zone_of(reader.time_zone)).date()
