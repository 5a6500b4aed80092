"""Where the CPU goes: of all threads, by package, and waiting takes none."""

import json
import time
from threading import Event, Thread

from gazette.domain.identity import address_hash

from benchmarks.bench.profiling import profiled

_MUCH = [{"text": "x" * 100, "numbers": list(range(100))}] * 50


def _encode() -> None:
    for _ in range(5):
        json.loads(json.dumps(_MUCH, indent=1))


def test_profiler_counts_cpu_time_of_threads() -> None:
    def act() -> None:
        thread = Thread(target=_encode)
        thread.start()
        thread.join()

    assert next(iter(profiled(act))) == "json"


def test_profiler_reports_our_packages_separately() -> None:
    found = profiled(lambda: [address_hash("ann@example.com") for _ in range(100)])
    assert "gazette.domain.identity" in found or "gazette.domain" in found


def test_waiting_uses_no_cpu_time() -> None:
    began = time.perf_counter()
    found = profiled(lambda: Event().wait(0.05))
    assert sum(found.values()) < (time.perf_counter() - began) / 2
