"""The command `make linear`, which checks that the cost of fan-out depends on waiting events, not
on the number of readers.

It runs the real tick and fan-out on fakes. Calls to the ports are counted exactly, by name. The
memory is that of fan-out, without the rows of the fakes. Times are compared as ratios.
"""

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.ledger import Ledger
from benchmarks.town import SHARDS, Town

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
FIXED = SIZES[0]
"""The constant number of readers with waiting events, while the number of other readers grows."""

_NOT_FULL = SHARDS + 1
"""Calls that are not counted, because the last page and the last ten messages of a shard may not be
full.
"""

_MEMORY = 1.25
"""The maximum growth of fan-out's memory, for any number of readers."""

_TIME = 3
"""The maximum growth of the time per reader, which allows for larger dictionaries and other load.
"""

_TIMED_AT_LEAST = 10_000
"""The minimum number of readers in a time measurement.

Smaller sizes are repeated, and the fastest repetition counts.
"""


@dataclass(frozen=True)
class Measured:
    """The cost of one slot in which `waiting` of the `readers` have events.

    `calls` are by `port.method`, `held` is in bytes, and `seconds` is the CPU time of this process,
    or 0 if not measured.
    """

    readers: int
    waiting: int
    calls: Counter[str]
    done: Counter[str]
    messages: int
    held: int
    seconds: float = 0

    @property
    def seconds_each(self) -> float:
        """The seconds per reader with waiting events."""
        return self.seconds / self.waiting


def measure(
    readers: int, waiting: int | None = None, *, timed: bool = False, page: int = 100
) -> Measured:
    """Fan out one slot and measure the cost.

    `waiting` is the number of readers with events; None means all readers. `page` is the maximum
    page size.
    """
    waiting = readers if waiting is None else waiting
    town, ledger = Town(readers, waiting=waiting, page=page), Ledger()
    done = town.fan_out(ledger, weighs=True)
    seconds = min(_seconds(readers) for _ in range(_TIMED_AT_LEAST // readers or 1)) if timed else 0
    messages = len(town.generate_queue.sent)
    return Measured(readers, waiting, ledger.calls, done, messages, ledger.peak, seconds)


def _seconds(readers: int) -> float:
    town = Town(readers, waiting=readers)
    began = time.process_time()
    town.fan_out(Ledger(), weighs=False)
    return time.process_time() - began


def not_flat(found: Sequence[Measured]) -> list[str]:
    """Return sentences about costs that grow with the number of readers.

    `found` starts with the smallest size. In all sizes, the readers with waiting events have the
    same keys, so all calls are the same.
    """
    first = found[0]
    return [
        f"{name}: {each.calls[name]} calls with {each.readers} readers, "
        f"{number} with {first.readers}"
        for each in found[1:]
        for name, number in first.calls.items()
        if each.calls[name] != number
    ] + _not_held(found)


def not_straight(found: Sequence[Measured], slot: Mapping[str, int]) -> list[str]:
    """Return sentences about costs that are not proportional to the events.

    `slot` contains the calls of an empty slot.
    """
    least, most = found[0], found[-1]
    wrong = [
        f"{each.done.total()} of {each.waiting} readers were fanned out: {dict(each.done)}"
        for each in found
        if each.done["queued"] != each.waiting or each.done["queued"] != each.messages
    ]
    for name in sorted({name for each in found for name in each.calls}):
        wrong += [
            f"{name}: {each:.4f} calls a reader of {size.waiting}, {first:.4f} of {least.waiting}"
            for size in found[1:]
            if abs((each := _each(size, name, slot)) - (first := _each(least, name, slot)))
            > _NOT_FULL / least.waiting
        ]
    wrong += _not_held(found)
    if least.seconds and time_ratio(found) > _TIME:
        wrong.append(f"each of {most.waiting} readers takes {time_ratio(found):.2f} times as long")
    return wrong


def _not_held(found: Sequence[Measured]) -> list[str]:
    least = found[0]
    return [
        f"fan-out holds {each.held} bytes for {each.waiting} of {each.readers} readers, "
        f"{least.held} for {least.waiting} of {least.readers}"
        for each in found
        if each.held > least.held * _MEMORY
    ]


def time_ratio(found: Sequence[Measured]) -> float:
    """Return the ratio between the time per reader at the largest and at the smallest size."""
    return found[-1].seconds_each / found[0].seconds_each


def _each(size: Measured, name: str, slot: Mapping[str, int]) -> float:
    return (size.calls.get(name, 0) - slot.get(name, 0)) / size.waiting


def main() -> int:
    """Print the figures. Return 1 if a cost is not linear."""
    slot = measure(0).calls
    by_readers = [measure(readers, FIXED) for readers in SIZES]
    for size in by_readers:
        print(
            f"{size.readers:>7} readers, something waits for {size.waiting}: "
            f"{size.calls.total()} calls, fan-out holds {size.held / 1024:.0f} KB"
        )
    by_events = []
    for readers in SIZES:
        by_events.append(measure(readers, timed=True))
        _show(by_events, slot)
    if wrong := not_flat(by_readers) + not_straight(by_events, slot):
        print(f"linear: {wrong[0]}", file=sys.stderr)
        return 1
    held = [each.held // 1024 for each in (*by_readers, *by_events)]
    print(
        f"linear: readers={SIZES[0]}..{SIZES[-1]} with {FIXED} events "
        f"calls={by_readers[0].calls.total()}..{by_readers[-1].calls.total()} "
        f"events={SIZES[0]}..{SIZES[-1]} calls_an_event={calls_each(by_events[-1], slot):.2f} "
        f"memory_kb={min(held)}..{max(held)} time_ratio={time_ratio(by_events):.2f}"
    )
    return 0


def calls_each(size: Measured, slot: Mapping[str, int]) -> float:
    """Return the calls per reader with waiting events, without the calls of an empty slot."""
    return sum(_each(size, name, slot) for name in size.calls)


def _show(found: Sequence[Measured], slot: Mapping[str, int]) -> None:
    """Print the figures of the last size."""
    size = found[-1]
    print(
        f"{size.waiting:>7} events: {calls_each(size, slot):.4f} calls each, "
        f"{size.messages} messages in {size.calls['generate_queue.send']} calls of the queue, "
        f"fan-out holds {size.held / 1024:.0f} KB, time {time_ratio(found):.2f}"
    )
    for name in sorted(size.calls):
        fixed = f", and {slot[name]} a slot" if slot.get(name) else ""
        print(f"        {name}: {_each(size, name, slot):.4f} each{fixed}")


if __name__ == "__main__":
    sys.exit(main())
