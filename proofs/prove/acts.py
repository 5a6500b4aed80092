"""Actions of services, readers, operators and SQS in a scenario."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from gazette.domain.commands import (
    ChangeFollow,
    ChangeSubscriber,
    CommandList,
    CreateActivity,
    CreateEvents,
    EraseSubscriber,
    MarkSeen,
    RetractEvent,
)
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.links import Scope, ScopeKind
from gazette.domain.model import DAILY, RunKey, StoredEvent
from gazette.domain.ports.rendering import VersionTemplates
from gazette.domain.scheduling.calendar import DigestTimes, slot_of
from gazette.domain.stored import as_stored
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.preference_form import shown_fields, written_fields
from gazette.domain.templates.versions import DEPLOYED, InForce, Version

from gazette_support.steps.batches import cancel_batch
from proofs.prove.land import Register
from proofs.prove.life import FIRST_DUE, Life
from proofs.prove.strikes import How, Worker
from tests.builders import a_complaint, a_link, a_subscriber, an_activity, an_event
from tests.fake_stores import FakeRateLimiter
from tests.world import Watched

Act = Callable[[Life], None]
"""An action in a life, repeated until it is acknowledged."""

Overtake = Callable[[Life, Worker], None]
"""An action that interrupts a worker's calls."""

CANCELLED, LEFT, RETRACTED, MUTED, ERASED = "cancelled", "left", "retracted", "muted", "erased"
SEEN, WITHDRAWN, UNWANTED = "seen", "withdrawn", "unwanted"
"""Names of acknowledged actions, which apply to every later claim."""

STORED, UNFOLLOWED = "stored", "unfollowed"
"""Names of acknowledged actions that forbid no email."""


def register(user_id: str, frequency: Frequency) -> Act:
    """Register a reader with this frequency for comments and daily digests for all other
    categories.
    """

    def act(life: Life) -> None:
        subscriber = a_subscriber(
            user_id,
            changed_at=life.clock(),
            email=f"{user_id}@example.com",
            comment=frequency,
        )
        life.say(ChangeSubscriber(subscriber))

    return act


def import_all(frequency: Frequency, *user_ids: str, follows: str) -> Act:
    """Publish one list with the profiles of readers, and one list with their follows of a post."""

    def act(life: Life) -> None:
        now = life.clock()
        profiles = [
            ChangeSubscriber(
                a_subscriber(each, changed_at=now, email=f"{each}@example.com", comment=frequency)
            )
            for each in user_ids
        ]
        state = FollowState(True, None)
        starts = [ChangeFollow(each, f"post#{follows}", state, now) for each in user_ids]
        life.say(CommandList(tuple(profiles)))
        life.say(CommandList(tuple(starts)))

    return act


def put(
    event_id: str,
    user_id: str = "ann",
    *,
    category: str = "comment",
    on: str | None = None,
    in_vain: bool = False,
    lapses_after: timedelta | None = None,
    late: timedelta = timedelta(0),
) -> Act:
    """Publish an event on entity `on`, or on its own entity; the actor has the event's name.

    `in_vain`: the reader may be stopped by then, so the event is not expected in an email.
    `lapses_after`: time after which no email may show the event. `late`: the age of the event.
    """

    def act(life: Life) -> None:
        if not in_vain:
            life.events.append((user_id, event_id))
        event = an_event(
            event_id,
            user_id=user_id,
            category=category,
            entity_id=on or event_id,
            actor=event_id,
            occurred_at=life.clock() - late,
        )
        if lapses_after:
            event = replace(event, expires_at=life.clock() + lapses_after)
        life.say(CreateEvents((event,)))

    return act


def give_time(event_id: str, lapses_after: timedelta, user_id: str = "ann") -> Act:
    """Update the event, as its producer would, to expire this long after now."""

    def act(life: Life) -> None:
        found, now = life.onlooker.events.get(user_id, event_id), life.clock()
        if isinstance(found, StoredEvent):
            more = replace(found.event, amended_at=now, expires_at=now + lapses_after)
            life.say(CreateEvents((more,)))

    return act


def put_again(event_id: str, user_id: str = "ann") -> Act:
    """Publish a stored event again, unchanged."""

    def act(life: Life) -> None:
        found = life.onlooker.events.get(user_id, event_id)
        if isinstance(found, StoredEvent):
            life.say(CreateEvents((found.event,)))

    return act


def change_template(*cannot_show: str) -> Act:
    """Make the renderer fail for these events and render all others."""

    def act(life: Life) -> None:
        renderer = life.world.renderer
        assert isinstance(renderer, Register)
        renderer.cannot_show = set(cannot_show)

    return act


