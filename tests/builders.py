"""Values for tests: valid by default, with the fields that a test changes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from gazette.domain.delivery.compose import Digest
from gazette.domain.delivery.run import Run
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType, Fault
from gazette.domain.identity import address_hash
from gazette.domain.links import LinkToken
from gazette.domain.model import (
    DAILY,
    Actor,
    Edition,
    Entity,
    Event,
    Mail,
    RunKey,
    Schedule,
    StoredEvent,
    Window,
)
from gazette.domain.ports.rendering import BlockControls, Links, UpdateList
from gazette.domain.scheduling.calendar import DigestTimes, Recurrence
from gazette.domain.subscribers.following import Activity, Follow, FollowState
from gazette.domain.subscribers.frequency import Frequency, frequencies
from gazette.domain.subscribers.subscriber import Subscriber

NOW = datetime(2026, 11, 22, 7, 3, tzinfo=UTC)
RETENTION = timedelta(days=35)
"""Of events, at least; our fakes have it built in."""

SUPPRESSION_KEY = b"s" * 64
"""Of the hashes in the tables."""

KEY = RunKey("ann", DAILY, 1)
LINKS = Links(
    unsubscribe="https://mail.example.com/unsubscribe/k1.YW5u.abc_-d",
    preferences="https://mail.example.com/preferences/k1.YW5u.abc_-e",
    email="https://mail.example.com/email/k1.YW5uLWRhaWx5LTE.abc_-f",
    updates="https://mail.example.com/updates/k1.YW5uLWRhaWx5LTE.abc_-f",
)


@dataclass
class SettableClock:
    """A clock that tests move."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now

    def pass_time(self, **units: float) -> None:
        """Move on by a timedelta."""
        self.now += timedelta(**units)

    def sleep(self, wait: timedelta) -> None:
        """Move the clock on, instead of sleeping."""
        self.now += wait


def a_bounce(
    fault: Fault = Fault.HARD,
    message_id: str = "m1",
    *,
    run: RunKey | None = KEY,
    address: str = "ann@example.com",
    sent_at: datetime = NOW,
) -> DeliveryEvent:
    """An email to Ann bounced."""
    hashed = address_hash(address)
    return DeliveryEvent(
        DeliveryEventType.BOUNCED,
        run,
        1,
        message_id,
        sent_at,
        fault=fault,
        address=hashed,
        cause="Type Subtype",
    )


def a_complaint(message_id: str = "m1", *, run: RunKey | None = KEY) -> DeliveryEvent:
    """Ann reports an email as spam."""
    hashed = address_hash("ann@example.com")
    return DeliveryEvent(
        DeliveryEventType.COMPLAINED,
        run,
        1,
        message_id,
        NOW,
        fault=Fault.COMPLAINT,
        address=hashed,
        cause="abuse",
    )


def an_event(
    event_id: str = "e1",
    *,
    user_id: str = "ann",
    category: str = "comment",
    entity_id: str = "post1",
    actor: str = "Bo",
    occurred_at: datetime = NOW,
    excerpt: str = "",
    amended_at: datetime | None = None,
    via: tuple[str, ...] = (),
    source: str = "",
    score: float | None = None,
) -> Event:
    """A comment on a post."""
    return Event(
        user_id=user_id,
        id=event_id,
        category=category,
        entity=Entity(
            "post", entity_id, f"Title of {entity_id}", f"https://example.com/{entity_id}"
        ),
        actor=Actor(actor.lower(), actor),
        occurred_at=occurred_at,
        excerpt=excerpt,
        amended_at=amended_at,
        via=via,
        source=source,
        score=score,
    )


def a_stored_event(
    event: Event | None = None, schedule: str = DAILY, stored_at: datetime = NOW
) -> StoredEvent:
    """An event as it is stored, under a schedule with the shortest lifetime of events."""
    return StoredEvent(event or an_event(), schedule, stored_at, stored_at + RETENTION)


