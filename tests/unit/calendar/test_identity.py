"""Names that are derived must stay the same for ever and never collide."""

import hashlib
import re
import string
from datetime import UTC, datetime

import pytest
from gazette.domain.identity import (
    LAST_SEQUENCE,
    SCHEDULE_NAME,
    address_hash,
    keyed_hash,
    latest_run,
    parse_run_id,
    run_id,
    shard_of,
)
from gazette.domain.model import RunKey
from gazette.domain.scheduling.kinds import (
    ScheduleKind,
    Unsent,
    critical_schedule,
    immediate_schedule,
    is_critical,
    is_same_thread,
    is_urgent,
    kind_of,
    thread_of,
    urgent_schedule,
)
from gazette.domain.subscribers.frequency import Frequency
from hypothesis import given, settings
from hypothesis import strategies as st

user_ids = st.text([chr(code) for code in range(0x21, 0x7F)], min_size=1, max_size=64)
schedules = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=24)
keys = st.builds(RunKey, user_ids, schedules, st.integers(0, 10**9))


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (RunKey("1899", "daily", 17), "1899-daily-17"),
        (RunKey("ann@example.com", "daily", 1), "ann_40example_2ecom-daily-1"),
        (RunKey("a-b_c", "weekly2", 0), "a_2db_5fc-weekly2-0"),
        (RunKey("100%", "daily", 3), "100_25-daily-3"),
    ],
)
def test_run_id_format_is_stable(key: RunKey, name: str) -> None:
    assert run_id(key) == name
    assert parse_run_id(name) == key


@given(keys)
@settings(max_examples=100, deadline=None)
def test_run_id_is_valid_ses_tag_and_round_trips(key: RunKey) -> None:
    name = run_id(key)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,256}", name)
    assert parse_run_id(name) == key


def test_longest_user_id_fits_in_ses_tag() -> None:
    assert len(run_id(RunKey("_" * 64, "x" * 24, 10**12))) <= 256


@given(keys, keys)
@settings(max_examples=75, deadline=None)
def test_run_ids_are_unique(one: RunKey, other: RunKey) -> None:
    assert (run_id(one) == run_id(other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("a-b", "a_2db"), ("a_b", "a_5fb"), ("%41", "A"), ("a", "a-"), ("a_2d", "a-")],
)
def test_user_ids_resembling_escaped_ids_do_not_collide(one: str, other: str) -> None:
    assert run_id(RunKey(one, "daily", 1)) != run_id(RunKey(other, "daily", 1))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ann",
        "ann-daily",
        "ann-daily-1-2",
        "ann-daily-",
        "ann-daily--1",
        "ann-daily-+1",
        "ann-daily- 1",
        "ann-daily-01",
        "ann-daily-1_0",
        "ann-daily-\u0661",
        "ann-daily-1\n",
        "ann--1",
        "ann-Daily-1",
        "a_41-daily-1",
        "a_4-daily-1",
        "a_zz-daily-1",
        "a_2D-daily-1",
        "a%2d-daily-1",
        "a b-daily-1",
        "ann-daily-" + "9" * 5000,
    ],
)
def test_malformed_run_id_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_run_id(text)


@given(st.one_of(st.text(), st.from_regex(r"[a-z0-9_%]{0,6}-[a-z0-9]{0,4}-\d{0,3}")))
@settings(max_examples=100, deadline=None)
def test_any_text_is_decoded_as_run_id_or_rejected(text: str) -> None:
    try:
        key = parse_run_id(text)
    except ValueError:
        return
    assert run_id(key) == text


@pytest.mark.parametrize(
    ("user_id", "shards", "shard"),
    [
        ("1899", 16, 2),
        ("student0", 16, 8),
        ("ann@example.com", 16, 14),
        ("ann@example.com", 256, 14),
        ("Z", 1, 0),
        ("student1898", 255, 96),
    ],
)
def test_shard_of_subscriber_is_stable(user_id: str, shards: int, shard: int) -> None:
    """A subscriber that moves to another shard would be missed or fanned out twice."""
    assert shard_of(user_id, shards) == shard


@given(user_ids, st.integers(1, 256))
@settings(max_examples=100, deadline=None)
def test_shard_number_is_in_range(user_id: str, shards: int) -> None:
    assert 0 <= shard_of(user_id, shards) < shards


def test_subscribers_are_spread_evenly_over_shards() -> None:
    counts = [0] * 16
    for number in range(16_000):
        counts[shard_of(f"student{number}", 16)] += 1
    assert min(counts) > 900
    assert max(counts) < 1100


# What goes out at once.

entities = st.text(min_size=1, max_size=300)