def push_version(number: int) -> Act:
    """Make this version of the templates current for all readers; 0 is the deployed version."""

    def act(life: Life) -> None:
        version = Version(number, f"{number:064x}") if number else DEPLOYED
        if number:
            renderer = Register(mark=f" v{number}")
            life.world.pushed[number] = VersionTemplates(number, renderer)
        life.world.template_versions.current = InForce(version)

    return act


def follow(entity_id: str, user_id: str = "ann") -> Act:
    """Make the reader follow an entity."""

    def act(life: Life) -> None:
        life.say(ChangeFollow(user_id, f"post#{entity_id}", FollowState(True, None), life.clock()))

    return act


def happen(entity_id: str, *user_ids: str, parent: str | None = None) -> Act:
    """Publish an activity on an entity, which creates an event with its id for each follower.

    Followers of the entity `parent` also get it.
    """

    def act(life: Life) -> None:
        life.events += [(user_id, entity_id) for user_id in user_ids]
        activity = an_activity(
            entity_id,
            entity_id=entity_id,
            parent=parent and f"post#{parent}",
            actor=entity_id,
            occurred_at=life.clock(),
        )
        life.say(CreateActivity(activity))

    return act


def choose(frequency: Frequency, user_id: str = "ann") -> Act:
    """Set the reader's frequency for comments."""

    def act(life: Life) -> None:
        subscriber = a_subscriber(
            user_id,
            changed_at=life.clock(),
            email=f"{user_id}@example.com",
            comment=frequency,
        )
        done = (MUTED, user_id) if frequency is Frequency.NEVER else None
        life.say(ChangeSubscriber(subscriber), done)

    return act


def mute_behind_an_open_page(life: Life) -> None:
    """Open the page, turn off comments by email, then save the page's digest hour."""
    world = life.world
    overview = world.read_overview()
    if overview is None:
        raise LookupError("The page is of a reader who is there.")
    shown = shown_fields(overview, ("comment", "like"))
    form = {**shown, "hour": ("11",), "was": (written_fields(shown),), "act": ("save",)}
    link = replace(a_link(), scope=Scope(ScopeKind.CATEGORY, ("comment",)))

    def turn_off() -> None:
        world.leave_by(link)
        later = life.clock() + timedelta(minutes=5)
        life.at(later, lambda: life.persist("page", save, (MUTED, "ann")))

    def save() -> None:
        world.submit(a_link(), form)

    life.persist("unsubscribe", turn_off, (MUTED, "ann"))


def move_hour(hour: int, user_id: str = "ann") -> Act:
    """Move the reader's digests to another hour."""

    def act(life: Life) -> None:
        subscriber = a_subscriber(
            user_id,
            changed_at=life.clock(),
            email=f"{user_id}@example.com",
            times=DigestTimes(hour=hour, minute=0),
            comment=Frequency.DAILY,
        )
        life.say(ChangeSubscriber(subscriber))

    return act


def retract(event_id: str, user_id: str = "ann") -> Act:
    """Retract an event, as its service would."""

    def act(life: Life) -> None:
        life.say(RetractEvent(user_id, event_id), (RETRACTED, event_id))

    return act


def see(event_id: str, user_id: str = "ann") -> Act:
    """Report that the reader has seen the entity of an event of the same name."""

    def act(life: Life) -> None:
        life.say(MarkSeen(user_id, f"post#{event_id}", life.clock()), (SEEN, event_id))

    return act


def withdraw(*, actor: str = "", on: str = "") -> Act:
    """Withdraw an actor, or the entity of an event of this name, as an operator would."""
    whom = actor or f"post#{on}"

    def act(life: Life) -> None:
        def add() -> None:
            life.withdrawn[whom] = life.world.withdraw(actor=actor, entity="" if actor else whom)

        life.persist("withdraw", add, (WITHDRAWN, whom))

    return act


def erase(life: Life) -> None:
    """Erase the reader."""
    life.say(EraseSubscriber("ann", life.clock()), (ERASED, "ann"))


def leave(life: Life) -> None:
    """Unsubscribe the reader with one click."""
    world = life.world
    life.persist(
        "unsubscribe",
        lambda: world.leave(a_link()),
        (LEFT, "ann"),
    )


def share_address(user_id: str = "bo", of: str = "ann") -> Act:
    """Give the reader the address of another reader, for digests."""

    def act(life: Life) -> None:
        subscriber = a_subscriber(user_id, changed_at=life.clock(), email=f"{of}@example.com")
        life.say(ChangeSubscriber(subscriber))

    return act


