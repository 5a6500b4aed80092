"""Which digest asks a source, and how evenly over the lead its readers are asked for."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.content.asking import ContentPlan, ahead_of
from gazette.domain.content.items import EVENTS, RECOMMENDATIONS
from gazette.domain.identity import shard_of
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.stored import as_stored
from gazette.domain.subscribers.frequency import EVERYTHING, Frequencies, Frequency
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW, a_schedule

BOTH = (EVENTS, RECOMMENDATIONS)
PLAN = ContentPlan(sources=BOTH, lead=6, fresh_for=timedelta(hours=2))
DUE = a_schedule().next_due_at
TWO_HOURS = timedelta(hours=2)


@pytest.mark.parametrize(
    ("chosen", "defaults", "asks"),
    [
        ((), (), Frequency.DAILY),
        ((), (("recommendation", Frequency.WEEKLY),), Frequency.WEEKLY),
        (
            (("recommendation", Frequency.CUSTOM),),
            (("recommendation", Frequency.WEEKLY),),
            "custom",
        ),
        (((EVERYTHING, Frequency.WEEKLY),), (), Frequency.WEEKLY),
        ((("recommendation", Frequency.IMMEDIATE),), (), Frequency.DAILY),
        ((("recommendation", as_stored(Frequency, "hourly")),), (), Frequency.DAILY),
        ((("recommendation", Frequency.NEVER),), (), None),
        (((EVERYTHING, Frequency.NEVER), ("comment", Frequency.DAILY)), (), None),
    ],
)
def test_category_frequency_determines_digest_of_source(
    chosen: Frequencies, defaults: Frequencies, asks: str | None
) -> None:
    asking = [
        digest.value
        for digest in (Frequency.DAILY, Frequency.WEEKLY, Frequency.CUSTOM)
        if PLAN.sources_for(digest, chosen=chosen, defaults=defaults)
    ]
    assert asking == ([str(asks)] if asks else [])


def test_digest_sources_keep_stage_order() -> None:
    for order in (BOTH, BOTH[::-1]):
        plan = replace(PLAN, sources=order)
        assert plan.sources_for(Frequency.DAILY, chosen=(), defaults=()) == order


def test_removed_source_is_not_queried() -> None:
    asking = replace(a_schedule(), sources=BOTH)
    assert PLAN.asked_by(asking) == (RECOMMENDATIONS,)
    assert PLAN.asked_by(replace(asking, sources=("events", "horoscopes"))) == ()
    assert replace(PLAN, sources=(EVENTS,)).asked_by(asking) == ()
    assert PLAN.asked_by(a_schedule()) == ()


@pytest.mark.parametrize(
    ("fetched_at", "fetched_for", "is_fetched"),
    [
        (None, None, False),
        (DUE - TWO_HOURS, DUE, True),
        (DUE - TWO_HOURS - timedelta(seconds=1), DUE, False),
        (DUE - SLOT, DUE - timedelta(days=1), False),
        (DUE + SLOT, DUE, True),
        (DUE - SLOT, DUE + timedelta(days=1), True),
    ],
)
def test_earlier_or_stale_fetch_does_not_count(
    fetched_at: object, fetched_for: object, is_fetched: bool
) -> None:
    schedule = replace(a_schedule(), fetched_at=fetched_at, fetched_for=fetched_for)  # type: ignore[arg-type]
    assert PLAN.is_fetched(schedule, DUE) is is_fetched


def test_fetch_for_later_occurrence_takes_precedence() -> None:
    tomorrow = DUE + timedelta(days=1)
    ahead = a_schedule().fetched(NOW, tomorrow, b"")
    assert ahead.fetched(NOW + SLOT, DUE, b"").fetched_for == tomorrow


def seen(users: list[str], *, shards: int, lead: int) -> dict[str, list[int]]:
    """In which slots before the one in which all of them are due each is asked for."""
    due = slot_of(NOW)
    found: dict[str, list[int]] = {user: [] for user in users}
    by_shard: dict[int, list[str]] = {}
    for user in users:
        by_shard.setdefault(shard_of(user, shards), []).append(user)
    for before in range(lead + 2):
        for shard, theirs in by_shard.items():
            for look in ahead_of(due - before * SLOT, shard, shards=shards, lead=lead):
                if look.slot == due:
                    for user in theirs:
                        found[user] += [before] * look.holds(user)
    return found


@given(st.integers(1, 40), st.integers(0, 144), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_items_of_each_reader_are_prefetched_once_per_lead_time(
    shards: int, lead: int, drawn: int
) -> None:
    users = [f"user{drawn + number}" for number in range(20)]
    for slots in seen(users, shards=shards, lead=lead).values():
        assert len(slots) == bool(lead)
        assert all(1 <= before <= lead for before in slots)


@given(st.integers(1, 64), st.integers(1, 144))
@settings(max_examples=100, deadline=None)
def test_prefetch_load_per_slot_stays_near_average(shards: int, lead: int) -> None:
    """By parts, which hold equally many readers. Each is read in one slot, by one shard."""
    loads: Counter[int] = Counter()
    for shard in range(shards):
        for look in ahead_of(slot_of(NOW), shard, shards=shards, lead=lead):
            loads[(look.slot - slot_of(NOW)) // SLOT] += len(look.parts)
    assert sorted(loads) == list(range(1, lead + 1))
    assert max(loads.values()) <= 1.25 * loads.total() / lead


@pytest.mark.parametrize(("shards", "lead"), [(16, 144), (16, 6), (1, 48), (16, 31)])
def test_prefetching_for_20_000_readers_is_spread_evenly(shards: int, lead: int) -> None:
    slots = Counter(
        before
        for (before,) in seen(
            [f"user{number}" for number in range(20_000)], shards=shards, lead=lead
        ).values()
    )
    assert len(slots) == lead
    assert max(slots.values()) < 1.35 * 20_000 / lead


def test_number_of_index_reads_is_lead_divided_by_shards() -> None:
    looks = list(ahead_of(slot_of(NOW), 3, shards=16, lead=144))
    assert [(look.slot - slot_of(NOW)) // SLOT for look in looks] == list(range(4, 145, 16))
