"""What a reader who leaves by degrees changes, and what takes it back. Pure."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import TypeVar

from gazette.domain.links import Scope, ScopeKind, entity_mark
from gazette.domain.subscribers.choices import NOTHING, Choice
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.frequency import (
    DIGESTS,
    EVERYTHING,
    Frequencies,
    Frequency,
    difference,
    frequency_for,
)
from gazette.domain.subscribers.subscriber import Subscriber

ValueT = TypeVar("ValueT")

PAUSED_FOR = timedelta(weeks=4)
"""How long the button of the page pauses."""

_To = Callable[[Frequency], Frequency]


class LeaveAct(StrEnum):
    """The buttons beside an unsubscribe link.

    `LEAVE`: leave the scope of the link; a mail program's one-click does that too. `WEEKLY`,
    `PAUSE` and `EVERYTHING` are offered instead. `UNDO` takes back what one of them did.
    """

    LEAVE = "leave"
    WEEKLY = "weekly"
    PAUSE = "pause"
    EVERYTHING = "everything"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Change:
    """What changes: the reader's choice, and the new states of follows, by their entities."""

    choice: Choice = NOTHING
    follows: tuple[tuple[str, FollowState], ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether everything stays as it is."""
        return self.choice == NOTHING and not self.follows


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """What an unsubscribe link is about, for its page.

    `reader`: whose address the link went to; None if nobody of that id has it now. `follows`: the
    titles or keys of what an ENTITY link ends. `instead`: how the categories of an IMMEDIATE link
    come from then on. `keeps_some`: follows with a frequency of their own go on. `act`: what was
    done, None where nothing was. `left_at`: when, if this request changed anything. `left_before`:
    when an earlier one made the same change, such as the first press of a button that is pressed
    twice, if that still stands. `still`: categories of the scope that come all the same, because
    they are critical.
    """

    scope: Scope
    reader: Subscriber | None
    follows: tuple[str, ...] = ()
    instead: Frequency | None = None
    keeps_some: bool = False
    act: LeaveAct | None = None
    left_at: datetime | None = None
    left_before: datetime | None = None
    still: tuple[str, ...] = ()

    @property
    def undoable_at(self) -> datetime | None:
        """The instant of the change that can be taken back, if there is one."""
        return self.left_at or self.left_before

    @property
    def is_barred(self) -> bool:
        """Whether nothing of the scope can be left."""
        return bool(self.scope.names) and set(self.scope.names) <= set(self.still)

    @property
    def is_unsubscribed(self) -> bool:
        """Whether it ended all email to a reader, who had not left before."""
        return self.act is LeaveAct.EVERYTHING and self.left_at is not None


@dataclass(frozen=True, slots=True)
class Undone:
    """What is taken back: the act, at its instant."""

    act: LeaveAct
    at: datetime


def change_of(
    scope: Scope, reader: Subscriber, follows: Iterable[Follow], *, defaults: Frequencies
) -> Change:
    """What leaving a scope changes, but for EVERYTHING, which is no choice of a frequency.

    After it no email of the scope comes. A category that no longer comes at once comes with the
    digest of all other categories, if there is one. A follow's own frequency goes before that of
    its category, so DIGESTS and IMMEDIATE change those, too; a category that is muted can still
    come through a follow that has one.
    """
    known = [each for each in follows if each.latest.following]
    match scope.kind:
        case ScopeKind.DIGESTS:
            return Change(_choice(reader, _no_digest, defaults), _own(known, _no_digest))
        case ScopeKind.IMMEDIATE:
            instead = instead_of_immediate(reader, defaults)
            choice = _choice(
                reader,
                lambda often: instead if often is Frequency.IMMEDIATE else often,
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
    raise ValueError(f"{scope.kind} is left by its own step")


def weekly(reader: Subscriber, follows: Iterable[Follow], *, defaults: Frequencies) -> Change:
    """What comes at once or daily comes weekly; everything else stays."""
    known = [each for each in follows if each.latest.following]
    return Change(_choice(reader, _at_most_weekly, defaults), _own(known, _at_most_weekly))


def pause(reader: Subscriber, today: date) -> Change:
    """Four weeks from the reader's date without email, unless a longer pause is in force."""
    until, now = today + PAUSED_FOR, reader.times.paused_until
    return Change(Choice(paused_until=until)) if now is None or now < until else Change()


def instead_of_immediate(reader: Subscriber, defaults: Frequencies) -> Frequency:
    """The digest of all categories without a choice of their own; NEVER if there is none."""
    often = frequency_for(EVERYTHING, chosen=reader.chosen, defaults=defaults)
    return often if often in DIGESTS else Frequency.NEVER


def _no_digest(often: Frequency) -> Frequency:
    """An unknown frequency is a digest, too (rule 20)."""
    return often if often is Frequency.IMMEDIATE else Frequency.NEVER


def _at_most_weekly(often: Frequency) -> Frequency:
    stays = {Frequency.NEVER, Frequency.WEEKLY, Frequency.CUSTOM}
    return often if often in stays else Frequency.WEEKLY


def _choice(
    reader: Subscriber, to: _To, defaults: Frequencies, *, only: Collection[str] = ()
) -> Choice:
    """The choice that makes `to(often)` of the frequency of each category, or of `only` these.

    What the reader chose for a category stays if `to` leaves it as it is: who turned it off means
    that whatever comes otherwise. As few others as possible get an entry, because a choice has at
    most a hundred.
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
    """The follows with a frequency of their own that `to` changes."""
    return tuple(
        (each.entity, FollowState(True, to(often), each.title))
        for each in follows
        if (often := each.latest.frequency) and to(often) != often
    )
