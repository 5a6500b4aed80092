"""How the replay of the week tells how long it takes."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from gazette.domain.scheduling.calendar import Recurrence, next_occurrence

from demo import campus, invented
from demo.replay import first_day, replay, time_to_begin, time_to_go
from demo.service import Service


@pytest.mark.parametrize(("first", "others", "left"), [(1, 9, 90.0), (5, 5, 10.0), (4, 0, 0.0)])
def test_remaining_replay_time_is_estimated_from_first_day(
    first: int, others: int, left: float
) -> None:
    message = campus.messages()[0]
    week = [replace(message, day=0)] * first + [replace(message, day=3)] * others
    assert time_to_go(10.0, week) == pytest.approx(left)


@pytest.mark.parametrize(
    ("now", "begins"),
    [
        ("02:20:00", "02:20:00"),
        ("02:26:59", "02:26:59"),
        ("02:27:00", "02:30:01"),
        ("02:29:50", "02:30:01"),
        ("02:30:00", "02:30:00"),
    ],
)
def test_replay_starts_before_first_due_digest(now: str, begins: str) -> None:
    """In Kolkata it is 08:00 at 02:30 UTC."""
    at = datetime.fromisoformat(f"2026-11-24T{now}+00:00")
    assert time_to_begin(at) == datetime.fromisoformat(f"2026-11-24T{begins}+00:00")


class PublishedEvents:
    """A service that keeps what is published. Its clock advances a day for each slot."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 24, 23, 50, tzinfo=UTC)
        self.published: list[tuple[str, datetime, dict[str, Any]]] = []

    def put(self, detail_type: str, details: Iterable[Mapping[str, Any]]) -> int:
        new = [(detail_type, self.now, dict(detail)) for detail in details]
        self.published += new
        return len(new)

    def clock(self) -> datetime:
        return self.now

    def wait_until_drained(self, *_queues: str) -> None:
        """Nothing waits here."""


def test_immediate_events_of_replay_are_less_than_a_day_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise they would go to the digest."""
    service = PublishedEvents()

    def pass_until(passing: PublishedEvents, slot: datetime) -> None:
        passing.now = slot

    monkeypatch.setattr("demo.replay.let_pass", pass_until)
    events = [*invented.thread(), *invented.happened(campus.messages()[:1])]
    days = max(event.message.day for event in events)
    last = replace(campus.messages()[-1], day=days)
    events.append(replace(events[-1], message=last))
    number = replay(
        cast("Service", service),
        events,
        registered=(service.now, service.now),
        progress=lambda _: None,
    )
    assert number == len(events)
    thread = [
        (now, detail)
        for _, now, detail in service.published
        if detail.get("user_id") == campus.user_id(invented.AT_ONCE)
    ]
    assert len(thread) == 3
    for now, detail in thread:
        assert now - datetime.fromisoformat(detail["occurred_at"]) < timedelta(days=1)


@pytest.mark.parametrize("hour", range(24))
def test_events_of_day_precede_their_digest(hour: int) -> None:
    began = datetime.fromisoformat(f"2026-11-24T{hour:02d}:00:00+00:00")
    first = datetime.combine(first_day(began), datetime.min.time(), UTC)
    for zone in campus.ZONES:
        due = next_occurrence(Recurrence(campus.DIGEST_HOUR, 0, zone), after=began)
        for day in range(7):
            assert first + timedelta(days=day + 1) <= due
            due = next_occurrence(Recurrence(campus.DIGEST_HOUR, 0, zone), after=due)
