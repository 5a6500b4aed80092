"""Two readers and a record of the events they want, derived from the actions,
not from the tables.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from functools import partial

from gazette.domain.commands import (
    ChangeFollow,
    ChangeSubscriber,
    ChoosePreferences,
    CommandList,
    CreateActivity,
    CreateEvents,
    EraseSubscriber,
    MarkActive,
    MarkSeen,
    RetractActivity,
    RetractEvent,
)
from gazette.domain.delivery.run import Run
from gazette.domain.errors import NotYet
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.model import Event, Retracted, StoredEvent
from gazette.domain.scheduling.calendar import SLOT, Days, DigestTimes, zone_of
from gazette.domain.scheduling.quiet import NO_QUIET_HOURS, QuietHours
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.preference_form import mark_of_leave
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus

from gazette_support.steps.batches import cancel_batch
from proofs.features.history import DAYS, READERS, Deed
from proofs.prove.acts import bury_messages, lose_messages
from proofs.prove.life import FIRST_DUE, Happening, Life
from proofs.prove.provider import Taken
from tests.builders import a_bounce, a_complaint, a_subscriber, an_activity, an_event

_CATEGORIES = ("comment", "like", "note")
_OFTEN = (
    Frequency.DAILY,
    Frequency.IMMEDIATE,
    Frequency.WEEKLY,
    Frequency.CUSTOM,
    Frequency.NEVER,
    Frequency.DAILY,
)
_THINGS = ("post#shared", "post#p0", "post#p1", "post#home")
"""The things that readers mute."""

_ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Pacific/Auckland",
    "Pacific/Honolulu",
    "Asia/Kathmandu",
)
_CUSTOM = (
    Days(frozenset({3, 6})),
    Days(month_day=31),
    Days(month_day=2),
    Days(frozenset({1}), every=2),
)
_AT_A_BUTTON = timedelta(hours=1)
"""Kinds of holds and manual stops. Rule 11 does not cover them, so a worker that read earlier still
sends.
"""

_WITHDRAWN = (*_THINGS, "")
"""The entities that an operator withdraws. An empty text means the actor of the reader's latest
event.
"""

_QUIET = ("04:00-14:00", "22:00-09:30", "07:59-08:01", NO_QUIET_HOURS, "10:00-09:00", "09:00-10:00")
"""The quiet hours that readers choose, by `how`. Most contain the hour of digests in some zone."""

_SKEW = timedelta(seconds=10)
"""More than the difference between two clocks."""

_STALLED = timedelta(hours=1)
"""The longest time between a worker's look at the clock and its claim."""

_SEEN_AGO = timedelta(hours=1)
_LAPSES_WITHIN = timedelta(hours=7)
_UNTIL_IT_LAPSES = (timedelta(minutes=55), timedelta(minutes=10), timedelta(hours=25))
"""The lifetimes of events, by `how`: until between the attempts of a digest or of an immediate
email, or for a day.
"""
_CONSENTED_AGO = tuple(timedelta(minutes=each) for each in (0, 0, 0, 1, 180, 1500))
"""The age of a consent when a service states it, by `how`."""

_ACTIVITY_AFTER = tuple(timedelta(seconds=each) for each in (1, 20, 300, 10800))
"""The time from an event to the activity that it is part of, by `which`."""

_SOON = timedelta(minutes=1)
_END = timedelta(days=DAYS)
_EARLIEST_MIDNIGHT = timedelta(hours=14)

Hits = Callable[[Taken, Run], bool]


@dataclass
class Wanted:
    """An event for a reader.

    `forgone` holds the reasons why it may be in no email; it is empty if an email must contain it.
    After `lapses_at` its service does not want it shown. `things` are the entities whose mute
    applies to the event.
    """

    user_id: str
    event_id: str
    category: str
    entity: str
    occurred_at: datetime
    is_followed: bool = False
    things: tuple[str, ...] = ()
    lapses_at: datetime | None = None
    activity: str = ""
    """The activity that the event comes from or is part of. One email shows one of its events."""

    key: tuple[str, str] = ("", "")
    """The acknowledgement of an event that is part of an activity; otherwise empty."""

    forgone: set[str] = field(default_factory=set)

    @property
    def happening(self) -> str:
        """The id that the events about one happening share."""
        return self.activity or self.event_id


@dataclass
class Ban:
    """A ban on claims of certain emails, from its acknowledgement until it is lifted.

    It applies by call numbers if a claim that was read before it fails. With `after` it applies by
    the clock instead.
    """

    what: str
    key: tuple[str, str]
    hits: Hits
    after: timedelta | None = None
    user_id: str = ""
    until: int | None = None
    said_at: datetime | None = None
    """The time of the action. Only a consent that is later may lift the ban."""