def test_schedule_name_of_entity_is_stable() -> None:
    """Another name would open a second run beside the one that collects."""
    assert immediate_schedule("post#p1") == "nowbcc0ba0ae9a35c465d28"
    assert urgent_schedule("post#p1") == "nowbcc0ba0ae9a35c465d28u"


@given(entities)
@settings(max_examples=100, deadline=None)
def test_schedule_of_any_entity_has_recognizable_name(entity: str) -> None:
    usual, urgent, critical = (
        named(entity) for named in (immediate_schedule, urgent_schedule, critical_schedule)
    )
    for name in (usual, urgent, critical):
        assert SCHEDULE_NAME.fullmatch(name)
        assert kind_of(name) is ScheduleKind.IMMEDIATE
        assert is_urgent(name) == (name == urgent)
        assert is_critical(name) == (name == critical)
    assert thread_of(urgent) == thread_of(usual) == usual
    assert thread_of(critical) == critical
    assert not is_same_thread(critical, usual)


@given(entities, entities)
@settings(max_examples=100, deadline=None)
def test_no_other_schedule_is_between_the_two_of_an_entity(one: str, other: str) -> None:
    """One query reads the runs of both (`Runs.of_thread`)."""
    first, last = immediate_schedule(one) + "#", urgent_schedule(one) + "#~"
    between = [
        named(other)
        for named in (immediate_schedule, urgent_schedule, critical_schedule)
        if first <= named(other) + "#5" <= last
    ]
    mine = [immediate_schedule(one), urgent_schedule(one)]
    assert between == (mine if one == other else [])


@pytest.mark.parametrize("name", [*Frequency, Unsent.WAITING])
def test_digest_schedule_is_never_mistaken_for_entity_schedule(name: str) -> None:
    assert kind_of(name) is not ScheduleKind.IMMEDIATE


@given(entities, entities)
@settings(max_examples=100, deadline=None)
def test_entities_never_share_a_schedule(one: str, other: str) -> None:
    assert (immediate_schedule(one) == immediate_schedule(other)) == (one == other)


@given(user_ids, entities, st.integers(0, LAST_SEQUENCE))
@settings(max_examples=100, deadline=None)
def test_immediate_run_id_is_valid_ses_tag_and_round_trips(
    user_id: str, entity: str, sequence: int
) -> None:
    key = RunKey(user_id, immediate_schedule(entity), sequence)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,256}", run_id(key))
    assert parse_run_id(run_id(key)) == key


def test_latest_run_has_last_sequence_number() -> None:
    """Sequence numbers of immediate runs are seconds: this lasts until the year 2286."""
    latest = latest_run("ann", "daily")
    assert (latest.user_id, latest.schedule) == ("ann", "daily")
    assert latest.sequence == LAST_SEQUENCE > datetime(2286, 1, 1, tzinfo=UTC).timestamp()


# Addresses.


def test_address_hash_is_stable() -> None:
    """Another hash would forget everybody who left."""
    assert address_hash("ann@example.com") == hashlib.sha256(b"ann@example.com").hexdigest()


@pytest.mark.parametrize(
    "spelling", ["Ann@Example.com", "ANN@EXAMPLE.COM", " ann@example.com ", "ann@example.com\n"]
)
def test_spellings_of_an_address_have_the_same_hash(spelling: str) -> None:
    assert address_hash(spelling) == address_hash("ann@example.com")


@pytest.mark.parametrize("other", ["ann@example.org", "anna@example.com", "ann+x@example.com"])
def test_different_addresses_have_different_hashes(other: str) -> None:
    assert address_hash(other) != address_hash("ann@example.com")


def test_keyed_address_hash_is_stable() -> None:
    """Computed by OpenSSL. If it changed, every suppression would be forgotten."""
    keyed = keyed_hash(address_hash("ann@example.com"), b"s" * 64)
    assert keyed == "h165e90c4e0aed06785999dc13370bb5d5e9e04ecab678445ccaf3e33035cd753"


def test_only_keyed_hashes_are_left_unchanged() -> None:
    plain = address_hash("ann@example.com")
    keyed = keyed_hash(plain, b"s" * 64)
    assert keyed_hash(keyed, b"s" * 64) == keyed_hash(keyed, b"o" * 64) == keyed
    for other in (plain, f"h{plain[1:]}", f"{keyed}0", keyed.upper(), f"{keyed}\n"):
        assert keyed_hash(other, b"o" * 64) != other


def test_different_keys_give_different_hashes() -> None:
    plain = address_hash("ann@example.com")
    assert keyed_hash(plain, b"s" * 64) != keyed_hash(plain, b"o" * 64)
