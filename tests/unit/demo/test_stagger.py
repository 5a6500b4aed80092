"""What `make plots` draws: an hour that many readers chose, seen from the services behind."""

from itertools import pairwise

from benchmarks.stagger import PICTURE, SECONDS, WAYS, requests

READERS = 12_000


def seen(way: str) -> list[int]:
    return requests(READERS, *WAYS[way])


def test_all_readers_share_one_second_without_slots_and_delays() -> None:
    assert max(seen("all at the full hour")) == READERS


def test_random_delay_alone_covers_ten_minutes() -> None:
    busy = [second for second, count in enumerate(seen("a random delay")) if count]
    assert busy[-1] < 600


def test_slots_and_delays_spread_load_evenly_over_hour() -> None:
    seconds = seen("a slot of their own, and a random delay")
    minutes = [sum(seconds[start : start + 60]) for start in range(0, SECONDS, 60)]
    mean = READERS / 60
    assert sum(minutes) == READERS
    assert all(0.75 * mean < count < 1.25 * mean for count in minutes)
    assert all(abs(later - earlier) < 0.4 * mean for earlier, later in pairwise(minutes))


def test_stagger_picture_exists_and_has_no_scripts() -> None:
    picture = PICTURE.read_text()
    assert "<svg" in picture
    assert "<script" not in picture
