"""What a reader who leaves by degrees changes, and what takes it back. Pure."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta
from enum import StrEnum

from gazette.domain.links import Scope, ScopeKind, entity_mark
from gazette.domain.subscribers.choices import NOTHING, Choice, ReaderChoices, resolve
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.frequency import (
    DEFAULT,
    DIGESTS,
    EVERYTHING,
    Frequencies,
    Frequency,
    frequencies,
    frequency_for,
)
from gazette.domain.subscribers.subscriber import Subscriber

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
    done, None where nothing was. `left_at`: when, if that can be taken back.
    """

    scope: Scope
    reader: Subscriber | None
    follows: tuple[str, ...] = ()
    instead: Frequency | None = None
    keeps_some: bool = False
    act: LeaveAct | None = None
    left_at: datetime | None = None

    @property
    def is_unsubscribed(self) -> bool:
        """Whether it ended all email to a reader."""
        return self.act is LeaveAct.EVERYTHING and self.reader is not None


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
            return Change(_choice(reader, lambda _: Frequency.NEVER, defaults, only=scope.names))
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


def undo(reader: Subscriber, follows: Iterable[Follow], at: datetime, today: date) -> Change:
    """What takes back the change of an instant, and nothing that was changed after it.

    The row has what was before: the reader's choices without those of the instant, and the states
    of each follow. `today`: the reader's date; a pause that ends then has ended.
    """
    without = _without(reader, at)
    _, then = resolve(reader.service_choices, without)
    now, before = dict(reader.chosen), dict(then.frequencies)
    everything, former = now.pop(EVERYTHING, None), before.pop(EVERYTHING, None)
    paused, was_paused = reader.times.paused_until, then.times.paused_until
    choice = Choice(
        frequency=(former or DEFAULT) if former != everything else None,
        frequencies=frequencies(before) if before != now else None,
        paused_until=(was_paused or today) if paused != was_paused else None,
    )
    return Change(choice, tuple(_restored(follows, at)))


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

    As few categories as possible get an entry of their own, because a choice has at most a hundred.
    """
    own, default = dict(reader.chosen), dict(defaults)
    everything = own.pop(EVERYTHING, None)
    changed = everything
    if not only:
        base = everything or Frequency.DAILY
        changed = to(base) if to(base) != base else everything
    entries = {} if not only else dict(own)
    for category in only or {*own, *default}:
        often = to(frequency_for(category, chosen=reader.chosen, defaults=defaults))
        if only or often != (changed or default.get(category) or Frequency.DAILY):
            entries[category] = often
    return Choice(
        frequency=changed if changed != everything else None,
        frequencies=frequencies(entries) if entries != own else None,
    )


def _own(follows: Iterable[Follow], to: _To) -> tuple[tuple[str, FollowState], ...]:
    """The follows with a frequency of their own that `to` changes."""
    return tuple(
        (each.entity, FollowState(True, to(often), each.title))
        for each in follows
        if (often := each.latest.frequency) and to(often) != often
    )


def _without(reader: Subscriber, at: datetime) -> ReaderChoices:
    """The reader's choices as if nothing had been chosen at `at`."""
    choices = reader.reader_choices
    kept = {
        each.name: tuple(entry for entry in getattr(choices, each.name) if entry[0] != at)
        for each in fields(choices)
    }
    return replace(choices, **kept | {"frequencies": tuple(_without_entries(reader, at))})


def _without_entries(reader: Subscriber, at: datetime) -> Iterator[tuple[datetime, Frequencies]]:
    """The choices by category; what was chosen at `at` is taken out of later ones, too.

    Each choice has the entries of the one before, so a later one repeats what was chosen at `at`,
    up to the first that says otherwise of the category.
    """
    earlier = [dict(chosen) for then, chosen in reader.choices if then < at]
    before = earlier[-1] if earlier else {}
    became: dict[str, Frequency | None] = {}
    for then, chosen in reader.reader_choices.frequencies:
        own = dict(chosen)
        if then == at:
            names = {*before, *own} - {EVERYTHING}
            became = {each: own.get(each) for each in names if own.get(each) != before.get(each)}
            continue
        became = {each: often for each, often in became.items() if own.get(each) == often}
        former = {each: often for each in became if (often := before.get(each))}
        yield then, frequencies({k: v for k, v in own.items() if k not in became} | former)


def _restored(follows: Iterable[Follow], at: datetime) -> Iterable[tuple[str, FollowState]]:
    for follow in follows:
        earlier = [state for then, state in follow.changes if then < at]
        if follow.changes[-1][0] == at and earlier and earlier[-1] != follow.latest:
            yield follow.entity, replace(earlier[-1], title=follow.title)