def an_activity(
    activity_id: str = "a1",
    *,
    category: str = "comment",
    entity_id: str = "post1",
    parent: str | None = None,
    actor: str = "Bo",
    occurred_at: datetime = NOW,
    excerpt: str = "",
    amended_at: datetime | None = None,
) -> Activity:
    """A comment on a post, for its followers."""
    event = an_event(category=category, entity_id=entity_id, actor=actor)
    return Activity(
        id=activity_id,
        category=event.category,
        entity=event.entity,
        parent=parent,
        actor=event.actor,
        occurred_at=occurred_at,
        excerpt=excerpt,
        amended_at=amended_at,
    )


def a_follow(
    user_id: str = "ann",
    *,
    entity: str = "post#post1",
    frequency: Frequency | None = None,
    at: datetime = NOW - timedelta(days=30),
) -> Follow:
    """A follow that began a month ago."""
    return Follow(entity, user_id, ((at, FollowState(True, frequency)),))


def a_subscriber(
    user_id: str = "ann",
    *,
    changed_at: datetime = NOW,
    email: str = "ann@example.com",
    times: DigestTimes | None = None,
    **chosen: Frequency,
) -> Subscriber:
    """An active reader in Berlin, with the frequencies that were chosen by category."""
    return Subscriber(
        user_id=user_id,
        email=email,
        name="Ann",
        locale="en",
        time_zone="Europe/Berlin",
        changed_at=changed_at,
        times=times or DigestTimes(minute=0),
        choices=((changed_at, frequencies(chosen)),),
    )


def a_link(run: RunKey = KEY, reader: Subscriber | None = None) -> LinkToken:
    """What the links of the email of a run say; by default it went to `a_subscriber`."""
    return LinkToken.of(run, NOW, reader or a_subscriber(run.user_id))


def an_update_list(digest: Digest, lines: Sequence[Sequence[str]], **given: Any) -> UpdateList:
    """The list of all updates of a digest, which readers may share."""
    number = len(digest.blocks)
    shared = UpdateList(
        digest=digest,
        lines=lines,
        buttons=["Open"] * number,
        controls=[BlockControls()] * number,
        due_at=NOW,
        start=0,
        total=number,
        per_page=100,
        has_parts=digest.has_parts,
    )
    return replace(shared, **given)


def a_schedule(
    user_id: str = "ann",
    *,
    next_due_at: datetime = datetime(2026, 11, 22, 7, 0, tzinfo=UTC),
    sequence: int = 1,
    revision: int = 1,
    last_due_at: datetime | None = None,
) -> Schedule:
    """Daily at eight in Berlin."""
    return Schedule(
        user_id=user_id,
        name=DAILY,
        recurrence=Recurrence(8, 0, "Europe/Berlin"),
        next_due_at=next_due_at,
        sequence=sequence,
        revision=revision,
        changed_at=NOW,
        last_due_at=last_due_at,
    )


def a_run(sequence: int = 1, *, user_id: str = "ann") -> Run:
    """A pending run."""
    return Run(
        key=RunKey(user_id, DAILY, sequence),
        due_at=NOW,
        check_at=NOW + timedelta(hours=1),
    )


def a_claimed_run(sequence: int = 1, **given: Any) -> Run:
    """A run with one attempt; `given` is its outcome."""
    made: dict[str, Any] = {"attempt": 1, "window": a_window(), **given}
    return replace(a_run(sequence), **made)


def a_window(*, hours: int = 24, until: datetime = NOW) -> Window:
    """The `hours` before `until`."""
    return Window(until - timedelta(hours=hours), until)


def a_mail(to: str = "ann@example.com") -> Mail:
    """A small digest with the headers and tags of a real one."""
    return Mail(
        to=to,
        edition=Edition("3 new comments from Bo", "<p>Grüße</p>", "Grüße\n.\nfrom Bo\n"),
        headers=(
            ("List-Unsubscribe", "<https://example.com/unsubscribe/token>"),
            ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
            ("List-Id", "<digest.example.com>"),
            ("Auto-Submitted", "auto-generated"),
        ),
        tags=(("run", "ann-daily-1"), ("attempt", "1")),
    )
