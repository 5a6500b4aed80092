"""The oracle of `make fuzz`: what it lets pass for a reason, it does not let pass without one."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from gazette.bootstrap.ingest import build
from gazette.steps.routing.route import Routed

from proofs.fuzz.run import Fuzz, Tally
from tests.builders import SettableClock
from tests.fake_stores import FakeEvents
from tests.functions.messages import ago, envelope, event, follow, happening, profile
from tests.world import World

Batch = list[str]

MUTE = {"frequencies": {"comment": "never"}}
LIKE = {"category": "like"}
AMENDED = {"amended_at": ago(minutes=5)}


class Forgetful(World):
    """Loses the events and the choices of an invocation once they are stored."""

    def ingest_all(self, bodies: Sequence[str], decode: Callable[[str], Any]) -> list[Routed]:
        done = super().ingest_all(bodies, decode)
        self.events.rows.clear()
        self.subscribers.waiting.clear()
        return done


@pytest.fixture(autouse=True)
def _handler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("functions.ingest.handler.build", build)


def created(**given: Any) -> str:
    return envelope("event.created", event(1) | given)


def activity(**given: Any) -> str:
    return envelope("activity.created", happening(1) | given)


def followed(**given: Any) -> str:
    return envelope("follow.created", follow(**given))


def unfollowed(**given: Any) -> str:
    return envelope("follow.deleted", follow(**given))


def changed(**given: Any) -> str:
    return envelope("subscriber.changed", profile(**given))


def chosen(frequency: str, **since: float) -> str:
    detail = {"user_id": "ann", "chosen_at": ago(**since), "frequency": frequency}
    return envelope("preferences.chosen", detail)


def lost_in(kind: type[World], *batches: Batch) -> int:
    """How many messages of the last batch the oracle takes for lost."""
    world, tally = kind(SettableClock(datetime.now(UTC))), Tally()
    for batch in batches:
        tally = Tally()
        Fuzz(world, tally).put(*batch)
    assert not tally.raised
    return tally.lost


ACCOUNTED_FOR: dict[str, list[Batch]] = {
    "an activity that is not followed takes the place of the event with its id": [
        [created(), unfollowed(), activity(**AMENDED)],
    ],
    "an activity that was stored before does so when a late follow brings it": [
        [activity(**AMENDED)],
        [created(), unfollowed(changed_at=ago(minutes=90))],
    ],
    "an outdated version brings the activity to followers of its own parent": [
        [activity(occurred_at=ago(days=9), **AMENDED)],
        [followed(entity="blog#b1")],
        [created(), activity(parent={"type": "blog", "id": "b1"})],
    ],
    "an event in a category that is muted amends one that is not": [
        [changed(**MUTE)],
        [created(**LIKE), created(**AMENDED)],
    ],
    "the same in one list": [
        [changed(**MUTE)],
        [envelope("event.created", {"events": [event(1) | LIKE, event(1) | AMENDED]})],
    ],
    "the first of two events with one id is muted": [
        [created(), created(**LIKE), changed(**MUTE)],
    ],
    "the first of two events with one id came before and is muted": [
        [created()],
        [created(**LIKE), changed(**MUTE)],
    ],
    "what is followed no longer was there before an event with its id": [
        [followed(), activity()],
        [created(), unfollowed(changed_at=ago(minutes=5))],
    ],
    "a choice that came before the profile mutes until the service says otherwise": [
        [chosen("never", days=4)],
        [changed(), created(), changed(frequencies={"comment": "daily"}, changed_at=ago(days=3))],
    ],
    "a choice that repeats the one before it is forgotten before an older one comes": [
        [chosen("weekly", days=20)],
        [chosen("weekly", days=9), chosen("daily", days=2), chosen("never", days=11)],
    ],
    "a follow that repeats the one before it is forgotten before an older change comes": [
        [followed(changed_at=ago(days=20))],
        [
            followed(changed_at=ago(days=9)),
            unfollowed(changed_at=ago(days=2)),
            unfollowed(changed_at=ago(days=11)),
        ],
    ],
}

LOST: dict[str, list[Batch]] = {
    "an event": [[created()]],
    "an event beside an activity with its id that is followed": [
        [followed()],
        [created(), activity(**AMENDED)],
    ],
    "an event beside an activity with its id that nobody follows": [
        [created(), activity(**AMENDED)],
    ],
    "an event beside an older one with its id that is muted": [
        [changed(**MUTE)],
        [created(**LIKE, **AMENDED), created()],
    ],
    "an event of a reader who is back since an erasure": [
        [envelope("subscriber.deleted", {"user_id": "ann", "deleted_at": ago(days=20)})],
        [changed()],
        [created(), followed()],
    ],
    "an event beside one of somebody who is erased": [
        [
            envelope("event.created", {"events": [event(1), event(2, user_id="bo")]}),
            envelope("subscriber.deleted", {"user_id": "bo", "deleted_at": ago(days=1)}),
        ],
    ],
    "an event in a list of which another event does not fit": [
        [envelope("event.created", {"events": [event(1), {}]})],
    ],
    "a choice": [[chosen("never", days=4), chosen("daily", days=3)]],
}


@pytest.mark.parametrize("batches", ACCOUNTED_FOR.values(), ids=ACCOUNTED_FOR)
def test_intentionally_skipped_event_is_not_counted_as_lost(batches: list[Batch]) -> None:
    assert lost_in(World, *batches) == 0


@pytest.mark.parametrize("batches", LOST.values(), ids=LOST)
def test_unintentionally_skipped_event_is_counted_as_lost(batches: list[Batch]) -> None:
    assert lost_in(World, *batches) == 0
    assert lost_in(Forgetful, *batches) > 0


def test_event_without_its_amendment_is_counted_as_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(FakeEvents, "amend", lambda *_: True)
    assert lost_in(World, [created()], [created(**AMENDED)]) == 1
