"""What the threads of a process share: a value that is read at most once a minute."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from gazette.adapters.cached import READ_INTERVAL, Cached

THREADS = 10


class _Slow(datetime):
    """It takes a while to compare, so that threads do so at the same time."""

    def __sub__(self, other: Any) -> Any:
        time.sleep(0.02)
        return super().__sub__(other)


def test_concurrent_threads_read_value_once() -> None:
    clock = [_Slow(2026, 11, 21, tzinfo=UTC)]
    reads: list[int] = []

    def read() -> int:
        reads.append(len(reads))
        return len(reads)

    cached = Cached(read, clock=lambda: clock[0])
    clock[0] = _Slow(2026, 11, 21, tzinfo=UTC) + READ_INTERVAL
    assert isinstance(clock[0], _Slow)
    with ThreadPoolExecutor(THREADS) as threads:
        found = list(threads.map(lambda _: cached.get(), range(THREADS)))
    assert len(reads) == 2
    assert set(found) == {2}, "whoever does not read waits: what they have may be hours old"
