"""The changes that readers can make through an unsubscribe link. Pure."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import TypeVar

from gazette.domain.links import Scope, ScopeKind, entity_mark
from gazette.domain.subscribers.choices import NOTHING, Choice
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.frequency import (
    EVERYTHING,
    Frequencies,
    Frequency,
    difference,
    fallback_for_immediate,
    frequency_for,
)
from gazette.domain.subscribers.subscriber import Subscriber

ValueT = TypeVar("ValueT")

PAUSED_FOR = timedelta(weeks=4)
"""The length of the pause that the unsubscribe page offers."""

_To = Callable[[Frequency], Frequency]


class LeaveAct(StrEnum):
    """The actions that the buttons of the unsubscribe page perform."""

    LEAVE = "leave"
    """Unsubscribe from the scope of the link. One-click unsubscribe in mail programs has the same
    effect."""

    WEEKLY = "weekly"
    """Receive all updates weekly, as an alternative to unsubscribing."""

    PAUSE = "pause"
    """Pause email, as an alternative to unsubscribing."""

    EVERYTHING = "everything"
    """Unsubscribe from all email."""

    UNDO = "undo"
    """Undo an earlier action."""


class KeepAct(StrEnum):
    """The actions of the page behind the notice that the digests of an inactive reader end."""

    KEEP = "keep"
    WEEKLY = "weekly"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """The data for the page on which a reader keeps the digest."""

    reader: Subscriber
    offer: KeepAct
    """The action that the page offers."""

    ends_at: datetime | None
    """The time at which the reader becomes dormant; None if that is not ahead, or if the reader has
    been active since the email."""

    act: KeepAct | None = None
    """The action of this request; None if the request has no action."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change to a reader's choices and follows. Each follow is named by its entity."""

    choice: Choice = NOTHING
    follows: tuple[tuple[str, FollowState], ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Return True if the change is empty, so that it has no effect."""
        return self.choice == NOTHING and not self.follows


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """The data for an unsubscribe page."""

    scope: Scope
    reader: Subscriber | None
    """The reader who got the link; None if this reader no longer has the address."""

    follows: tuple[str, ...] = ()
    """The titles or keys of the follows that an ENTITY link ends."""

    fallback: Frequency | None = None
    """The frequency to which the categories of an IMMEDIATE link change."""

    keeps_some: bool = False
    """True if the reader may still get email of the category through follows with their own
    frequency."""

    act: LeaveAct | None = None
    """The action of this request; None if the request has no action."""

    left_at: datetime | None = None
    """The time of the change; None if this request made no change."""

    left_before: datetime | None = None
    """The time of an earlier request that made the same change, if this change is still in force.

    For example, the first press of a button that is pressed twice.
    """

    still: tuple[str, ...] = ()
    """The categories in the scope that are still sent because they are critical."""

    thing: str = ""
    """The title of the entity that a THING link mutes, or its type and id."""

    has_no_room: bool = False
    """True if the entity was not muted, because the reader has muted too many."""

    @property
    def undoable_at(self) -> datetime | None:
        """The time of the change that can be undone; None if there is none."""
        return self.left_at or self.left_before

    @property
    def is_barred(self) -> bool:
        """Return True if readers cannot unsubscribe, because the whole scope is critical."""
        if self.scope.kind is ScopeKind.THING:
            return False
        return bool(self.scope.names) and set(self.scope.names) <= set(self.still)

    @property
    def is_unsubscribed(self) -> bool:
        """Return True if the action ended all email to a reader who had not unsubscribed before."""
        return self.act is LeaveAct.EVERYTHING and self.left_at is not None


@dataclass(frozen=True, slots=True)
class Undone:
    """The action to undo, and the time of the action."""

    act: LeaveAct
    at: datetime


def change_of(
    scope: Scope, reader: Subscriber, follows: Iterable[Follow], *, defaults: Frequencies
) -> Change:
    """Return the change that unsubscribes from a scope other than EVERYTHING.

    No email of the scope is sent after the change. A category that was immediate moves to the
    digest of all other categories, if there is one. A follow's own frequency overrides that of its
    category, so DIGESTS and IMMEDIATE change such frequencies too. A muted category can still be
    sent through a follow with its own frequency.
    """
    known = [each for each in follows if each.latest.following]
    match scope.kind:
        case ScopeKind.DIGESTS:
            return Change(_choice(reader, _no_digest, defaults), _own(known, _no_digest))
        case ScopeKind.IMMEDIATE:
            fallback = fallback_for_immediate(reader.chosen, defaults)
            choice = _choice(
                reader,
                lambda often: fallback if often is Frequency.IMMEDIATE else often,
                defaults,
                only=scope.names,
            )
            return Change(
                choice,
                tuple(
                    (each.entity, FollowState(True, None, each.title))
                    for each in known
                    if each.latest.frequency is Frequency.IMMEDIATE
                ),
            )
        case ScopeKind.CATEGORY:
            own = _own_entries(reader)
            muted = own | dict.fromkeys(scope.names, Frequency.NEVER)
            return Change(Choice(frequencies=difference(own, muted) or None))
        case ScopeKind.ENTITY:
            ended = (each for each in known if entity_mark(each.entity) in scope.names)
            return Change(follows=tuple((each.entity, FollowState(False)) for each in ended))
    raise ValueError(f"{scope.kind} has its own step")


def weekly(reader: Subscriber, follows: Iterable[Follow], *, defaults: Frequencies) -> Change:
    """Return the change that makes immediate and daily updates weekly. Other frequencies are
    unchanged."""
    known = [each for each in follows if each.latest.following]
    return Change(_choice(reader, _at_most_weekly, defaults), _own(known, _at_most_weekly))


def pause(reader: Subscriber, today: date) -> Change:
    """Return a four-week pause that starts today, unless a longer pause is in force.

    `today` is the reader's local date.
    """
    until, now = today + PAUSED_FOR, reader.times.paused_until
    return Change(Choice(paused_until=until)) if now is None or now < until else Change()


def _no_digest(often: Frequency) -> Frequency:
    """Return NEVER for every frequency except immediate. Unknown frequencies count as digests (rule
    20)."""
    return often if often is Frequency.IMMEDIATE else Frequency.NEVER


def _at_most_weekly(often: Frequency) -> Frequency:
    stays = {Frequency.NEVER, Frequency.WEEKLY, Frequency.CUSTOM}
    return often if often in stays else Frequency.WEEKLY


def _choice(
    reader: Subscriber, to: _To, defaults: Frequencies, *, only: Collection[str] = ()
) -> Choice:
    """Return the choice that changes the frequency of each category with the function `to`.

    If `only` is not empty, it names the categories to change.

    A category's choice is kept if `to` does not change its frequency, because a category that the
    reader turned off must stay off. As few other categories as possible get an entry, because a
    choice has at most a hundred.
    """
    own, default = _own_entries(reader), dict(defaults)
    changed = everything = dict(reader.chosen).get(EVERYTHING)
    if not only:
        base = everything or Frequency.DAILY
        changed = to(base) if to(base) != base else everything
    entries = dict(own) if only else {name: each for name, each in own.items() if to(each) == each}
    for category in only or {*own, *default}:
        was = frequency_for(category, chosen=reader.chosen, defaults=defaults)
        often = to(was)
        if often != (was if only else changed or default.get(category) or Frequency.DAILY):
            entries[category] = often
    return Choice(
        frequency=changed if changed != everything else None,
        frequencies=difference(own, entries) or None,
    )


def _own_entries(reader: Subscriber) -> dict[str, Frequency]:
    return {name: often for name, often in reader.chosen if name != EVERYTHING}


def _own(follows: Iterable[Follow], to: _To) -> tuple[tuple[str, FollowState], ...]:
    """Return the new states of follows whose own frequency is changed by the function `to`."""
    return tuple(
        (each.entity, FollowState(True, to(often), each.title))
        for each in follows
        if (often := each.latest.frequency) and to(often) != often
    )
