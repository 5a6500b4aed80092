"""Follows and activities, and which followers get events about an entity. Pure."""

from dataclasses import dataclass, fields, replace
from datetime import datetime

from gazette.domain.model import Event, Happening
from gazette.domain.stored import is_known
from gazette.domain.subscribers.frequency import (
    Frequencies,
    Frequency,
    frequency_for,
    in_digest,
)
from gazette.domain.subscribers.history import History, in_force_since


@dataclass(frozen=True, slots=True)
class FollowState:
    """The state of a follow."""

    following: bool
    """True if the follow is active; False if it has ended."""

    frequency: Frequency | None = None
    """The follow's own frequency, which overrides the frequency of the category."""

    title: str = ""
    """The entity's name; empty if the service gave none."""


@dataclass(frozen=True, slots=True)
class Follow:
    """A subscriber's follow of an entity, with the changes of the follow over time."""

    entity: str
    user_id: str
    changes: History[FollowState]

    @property
    def latest(self) -> FollowState:
        """The latest state of the follow."""
        return self.changes[-1][1]

    @property
    def title(self) -> str:
        """The latest name of the followed entity; empty if the service gave none."""
        return next((state.title for _, state in reversed(self.changes) if state.title), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity(Happening):
    """An activity on an entity, for all followers of the entity or of its parent.

    A side is the entity or its parent.
    """

    parent: str | None
    """The key of the entity that `entity` belongs to, such as the post of a comment."""

    retracted: bool = False
    walked: frozenset[str] = frozenset()
    """The sides whose followers all have the current content or are queued to get the content."""

    former: frozenset[str] = frozenset()
    """The sides that an amendment removed. Their followers may still have the activity."""

    @property
    def sides(self) -> tuple[str, ...]:
        """The keys of the entities whose followers get the activity, most specific first."""
        if self.parent is None or self.parent == self.entity.key:
            return (self.entity.key,)
        return (self.entity.key, self.parent)

    def in_place_of(self, earlier: "Activity") -> "Activity":
        """Return this activity with the sides of `earlier` recorded as former sides."""
        return replace(self, former=(earlier.former | {*earlier.sides}) - {*self.sides})

    @property
    def to_walk(self) -> tuple[str, ...]:
        """The sides whose followers may not have the current content yet."""
        return tuple(
            side for side in (*self.sides, *sorted(self.former)) if side not in self.walked
        )

    def has_content_of(self, other: "Activity") -> bool:
        """Return True if both activities have the same content."""
        return (self.amended_at, self.retracted) == (other.amended_at, other.retracted)

    def concerns_since(self, side: str, instant: datetime) -> bool:
        """Return True if a user who has followed `side` since `instant` gets, or may have, the
        activity.

        If the activity was below `side` before an amendment, a worker may have delivered it and
        failed before it read the amendment.
        """
        return side in self.former or (side in self.sides and self.occurred_at >= instant)

    def may_concern(self, user_id: str) -> bool:
        """Return True if a follower gets the activity or may have an earlier version of the
        activity.

        The activity's own actor does not get it. If the activity was amended, an earlier version
        may have named a different actor.
        """
        is_actor = self.actor is not None and self.actor.id == user_id
        return not is_actor or self.amended_at is not None

    def event_for(self, user_id: str) -> Event:
        """Return the event for a follower.

        The event has the activity's id, regardless of which entity the user follows.
        """
        common = {each.name: getattr(self, each.name) for each in fields(Happening)}
        return Event(user_id=user_id, via=self.sides, **common)


def effective_frequency(
    event: Event,
    *,
    choices: History[Frequencies],
    follows: tuple[Follow | None, ...],
    defaults: Frequencies,
    paused_or_dormant: bool = False,
    late: bool = False,
    critical: bool = False,
) -> Frequency | None:
    """Return the reader's frequency for `event`; None if the reader does not follow any entity of
    the event.

    A reader does not get their own activities through a follow, critical or not. An event that is
    addressed to its reader has no follow, and is sent even if the reader is its actor.

    `follows` are the follows of `event.via`, in that order. A follow counts if it was active when
    the event occurred and has not ended since. If several follows count, the follow of the most
    specific entity decides. A follow's own frequency overrides that of the category. `never`, at
    any time since the event occurred, mutes the event permanently. `paused_or_dormant` means that
    the reader was paused or dormant when the event occurred, even if this becomes known later.
    `late` means that the event occurred too long ago for an immediate email. In both cases, an
    immediate event waits for the daily digest, and so does an event with a frequency that this
    version does not know. For items of a queried content source, `immediate` means `daily`. With
    `critical`, the event is immediate regardless of the reader's choice, but only if the reader
    follows it.
    """
    if event.is_own_activity:
        return None
    if critical:
        return Frequency.IMMEDIATE if _is_followed(event, follows) else None
    frequency = _chosen_frequency(event, choices, follows, defaults)
    if event.source and frequency is not None:
        return in_digest(frequency)
    if frequency is None or (
        is_known(frequency)
        and not (frequency is Frequency.IMMEDIATE and (paused_or_dormant or late))
    ):
        return frequency
    return Frequency.DAILY


def _chosen_frequency(
    event: Event,
    choices: History[Frequencies],
    follows: tuple[Follow | None, ...],
    defaults: Frequencies,
) -> Frequency | None:
    """Return the frequency according to choices and follows alone."""
    for follow in follows:
        states = _states_since(follow, event.counts_at)
        if any(state.frequency is Frequency.NEVER and state.following for state in states):
            return Frequency.NEVER
        if states and all(state.following for state in states):
            return states[-1].frequency or _by_category(event, choices, defaults)
    return None if event.via else _by_category(event, choices, defaults)


def _is_followed(event: Event, follows: tuple[Follow | None, ...]) -> bool:
    """Return True if the event is addressed to the reader, or if one of the follows counts."""
    all_states = (_states_since(follow, event.counts_at) for follow in follows)
    return not event.via or any(
        states and all(each.following for each in states) for states in all_states
    )


def _states_since(follow: Follow | None, instant: datetime) -> tuple[FollowState, ...]:
    """Return the states of a follow from `instant` on; empty if the follow began later."""
    if follow is None or not follow.changes or follow.changes[0][0] > instant:
        return ()
    return tuple(state for _, state in in_force_since(follow.changes, instant))


def _by_category(event: Event, choices: History[Frequencies], defaults: Frequencies) -> Frequency:
    return category_frequency(event.category, event.counts_at, choices, defaults)


def category_frequency(
    category: str, at: datetime, choices: History[Frequencies], defaults: Frequencies
) -> Frequency:
    """Return the frequency of a category for an event that occurred at `at`.

    The first known choice also counts for earlier times. `never` at any time since `at` mutes the
    event.
    """
    since = [
        frequency_for(category, chosen=chosen, defaults=defaults)
        for _, chosen in in_force_since(choices, at) or ((None, ()),)
    ]
    return Frequency.NEVER if Frequency.NEVER in since else since[-1]