@dataclass
class Person:
    """A reader's state after the actions so far, regardless of unprocessed messages.

    `silent` maps muted categories and entities to the acknowledgement that ended the mute. Events
    before that are not stored, so they never appear.
    """

    user_id: str
    email: str
    often: dict[str, Frequency] = field(default_factory=dict)
    times: DigestTimes = field(default_factory=lambda: DigestTimes(minute=0))
    zone: str = "Europe/Berlin"
    quiet: str = NO_QUIET_HOURS
    quiet_keys: tuple[tuple[str, str], ...] = ()
    follows: dict[str, FollowState] = field(default_factory=dict)
    silent: dict[str, tuple[str, str] | None] = field(default_factory=dict)
    addresses: int = 0
    has_paused: bool = False
    has_moved: bool = False
    is_erased: bool = False
    erased: tuple[str, str] = ("", "")
    has_stopped: bool = False
    back: tuple[str, str] | None = None


class Town:
    """The readers and services, with one method for each action."""

    def __init__(self, life: Life) -> None:
        self.life = life
        self.wanted: dict[tuple[str, str], Wanted] = {}
        self.bans: list[Ban] = []
        self.people = {name: Person(name, f"{name}@example.com") for name in READERS}
        self._activities: list[tuple[str, str]] = []
        self._numbers = self._keys = 0
        self._said_at = life.clock()
        self._pauses: dict[str, Ban] = {}
        self._held: dict[str, Ban] = {}
        self._quiet: dict[str, Ban] = {}
        self._withdrawn: list[tuple[str, datetime]] = []
        self._lapsing: dict[str, Wanted] = {}
        self._stopped: Ban | None = None

    def do(self, deed: Deed) -> None:
        """Perform the action with the method of its name."""
        getattr(self, deed.what)(self.people[deed.who], deed)

    def begin(self, often: tuple[Frequency, Frequency]) -> None:
        """Register the readers in one list, and set their frequencies for comments and likes."""
        for person in self.people.values():
            person.often = dict(zip(("comment", "like"), often, strict=True))
        self.life.say(CommandList(tuple(map(self._profile, self.people.values()))))

    def kept_of_the_erased(self) -> Iterator[str]:
        """Return remaining data of readers whose erasure was acknowledged, once no message is
        pending.
        """
        there = self.life.onlooker
        for person in self.people.values():
            if person.is_erased and person.erased in self.life.acknowledged:
                found = {
                    "events": [key for key in there.events.rows if key[0] == person.user_id],
                    "marks": [key for key in there.events.marks if key[0] == person.user_id],
                    "schedules": there.schedules.of_user(person.user_id),
                    "follows": [*there.follows.followed_by(person.user_id)],
                    "profile": isinstance(there.subscribers.get(person.user_id), Subscriber),
                }
                for name in (name for name, what in found.items() if what):
                    yield f"erased: {name} of {person.user_id} are still there"

    def end(self, *, daily: bool, signs: bool, days: int) -> None:
        """Lift all stops, bring back every reader, and keep them active for this many days."""
        self._at(_END, self._let_go)
        for person in self.people.values():
            self._at(_END, partial(self._return_at_last, person))
            if daily:
                self._at(_END + timedelta(hours=9), partial(self._want_daily, person))
        for day in range(1, days if signs else 2, 3):
            for person in self.people.values():
                after = _END + timedelta(days=day, hours=-12)
                self._at(after, partial(self.sign_of_life, person, None))

    # Actions of services.

    def put(self, person: Person, deed: Deed) -> None:
        """Publish an event, on its own entity if `which` is above 1. Some events expire in a few
        hours.
        """
        name, category = self._name("e"), _CATEGORIES[deed.how % 3]
        entity = name if deed.which > 1 else "shared"
        now = self._instant()
        wanted = self._want(person, name, category, entity, now)
        wanted.things = (f"post#{entity}",)
        self._forgo_withdrawn(wanted)
        if any(self._is_silent(person, one) for one in (category, *map(_muted, wanted.things))):
            wanted.forgone.add("muted")
        event = an_event(
            name,
            user_id=person.user_id,
            category=category,
            entity_id=entity,
            actor=name,
            occurred_at=now,
        )
        if deed.what == "lapse":
            wanted.lapses_at = now + _UNTIL_IT_LAPSES[deed.how]
            self._lapsing[person.user_id] = wanted
        elif deed.which == 0 and deed.how > 2:
            wanted.lapses_at = now + (deed.how - 2) * _LAPSES_WITHIN
        self.life.say(CreateEvents((replace(event, expires_at=wanted.lapses_at),)))

    def lapse(self, person: Person, deed: Deed) -> None:
        """Publish an event that is repeatedly extended."""
        self.put(person, deed)

    def prolong(self, person: Person, deed: Deed) -> None:
        """Extend expiring events, whether they have expired or not."""
        if wanted := self._lapsing.get(person.user_id):
            wanted.lapses_at = self.life.clock() + _UNTIL_IT_LAPSES[deed.how]
            self._amend(person, wanted, expires_at=wanted.lapses_at)

    def again(self, person: Person, deed: Deed) -> None:
        """Publish an event again, unchanged."""
        if wanted := self._one(person, deed):
            event = self._stored(wanted)
            if event and not person.is_erased:
                self.life.say(CreateEvents((event,)))

    def amend(self, person: Person, deed: Deed) -> None:
        """Publish a new text of an event."""
        if wanted := self._one(person, deed):
            self._amend(person, wanted)

    def _amend(self, person: Person, wanted: Wanted, *, expires_at: datetime | None = None) -> None:
        event = self._stored(wanted)
        if event and not person.is_erased:
            now = self._instant()
            amended = replace(event, excerpt=f"amended {now}", amended_at=now)
            ban = self._ban("amended", _says_less(wanted, amended.excerpt))
            if expires_at:
                amended = replace(amended, expires_at=expires_at)
            self.life.say(CreateEvents((amended,)), ban.key)

    def see(self, person: Person, deed: Deed) -> None:
        """Report that a reader sees a thing now, or that they saw it an hour ago.

        No immediate email that is claimed afterwards shows the thing's events up to then. A digest
        whose worker has already read them may.
        """
        wanted = self._one(person, deed)
        if wanted is None or person.is_erased:
            return
        at = self._instant() - (_SEEN_AGO if deed.how == 1 else timedelta(0))
        seen = [
            one for one in self._of(person) if one.entity == wanted.entity and one.occurred_at <= at
        ]
        for one in seen:
            one.forgone.add("seen")
        ids = frozenset(one.event_id for one in seen)

        def shows(taken: Taken, run: Run) -> bool:
            is_theirs = taken.key.user_id == person.user_id
            return is_theirs and bool(ids & taken.shows) and not self.is_doubtful(taken, run)

        ban = self._ban("seen", lambda taken, run: taken.key.is_immediate and shows(taken, run))
        later = self._ban("seen in a digest", shows, after=_AT_A_BUTTON)
        later.key = ban.key
        self.life.say(MarkSeen(person.user_id, f"post#{wanted.entity}", at), ban.key)

    def retract(self, person: Person, deed: Deed) -> None:
        """Retract an event. Retractions for an erased reader are not stored, so the event may be
        sent after the reader's return.
        """
        if wanted := self._one(person, deed):
            wanted.forgone.add("retracted")
            key = None if person.erased[0] else self._ban("retracted", _shows(wanted)).key
            self.life.say(RetractEvent(person.user_id, wanted.event_id), key)

    def happen(self, _: Person, deed: Deed) -> None:
        """Publish an activity to all followers of one of two entities, or of an entity and its
        parent.
        """
        parent = "post#home" if deed.which > 2 else None
        category = _CATEGORIES[deed.how % 3]
        self._publish(self._name("a"), category, f"p{deed.which % 2}", parent)

    def mention(self, person: Person, deed: Deed) -> None:
        """Publish an event that is part of the latest activity, or of one that comes later."""
        name, category = self._name("m"), _CATEGORIES[deed.how % 3]
        if deed.how % 2 and self._activities:
            entity, activity = self._activities[-1]
        else:
            entity, activity = f"post#p{deed.which % 2}", self._name("a")
            then = self.life.clock() + _ACTIVITY_AFTER[deed.which % len(_ACTIVITY_AFTER)]
            publish = partial(self._publish, activity, category, entity.partition("#")[2], None)
            self.life.at(then, publish)
        now = self._instant()
        wanted = self._want(person, name, category, entity.partition("#")[2], now)
        wanted.things, wanted.activity = (entity,), activity
        self.life.happenings.add(Happening(person.user_id, activity, name))
        self._forgo_withdrawn(wanted)
        if any(self._is_silent(person, one) for one in (category, _muted(entity))):
            wanted.forgone.add("muted")
        event = an_event(
            activity,
            user_id=person.user_id,
            category=category,
            entity_id=wanted.entity,
            actor=name,
            occurred_at=now,
        )
        self._keys += 1
        wanted.key = ("stored", f"{name} {self._keys}")
        self.life.say(CreateEvents((replace(event, own_id=name),)), wanted.key)

    def _publish(self, name: str, category: str, entity: str, parent: str | None) -> None:
        self._activities.append((f"post#{entity}", name))
        now = self._instant()
        for person in self.people.values():
            states = [person.follows.get(f"post#{entity}"), person.follows.get(parent or "")]
            state = next((one for one in states if one and one.following), None)
            if state is None:
                continue
            wanted = self._want(person, name, category, entity, now)
            wanted.is_followed, wanted.activity = True, name
            wanted.things = (f"post#{entity}", *([parent] if parent else []))
            self._forgo_withdrawn(wanted)
            muted = map(_muted, wanted.things)
            silent = (f"post#{entity}", parent, category, *muted)
            if any(self._is_silent(person, one) for one in silent):
                wanted.forgone.add("muted")
        self.life.say(
            CreateActivity(
                an_activity(
                    name,
                    category=category,
                    entity_id=entity,
                    parent=parent,
                    actor=name,
                    occurred_at=now,
                )
            )
        )

    def retract_activity(self, _: Person, deed: Deed) -> None:
        if self._activities:
            entity, name = self._activities[deed.which % len(self._activities)]
            for person in self.people.values():
                if wanted := self.wanted.get((person.user_id, name)):
                    wanted.forgone.add("retracted")
            self.life.say(RetractActivity(entity, name))

    def often(self, person: Person, deed: Deed) -> None:
        """Set a reader's frequency for a category."""
        category, often = _CATEGORIES[deed.which % 2], _OFTEN[deed.how]
        if person.is_erased:
            return
        person.often[category] = often
        key = self._end_silence(person, category)
        if often is Frequency.NEVER:
            person.silent[category] = None
            muted = [one for one in self._of(person) if one.category == category]
            for one in muted:
                one.forgone.add("muted")
            direct = frozenset(one.event_id for one in muted if not one.is_followed)

            def shows(taken: Taken, run: Run) -> bool:
                is_theirs = taken.key.user_id == person.user_id
                return is_theirs and bool(direct & taken.shows) and not self.is_doubtful(taken, run)

            key = self._ban("muted", shows).key
        self._say_profile(person, key)

    def hour(self, person: Person, deed: Deed) -> None:
        if not person.is_erased:
            minute = (0, 10, 5)[deed.which % 3]
            person.times = replace(person.times, hour=6 + deed.how, minute=minute)
            self._say_profile(person)

    def zone(self, person: Person, deed: Deed) -> None:
        if not person.is_erased:
            person.zone = _ZONES[deed.how % len(_ZONES)]
            person.has_moved = True
            self._say_profile(person, self._ban_in_quiet_hours(person))

    def quiet(self, person: Person, deed: Deed) -> None:
        """Choose quiet hours, or none."""
        if not person.is_erased:
            person.quiet = _QUIET[deed.how]
            key = self._ban_in_quiet_hours(person)
            self._choose(person, Choice(quiet_hours=person.quiet), key)

    def _ban_in_quiet_hours(self, person: Person) -> tuple[str, str]:
        """Return the key of a new ban on immediate emails in the reader's quiet hours.

        The messages of hours and of zones may be processed in any order, so the ban needs the
        acknowledgement of all of them.
        """
        if before := self._quiet.pop(person.user_id, None):
            before.until = self.life.calls.count
        hours, zone = QuietHours.of(person.quiet), zone_of(person.zone)
        self._keys += 1
        key = ("quiet", f"{person.user_id} {self._keys}")
        person.quiet_keys = (*person.quiet_keys, key)
        needed = person.quiet_keys

        def hits(taken: Taken, run: Run) -> bool:
            at = self.time_of(taken.claim_call)
            if hours is None or max(map(self.acknowledged_at, needed)) >= at:
                return False
            is_quiet = all(hours.until(each, zone) for each in (at - _STALLED, at, at + _SKEW))
            is_theirs = taken.key.user_id == person.user_id and run.key.is_immediate
            return is_theirs and is_quiet and not self.is_doubtful(taken, run)

        ban = self._quiet[person.user_id] = self._ban("quiet", hits)
        ban.key = key
        return key

    def days(self, person: Person, deed: Deed) -> None:
        if not person.is_erased:
            custom = _CUSTOM[deed.how % len(_CUSTOM)]
            person.times = replace(person.times, weekly_on=1 + deed.which, custom_on=custom)
            self._say_profile(person)

    def erase(self, person: Person, _: Deed) -> None:
        """Erase a reader. Events that are not published again must not return."""
        if person.is_erased:
            return
        self._stop(person, "erased")
        for wanted in self._of(person):
            wanted.forgone.add("erased")
        self._lift_mutes(person)
        person.follows.clear()
        person.is_erased = True
        person.often = {"comment": Frequency.DAILY, "like": Frequency.DAILY}
        self._end_pause(person)
        person.quiet = NO_QUIET_HOURS
        if before := self._quiet.pop(person.user_id, None):
            before.until = self.life.calls.count
        ban = self._ban("erased", _is_to(person.user_id), user_id=person.user_id)
        person.erased = ban.key
        self.life.say(EraseSubscriber(person.user_id, self._instant()), ban.key)

    # Actions of readers.

    def follow(self, person: Person, deed: Deed) -> None:
        entity = ("post#p0", "post#p1", "post#home")[deed.which % 3]
        often = (None, None, *_OFTEN[1:])[deed.how]
        self._change_follow(person, entity, FollowState(True, often))

    def unfollow(self, person: Person, deed: Deed) -> None:
        entity = ("post#p0", "post#p1", "post#home")[deed.which % 3]
        if entity in person.follows:
            self._change_follow(person, entity, FollowState(False))

    def everything(self, person: Person, deed: Deed) -> None:
        """Set the reader's default frequency. Occasionally also change the hour."""
        if not person.is_erased:
            clock = (5 + deed.which, None) if deed.which > 3 else None
            self._choose(person, Choice(frequency=_OFTEN[deed.how % 4], clock=clock))

    def pause(self, person: Person, deed: Deed) -> None:
        if person.is_erased:
            return
        self._end_pause(person)
        person.has_paused = True
        until = (self.life.clock() + timedelta(days=2 + deed.which)).date()
        midnight = datetime.combine(until, time(), UTC) - _EARLIEST_MIDNIGHT

        def is_due_meanwhile(_: Taken, run: Run) -> bool:
            acknowledged = self.acknowledged_at(ban.key)
            is_digest = run.key.user_id == person.user_id and not run.key.is_immediate
            return is_digest and acknowledged + _SOON < run.due_at < min(midnight, ended())

        def ended() -> datetime:
            return midnight if ban.until is None else self.time_of(ban.until) - SLOT

        ban = self._pauses[person.user_id] = self._ban("paused", is_due_meanwhile)
        ban.after = timedelta(0)
        self._choose(person, Choice(paused_until=until), ban.key)

    def resume(self, person: Person, _: Deed) -> None:
        """End the pause today."""
        if not person.is_erased:
            self._end_pause(person)
            self._choose(person, Choice(paused_until=self.life.clock().date()))

    def leave(self, person: Person, _: Deed) -> None:
        if person.is_erased:
            return
        self._stop(person, "left")
        ban = self._ban("left", _is_to(person.user_id), user_id=person.user_id)
        ban.said_at = self.life.clock()

        def act() -> None:
            if self.life.world.unsubscribe(person.user_id, person.email):
                self._stop(person, "left")
                self.life.acknowledged.setdefault(ban.key, self.life.calls.count)

        self.life.persist("unsubscribe", act, (ban.what, f"{ban.key[1]} done"))

    def mute_thing(self, person: Person, deed: Deed) -> None:
        """Mute a thing by the link in an email. The reader presses again if the page fails."""
        if person.is_erased:
            return
        thing = _THINGS[deed.which % len(_THINGS)]
        self._forgo(person, thing)

        def shows(taken: Taken, run: Run) -> bool:
            shown = (self.wanted.get((taken.key.user_id, event)) for event in taken.shows)
            is_about = any(one is not None and thing in one.things for one in shown)
            is_theirs = taken.key.user_id == person.user_id
            return is_theirs and is_about and not self.is_doubtful(taken, run)

        ban = self._ban(_muted(thing), shows, user_id=person.user_id)

        def act() -> None:
            if self.life.world.mute(thing, person.user_id).reader:
                self._forgo(person, thing)
                self.life.acknowledged.setdefault(ban.key, self.life.calls.count)

        self.life.persist("preferences", act, (ban.what, f"{ban.key[1]} done"))

    def unmute_thing(self, person: Person, deed: Deed) -> None:
        """End a mute on the preference page, which may be outdated when the reader saves it."""
        if person.is_erased:
            return
        thing = _THINGS[deed.which % len(_THINGS)]
        shown = self.life.onlooker.muted(thing, person.user_id)
        self._lift(person, _muted(thing))
        key = self._end_silence(person, _muted(thing))

        def act() -> None:
            self.life.world.end_mutes(shown, person.user_id)

        self._keys += 1
        done = key or ("unmuted", f"{thing}{self._keys}")
        self.life.persist("preferences", act, done)

    def bounce(self, person: Person, _: Deed) -> None:
        if taken := self._last(person):
            report = a_bounce(run=taken.key, address=person.email, sent_at=taken.at)
            self._suppress(person, replace(report, attempt=taken.attempt))

    def complain(self, person: Person, _: Deed) -> None:
        if taken := self._last(person):
            bounce = a_bounce(run=taken.key, address=person.email, sent_at=taken.at)
            report = replace(a_complaint(run=taken.key), address=bounce.address, sent_at=taken.at)
            self._suppress(person, replace(report, attempt=taken.attempt))

    def come_back(self, person: Person, deed: Deed) -> None:
        """Bring back a reader who unsubscribed or was erased, or change a reader's address."""
        if deed.how > 2 or person.has_stopped:
            self._return(person)

    def consent(self, person: Person, deed: Deed) -> None:
        """State a consent, given now or some time ago, to the service that returns the reader.

        It lifts the unsubscriptions before it, and no other stop. If it is refused, it has lifted
        none, unless the reader had returned in the meantime.
        """
        if person.is_erased:
            return
        stated, email = self.life.clock() - _CONSENTED_AGO[deed.how], person.email
        self._keys += 1
        key = ("back", f"{person.user_id} consented {self._keys}")
        lifted: list[Ban] = []
        left_at = self._left_at(person)

        def act() -> None:
            for ban in self._open(person, "left"):
                if ban.said_at and ban.said_at < stated:
                    ban.until = self.life.calls.count
                    lifted.append(ban)
            if self.life.world.return_reader(stated, person.user_id, email).refusal:
                has_stayed = left_at is not None and self._left_at(person) == left_at
                for ban in lifted if has_stayed else ():
                    ban.until = None
            elif not self._open(person, "left", "suppressed", "erased"):
                person.back = key

        self.life.persist("preferences", act, key)

    def sign_of_life(self, person: Person, _: Deed | None) -> None:
        if not person.is_erased:
            self.life.say(MarkActive(person.user_id, self.life.clock()))

    def click(self, person: Person, _: Deed) -> None:
        if (taken := self._last(person)) and not person.is_erased:
            now = self.life.clock()
            report = DeliveryEvent(
                DeliveryEventType.CLICKED, taken.key, taken.attempt, "clicked", taken.at, now
            )
            self.life.queues["feedback"].put(report)

    # Actions of operators, and faults.

    def hold(self, _: Person, deed: Deed) -> None:
        category = _CATEGORIES[deed.which % 3]
        now = self.life.clock()
        if not self.life.holds.add(category_hold(category, "too many complaints", now)):
            return

        def hits(taken: Taken, run: Run) -> bool:
            shown = (self.wanted.get((taken.key.user_id, event)) for event in taken.shows)
            is_held = any(one is not None and one.category == category for one in shown)
            return is_held and not self.is_doubtful(taken, run)

        self._held[category] = self._ban("held", hits, after=_AT_A_BUTTON)
        self._acknowledge(self._held[category])
        self._within_hours(deed, partial(self._release, category))

    def withdraw(self, person: Person, deed: Deed) -> None:
        """Withdraw an entity, or the actor of an event. Workers may have a list of a minute ago."""
        what = _WITHDRAWN[deed.which % len(_WITHDRAWN)]
        if not what:
            wanted = self._one(person, replace(deed, which=deed.how))
            if wanted is None:
                return
            withdrawal = self.life.onlooker.withdraw(actor=wanted.event_id)
            what = wanted.event_id
        else:
            withdrawal = self.life.onlooker.withdraw(entity=what)
        at = withdrawal.at
        self._withdrawn.append((what, at))
        for one in self.wanted.values():
            self._forgo_withdrawn(one)

        def hits(taken: Taken, run: Run) -> bool:
            shown = (self.wanted.get((taken.key.user_id, event)) for event in taken.shows)
            is_withdrawn = any(one is not None and _is_withdrawn(one, what, at) for one in shown)
            return is_withdrawn and not self.is_doubtful(taken, run)

        self._acknowledge(self._ban("withdrawn", hits, after=_AT_A_BUTTON))

    def release(self, _: Person, deed: Deed) -> None:
        self._release(_CATEGORIES[deed.which % 3])

    def stop_stream(self, _: Person, deed: Deed) -> None:
        """Stop all digests."""
        if self._stopped is None:
            self.life.onlooker.rate_limiter.open_by_hand("to look at something", self.life.clock())
            self._stopped = self._ban(
                "stopped",
                lambda taken, _: not taken.key.is_immediate,
                after=_AT_A_BUTTON,
            )
            self._acknowledge(self._stopped)
            self._within_hours(deed, self._resume_stream)

    def resume_stream(self, _: Person, deed: Deed) -> None:
        self._resume_stream()

    def cancel(self, _: Person, deed: Deed) -> None:
        """Cancel one of the last two batches."""
        dues = sorted({slot for run in self.life.runs() if (slot := run.slot)})
        if not dues:
            return
        slot, world = dues[-1 - deed.which % min(2, len(dues))], self.life.world
        ban = self._ban("cancelled", lambda _, run: run.slot == slot)
        self.life.persist(
            "cancel",
            lambda: list(cancel_batch(slot, batches=world.batches, runs=world.runs)),
            ban.key,
        )

    def bury(self, _: Person, deed: Deed) -> None:
        """Move the queued messages of generate to the dead-letter queue."""
        bury_messages(self.life)

    def copy(self, _: Person, deed: Deed) -> None:
        """Deliver a message twice, as SQS may."""
        queue = list(self.life.queues.values())[deed.which]
        if queue.messages:
            queue.put(queue.messages[deed.how % len(queue.messages)].body)

    def lose(self, _: Person, deed: Deed) -> None:
        lose_messages(self.life)

    # The periods of bans.

    def acknowledged_at(self, key: tuple[str, str]) -> datetime:
        """Return the call number of the acknowledgement, or never if it has not occurred."""
        count = self.life.acknowledged.get(key)
        return (
            datetime.max.replace(tzinfo=UTC) - _AT_A_BUTTON
            if count is None
            else self.time_of(count)
        )

    def time_of(self, count: int) -> datetime:
        """Return the time at which this many calls had been made."""
        story = self.life.calls.story
        return story[min(count, len(story) - 1)][0]

    def is_doubtful(self, taken: Taken, run: Run) -> bool:
        """Return True if the events may already have been sent, so that they stay with the run or
        its successor.
        """
        return taken.attempt > 1 or any(
            other.uncertain
            for other in self.life.runs()
            if (other.key.user_id, other.key.schedule) == (run.key.user_id, run.key.schedule)
            and other.key.sequence <= run.key.sequence
        )

    # Parts of actions.

    def _at(self, after: timedelta, act: Callable[[], object]) -> None:
        self.life.at(FIRST_DUE + after, act)

    def _within_hours(self, deed: Deed, act: Callable[[], object]) -> None:
        """Run the act within six hours, because each hour of delay queues hundreds of messages
        again.
        """
        self.life.at(self.life.clock() + timedelta(hours=1 + 5 * deed.how), act)

    def _name(self, kind: str) -> str:
        self._numbers += 1
        return f"{kind}{self._numbers}"

    def _of(self, person: Person) -> list[Wanted]:
        return [one for one in self.wanted.values() if one.user_id == person.user_id]

    def _one(self, person: Person, deed: Deed) -> Wanted | None:
        direct = [one for one in self._of(person) if not one.is_followed]
        return direct[-1 - deed.which % len(direct)] if direct else None

    def _want(self, person: Person, name: str, category: str, entity: str, now: datetime) -> Wanted:
        wanted = Wanted(person.user_id, name, category, entity, now)
        if person.has_stopped and person.back in self.life.acknowledged:
            person.has_stopped, person.back = False, None
        if person.has_stopped:
            wanted.forgone.add("came while the reader got no email")
        self.wanted[person.user_id, name] = wanted
        self.life.events.append((person.user_id, name))
        return wanted

    def row_of(self, wanted: Wanted) -> str:
        """Return the id of the row with an event, which may be that of its activity."""
        row = self.life.onlooker.events.rows.get((wanted.user_id, wanted.event_id))
        return row.part_of if isinstance(row, Retracted) and row.is_pointer else wanted.event_id

    def _stored(self, wanted: Wanted) -> Event | None:
        row = self.life.onlooker.events.get(wanted.user_id, self.row_of(wanted))
        bodies = row.bodies if isinstance(row, StoredEvent) else ()
        return next((one for one in bodies if wanted.event_id == (one.own_id or one.id)), None)

    def _last(self, person: Person) -> Taken | None:
        taken = [one for one in self.life.provider.taken if one.key.user_id == person.user_id]
        return taken[-1] if taken else None

    def _ban(
        self, what: str, hits: Hits, *, after: timedelta | None = None, user_id: str = ""
    ) -> Ban:
        ban = Ban(what, (what, str(len(self.bans))), hits, after, user_id)
        self.bans.append(ban)
        return ban

    def _acknowledge(self, ban: Ban) -> None:
        self.life.acknowledged[ban.key] = self.life.calls.count

    def _left_at(self, person: Person) -> datetime | None:
        """Return the time of the reader's stored unsubscription. A return removes it."""
        reader = self.life.onlooker.subscribers.get(person.user_id)
        return reader.left_at if isinstance(reader, Subscriber) else None

    def _open(self, person: Person, *kinds: str) -> list[Ban]:
        return [
            ban
            for ban in self.bans
            if ban.what in kinds and ban.until is None and ban.user_id == person.user_id
        ]

    def _forgo(self, person: Person, thing: str) -> None:
        """Record that the events about a muted thing need not be in an email."""
        person.silent[_muted(thing)] = None
        for wanted in self._of(person):
            if thing in wanted.things:
                wanted.forgone.add("muted")

    def _forgo_withdrawn(self, wanted: Wanted) -> None:
        """Record that a withdrawn event need not be in an email."""
        if any(_is_withdrawn(wanted, what, at) for what, at in self._withdrawn):
            wanted.forgone.add("withdrawn")

    def _lift_mutes(self, person: Person) -> None:
        self._lift(person, *map(_muted, _THINGS))

    def _lift(self, person: Person, *kinds: str) -> None:
        for ban in self._open(person, *kinds):
            ban.until = self.life.calls.count

    def _stop(self, person: Person, why: str) -> None:
        """Record that a reader is stopped. Events that wait for them may be dropped."""
        person.has_stopped, person.back = True, None
        for wanted in self._of(person):
            wanted.forgone.add(why)

    def _suppress(self, person: Person, report: DeliveryEvent) -> None:
        if person.is_erased:
            return
        self._stop(person, "suppressed")
        ban, email = (
            self._ban("suppressed", _is_to(person.user_id), user_id=person.user_id),
            person.email,
        )

        def act() -> None:
            self.life.world.feedback(report)
            reader = self.life.onlooker.subscribers.get(person.user_id)
            if isinstance(reader, Subscriber) and reader.email == email:
                self._stop(person, "suppressed")
                self.life.acknowledged.setdefault(ban.key, self.life.calls.count)

        self.life.persist("feedback", act, (ban.what, f"{ban.key[1]} done"))

    def _return(self, person: Person) -> None:
        """Bring a reader back with another address, by their own action."""
        self._lift(person, "left", "suppressed", "erased")
        person.is_erased = False
        person.addresses += 1
        person.email = f"{person.user_id}{person.addresses}@example.com"
        registered = ("registered", f"{person.user_id}{person.addresses}")
        back = ("back", f"{person.user_id}{person.addresses}")
        if person.has_stopped:
            person.back = back
        email = person.email
        self._say_profile(person, registered)

        def act() -> None:
            reader = self.life.onlooker.subscribers.get(person.user_id)
            if registered not in self.life.acknowledged or not isinstance(reader, Subscriber):
                if person.email == email and not person.is_erased:
                    raise NotYet("the profile is on its way")
            elif reader.status is SubscriberStatus.UNSUBSCRIBED:
                self._lift(person, "left")
                shown = mark_of_leave(reader)
                self.life.world.resubscribe(
                    person.user_id,
                    person.email,
                    is_meant=lambda now: mark_of_leave(now) == shown,
                )

        self.life.persist("preferences", act, back)

    def _return_at_last(self, person: Person) -> None:
        """Bring a reader back at the end. No other action follows, because it
        might hide a fault.
        """
        if person.has_stopped:
            self._return(person)

    def _change_follow(self, person: Person, entity: str, state: FollowState) -> None:
        if person.is_erased:
            return
        person.follows[entity] = state
        key = self._end_silence(person, entity)
        if not state.following or state.frequency is Frequency.NEVER:
            person.silent[entity] = None
            ends = [one for one in self._of(person) if one.is_followed]
            for one in ends:
                one.forgone.add("unfollowed")
        self.life.say(ChangeFollow(person.user_id, entity, state, self._instant()), key)

    def _is_silent(self, person: Person, what: str | None) -> bool:
        """Return True if the category or entity was muted and no later change was acknowledged."""
        if what is None or what not in person.silent:
            return False
        return person.silent[what] not in self.life.acknowledged

    def _end_silence(self, person: Person, what: str) -> tuple[str, str] | None:
        """Record the acknowledgement that ends a mute, if there is one."""
        if what not in person.silent:
            return None
        self._keys += 1
        key = person.silent[what] = ("heard", f"{what}{self._keys}")
        return key

    def _choose(self, person: Person, choice: Choice, done: tuple[str, str] | None = None) -> None:
        self.life.say(ChoosePreferences(person.user_id, choice, self._instant()), done)

    def _say_profile(self, person: Person, done: tuple[str, str] | None = None) -> None:
        self.life.say(self._profile(person), done)

    def _profile(self, person: Person) -> ChangeSubscriber:
        subscriber = a_subscriber(
            person.user_id,
            changed_at=self._instant(),
            email=person.email,
            times=person.times,
            **person.often,
        )
        return ChangeSubscriber(replace(subscriber, time_zone=person.zone))

    def _instant(self) -> datetime:
        """Return the current time, but later than any earlier action. Of two equal times either may
        win.
        """
        self._said_at = max(self.life.clock(), self._said_at + timedelta(microseconds=1))
        return self._said_at

    def _end_pause(self, person: Person) -> None:
        if ban := self._pauses.pop(person.user_id, None):
            ban.until = self.life.calls.count

    def _want_daily(self, person: Person) -> None:
        if person.is_erased:
            return
        person.often = dict.fromkeys(person.often, Frequency.DAILY)
        self._say_profile(person)
        self._choose(person, Choice(frequency=Frequency.DAILY))

    def _release(self, category: str) -> None:
        self.life.holds.release(category)
        if ban := self._held.pop(category, None):
            ban.until = self.life.calls.count

    def _resume_stream(self) -> None:
        self.life.onlooker.rate_limiter.close_by_hand()
        if self._stopped:
            self._stopped.until, self._stopped = self.life.calls.count, None

    def _let_go(self) -> None:
        """End all holds, stops and pauses."""
        for category in _CATEGORIES:
            self._release(category)
        self._resume_stream()
        self.life.onlooker.immediate_rate_limiter.close_by_hand()
        for person in self.people.values():
            self._end_pause(person)
            if person.has_paused and not person.is_erased:
                self._choose(person, Choice(paused_until=self.life.clock().date()))


def _is_withdrawn(wanted: Wanted, what: str, at: datetime) -> bool:
    """Return True if a withdrawal of an entity or of an actor applies to an event."""
    return wanted.occurred_at <= at and what in (*wanted.things, wanted.event_id)


def _muted(thing: str) -> str:
    """Return the name of the mute of a thing, which differs from that of a follow."""
    return f"muted {thing}"


def _shows(wanted: Wanted) -> Hits:
    return lambda taken, _: taken.key.user_id == wanted.user_id and wanted.event_id in taken.shows


def _says_less(wanted: Wanted, text: str) -> Hits:
    """Return a predicate for emails that show an older text of the event."""
    return lambda taken, _: (
        taken.key.user_id == wanted.user_id and taken.says.get(wanted.event_id, text) < text
    )


def _is_to(user_id: str) -> Hits:
    return lambda taken, _: taken.key.user_id == user_id