def complain(life: Life) -> None:
    """Report a complaint about an old email to an address of two readers, which stops both."""
    world = life.world

    def act() -> None:
        world.feedback(a_complaint(run=RunKey("ann", "weekly", 1)))
        life.acknowledged.setdefault((LEFT, "bo"), life.calls.count)

    life.persist("complain", act, (LEFT, "ann"))


def event_about_first(event: DeliveryEvent) -> Act:
    """Report a bounce or complaint about the first email to Ann, once there is one.

    The event names no recipient if no email was sent; it then fails until an operator purges it.
    """

    def act(life: Life) -> None:
        first = next((each for each in life.provider.taken if each.key.user_id == "ann"), None)
        if first is None:
            if life.clock() < FIRST_DUE + timedelta(days=life.scenario.days):
                life.at(life.clock() + timedelta(hours=1), lambda: act(life))
            return
        about = replace(event, run=first.key, attempt=first.attempt, sent_at=first.at)
        life.put_event(about, (LEFT, "ann") if about.fault else None)
        if about.flaw:
            life.at(life.clock() + timedelta(hours=12), life.queues["feedback"].purge)

    return act


def event_of_unknown_attempt(sequence: int, attempt: int = 1) -> Act:
    """Report on an email with these ids that was sent before the tables were restored."""

    def act(life: Life) -> None:
        key = RunKey("ann", DAILY, sequence)
        sent_at = life.clock() - timedelta(days=30)
        delivery_event = DeliveryEvent(
            DeliveryEventType.CLICKED, key, attempt, "stray", sent_at, life.clock()
        )
        life.put_event(delivery_event)

    return act


def cancel(life: Life) -> None:
    """Cancel the batch of the first slot, as an operator would."""
    world, slot = life.world, slot_of(FIRST_DUE)

    def act() -> list[Run]:
        return list(cancel_batch(slot, batches=world.batches, runs=world.runs))

    life.persist("cancel", act, (CANCELLED, slot.isoformat()))


def hold_category(category: str) -> Act:
    """Hold a category because of complaints; every worker sees the hold at once."""

    def act(life: Life) -> None:
        life.holds.add(category_hold(category, "too many complaints", life.clock()))

    return act


def release(category: str) -> Act:
    """Release a category, as an operator would."""

    def act(life: Life) -> None:
        life.holds.release(category)

    return act


def cap(daily: int) -> Act:
    """Set a daily cap that starts at this number of emails and doubles the next day."""

    def act(life: Life) -> None:
        plan = PacePlan(rate=500, warmup_from=life.clock().date(), warmup_daily=daily)
        rate_limiter = FakeRateLimiter(plan)
        life.world.rate_limiter = Watched("rate_limiter", rate_limiter, life.calls.around)  # type: ignore[assignment]

    return act


def lose_messages(life: Life) -> None:
    """Delete the queued messages of generate, as after a purge or a worker that deleted them and
    died.
    """
    life.queues["generate"].messages.clear()


def bury_messages(life: Life) -> None:
    """Move the queued messages of generate to the dead-letter queue, as after five crashes."""
    queue = life.queues["generate"]
    while queue.messages:
        queue.bury(queue.messages.pop())


def old_message(sequence: int = 1) -> Act:
    """Redrive a message from the dead-letter queue."""
    return lambda life: life.queues["generate"].put(RunKey("ann", DAILY, sequence))


def copy(life: Life, worker: Worker) -> None:
    """Deliver the same message to another worker."""
    life.work_copy(worker)


def copy_that_dies(call: str, after: timedelta) -> Overtake:
    """Deliver the message to another worker after a delay; the worker dies after the named call."""

    def overtake(life: Life, worker: Worker) -> None:
        def strike(other: Worker, name: str) -> How | None:
            return How.KILLED_AFTER if other is not worker and name == call else None

        life.clock.sleep(after)
        life.calls.aim = strike
        life.work_copy(worker)
        life.calls.aim = lambda *_: None

    return overtake


def roll_back(user_id: str) -> Act:
    """Store runs with an unknown reason and an unknown status, as a newer version might."""

    def act(life: Life) -> None:
        now = life.clock()
        for name, status in ((DAILY, Status.RETRYING), ("weekly", as_stored(Status, "parked"))):
            key = RunKey(user_id, name, 1)
            run = Run(key, due_at=now, check_at=now, status=status)
            life.world.runs.create(replace(run, reason=as_stored(Reason, "postponed")))

    return act


def during(*acts: Act) -> Overtake:
    """Run the act and process all messages that it queues for ingest."""

    def overtake(life: Life, _: Worker) -> None:
        for act in acts:
            act(life)
        life.work_off("ingest")

    return overtake


def at(act: Act, **after: float) -> tuple[timedelta, Act]:
    """Return the time that is this long after the first digest is due."""
    return timedelta(**after), act
