"""The producer's module: how it batches, what it repeats, and what it says of the rest."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from hypothesis import given
from hypothesis import strategies as st

from producer.gazette_events import LISTS, NotPut, Producer

THROTTLED = "ThrottlingException"
FORBIDDEN = ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "PutEvents")
SILENT = ReadTimeoutError(endpoint_url="https://events.test")


@dataclass
class FakeEventBridge:
    """Takes entries within the limits of PutEvents.

    Of the next calls, `script` says which code each entry is refused with, "" for none, or which
    error there is. `taken` are all other entries, `calls` the number of entries of each call.
    """

    script: deque[list[str] | Exception] = field(default_factory=deque)
    taken: list[dict[str, str]] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def put_events(self, *, Entries: list[dict[str, str]]) -> dict[str, Any]:  # noqa: N803
        with self.lock:
            assert 1 <= len(Entries) <= 10
            sizes = [size(entry) for entry in Entries]
            assert max(sizes) < 1_000_000
            assert sum(sizes) <= 256_000 or len(sizes) == 1
            self.calls.append(len(Entries))
            codes = self.script.popleft() if self.script else []
            if isinstance(codes, Exception):
                raise codes
            codes += [""] * (len(Entries) - len(codes))
            told = list(zip(Entries, codes, strict=True))
            self.taken += [entry for entry, code in told if not code]
            results = [
                {"ErrorCode": code, "ErrorMessage": "words"} if code else {"EventId": "1"}
                for code in codes
            ]
            return {"FailedEntryCount": sum(map(bool, codes)), "Entries": results}

    @property
    def details(self) -> list[Any]:
        """What is on the bus, lists taken apart."""
        return list(_taken_apart(json.loads(entry["Detail"]) for entry in self.taken))


def _taken_apart(details: Iterator[Any]) -> Iterator[Any]:
    for detail in details:
        (field,) = {*LISTS.values()} & detail.keys() or {""}
        yield from detail.get(field, [detail])


def size(entry: dict[str, str]) -> int:
    """As EventBridge counts it."""
    return sum(len(entry[name].encode()) for name in ("Source", "DetailType", "Detail"))


def events(number: int, *, excerpt: str = "") -> list[dict[str, Any]]:
    return [{"id": f"e{each}", "user_id": "ann", "excerpt": excerpt} for each in range(number)]


@pytest.fixture
def bus() -> FakeEventBridge:
    return FakeEventBridge()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def gazette(bus: FakeEventBridge, pauses: list[float]) -> Producer:
    return Producer("shop.comments", client=bus, sleep=pauses.append)


def test_hundred_events_are_published_as_one_entry(gazette: Producer, bus: FakeEventBridge) -> None:
    assert gazette.put(events(250)) == 250
    assert bus.calls == [3]
    assert [len(json.loads(entry["Detail"])["events"]) for entry in bus.taken] == [100, 100, 50]
    assert bus.details == events(250)
    assert {
        (entry["EventBusName"], entry["Source"], entry["DetailType"]) for entry in bus.taken
    } == {("gazette", "shop.comments", "event.created")}


def test_single_event_is_published_without_a_list(gazette: Producer, bus: FakeEventBridge) -> None:
    assert gazette.put(events(1)) == 1
    assert [json.loads(entry["Detail"]) for entry in bus.taken] == events(1)


def test_publishing_no_events_makes_no_call(gazette: Producer, bus: FakeEventBridge) -> None:
    assert gazette.put([]) == 0
    assert bus.calls == []


def test_details_are_published_ten_per_call(gazette: Producer, bus: FakeEventBridge) -> None:
    visits = [{"user_id": f"user{each}"} for each in range(23)]
    assert gazette.put(iter(visits), "subscriber.active") == 23
    assert bus.calls == [10, 10, 3]
    assert bus.details == visits


@pytest.mark.parametrize(
    ("detail_type", "field"),
    [("subscriber.changed", "subscribers"), ("follow.created", "follows")],
)
def test_profiles_and_follows_are_published_in_lists_of_a_hundred(
    gazette: Producer, bus: FakeEventBridge, detail_type: str, field: str
) -> None:
    details = [{"user_id": f"user{each}"} for each in range(201)]
    assert gazette.put(details, detail_type) == 201
    assert bus.calls == [3]
    taken = [json.loads(entry["Detail"]) for entry in bus.taken]
    assert [len(each[field]) for each in taken[:2]] == [100, 100]
    assert taken[2] == details[200]
    assert bus.details == details


def test_entries_stay_within_64_kb_billing_unit(gazette: Producer, bus: FakeEventBridge) -> None:
    """64 KB are billed as one."""
    gazette.put(events(100, excerpt="ä" * 700))
    assert bus.details == events(100, excerpt="ä" * 700)
    assert all(size(entry) <= 64_000 for entry in bus.taken)
    assert len(bus.taken) == 3


@given(st.lists(st.integers(0, 200_000), max_size=60))
def test_events_of_any_size_are_published_once_in_few_entries(lengths: list[int]) -> None:
    """No two neighbours would have fitted one entry, nor two calls one call."""
    bus = FakeEventBridge()
    said = [{"id": str(number), "excerpt": "x" * length} for number, length in enumerate(lengths)]
    assert Producer("s", client=bus).put(said) == len(said)
    assert bus.details == said
    sizes = [size(entry) for entry in bus.taken]
    assert all(one + other > 64_000 for one, other in pairwise(sizes))


def test_only_rejected_events_are_retried(
    gazette: Producer, bus: FakeEventBridge, pauses: list[float]
) -> None:
    bus.script.extend([["", THROTTLED, "InternalFailure"], [THROTTLED]])
    assert gazette.put(events(300)) == 300
    assert bus.calls == [3, 2, 1]
    assert sorted(each["id"] for each in bus.details) == sorted(each["id"] for each in events(300))
    assert len(pauses) == 2
    assert all(pause <= 0.2 for pause in pauses)


def test_events_rejected_at_every_attempt_are_reported(
    gazette: Producer, bus: FakeEventBridge, pauses: list[float]
) -> None:
    bus.script.extend([["", THROTTLED], *([THROTTLED] for _ in range(4))])
    with pytest.raises(NotPut) as caught:
        gazette.put(events(150))
    assert (caught.value.put, len(pauses)) == (100, 4)
    assert [each.detail for each in caught.value.refused] == events(150)[100:]
    assert {each.code for each in caught.value.refused} == {THROTTLED}
    assert str(caught.value) == (
        "50 of 150 details were not published to the bus gazette. The first, e100: "
        "ThrottlingException: words"
    )


def test_permanently_rejected_event_is_not_retried_or_blocking(
    gazette: Producer, bus: FakeEventBridge, pauses: list[float]
) -> None:
    bus.script.append(["MalformedDetail"])
    with pytest.raises(NotPut) as caught:
        gazette.put([{"user_id": f"user{number}"} for number in range(20)], "subscriber.active")
    assert (caught.value.put, bus.calls, pauses) == (19, [10, 10], [])
    assert [each.detail for each in caught.value.refused] == [{"user_id": "user0"}]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"id": "wrong", "excerpt": "x" * 1_000_000}, "TooLarge"),
        ({"id": "wrong", "occurred_at": object()}, "NotJson"),
        ({"id": "wrong", "excerpt": float("nan")}, "NotJson"),
        ({"id": "wrong", "excerpt": "\ud800"}, "NotJson"),
    ],
)
def test_unpublishable_event_does_not_block_other_events(
    gazette: Producer, bus: FakeEventBridge, wrong: dict[str, Any], code: str
) -> None:
    with pytest.raises(NotPut, match=f"1 of 3 details .* The first, wrong: {code}: ") as caught:
        gazette.put([*events(1), wrong, *events(2)[1:]])
    assert bus.details == events(2)
    assert [each.detail for each in caught.value.refused] == [wrong]


def test_large_event_is_published_in_its_own_entry(gazette: Producer, bus: FakeEventBridge) -> None:
    large = {"id": "large", "excerpt": "x" * 900_000}
    gazette.put([*events(1), large, *events(2)[1:]])
    assert bus.calls == [1, 1, 1]
    assert bus.details == [*events(1), large, *events(2)[1:]]


@pytest.mark.parametrize(
    ("err", "code"), [(FORBIDDEN, "AccessDenied"), (SILENT, "ReadTimeoutError")]
)
def test_failed_call_reports_all_remaining_events(
    gazette: Producer, bus: FakeEventBridge, err: Exception, code: str
) -> None:
    """The calls before it are on the bus, and what it put before it failed; none after it."""
    bus.script.extend([[], [THROTTLED], err])
    with pytest.raises(NotPut) as caught:
        gazette.put([{"user_id": f"user{number}"} for number in range(35)], "subscriber.active")
    left = [each.detail["user_id"] for each in caught.value.refused]
    assert left == ["user10", *(f"user{number}" for number in range(20, 35))]
    assert (caught.value.put, {each.code for each in caught.value.refused}) == (19, {code})
    assert caught.value.__cause__ is err
    assert len(bus.details) == 19


def test_producer_is_thread_safe(gazette: Producer, bus: FakeEventBridge) -> None:
    with ThreadPoolExecutor(8) as workers:
        assert sum(workers.map(gazette.put, [events(250)] * 16)) == 16 * 250
    assert len(bus.details) == 16 * 250


def test_detail_outside_a_list_is_rejected_with_explanation() -> None:
    bus = FakeEventBridge()
    with pytest.raises(TypeError, match=r"put\(\[detail\]\)"):
        Producer("blog", client=bus).put(cast("Any", {"id": "e1"}))
    assert bus.calls == []


def test_zero_attempts_are_rejected_with_explanation() -> None:
    with pytest.raises(ValueError, match="attempts must be 1 or more"):
        Producer("blog", client=FakeEventBridge(), attempts=0)
