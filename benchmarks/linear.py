"""`make linear`: a reader costs fan-out the same, whether 1,000 or 100,000 are due in one slot.

The real tick and the real fan-out on our own fakes. Calls of the ports are counted exactly, by
name; memory is what fan-out itself holds, without what the fakes store; time is a ratio.
"""

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.ledger import Ledger
from benchmarks.town import SHARDS, Town

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
_NOT_FULL = SHARDS + 1
"""Calls that do not count: in each shard the last page, and the last ten, may not be full."""

_MEMORY = 1.25
"""How much more fan-out may hold, whatever the number of readers."""

_TIME = 3
"""How much longer a reader may take: larger dictionaries and a busy machine are not fan-out's."""

_TIMED_AT_LEAST = 10_000
"""Readers for whom time is taken: fewer are fanned out again, and the fastest counts."""


@dataclass(frozen=True)
class Measured:
    """What one slot came to. `calls` by `port.method`; `held` in bytes; `seconds` of this process.

    `seconds` are 0 where no time was taken.
    """

    readers: int
    calls: Mapping[str, int]
    done: Counter[str]
    messages: int
    held: int
    seconds: float = 0

    @property
    def seconds_a_reader(self) -> float:
        """Seconds that one reader took."""
        return self.seconds / self.readers


def measure(readers: int, *, timed: bool = False, page: int = 100) -> Measured:
    """Fan out a slot in which so many readers are due. `page`: how many a page may hold."""
    town, ledger = Town(readers, page=page), Ledger()
    done = town.fan_out(ledger, weighs=True)
    seconds = min(_seconds(readers) for _ in range(_TIMED_AT_LEAST // readers or 1)) if timed else 0
    messages = len(town.generate_queue.sent)
    return Measured(readers, ledger.calls, done, messages, ledger.peak, seconds)


def _seconds(readers: int) -> float:
    town = Town(readers)
    began = time.process_time()
    town.fan_out(Ledger(), weighs=False)
    return time.process_time() - began


def problems(found: Sequence[Measured], slot: Mapping[str, int]) -> list[str]:
    """What is not linear, in words; the smallest size comes first. `slot`: calls for nobody."""
    least, most = found[0], found[-1]
    wrong = [
        f"{each.done.total()} of {each.readers} readers were fanned out: {dict(each.done)}"
        for each in found
        if each.done["queued"] + each.done["quiet"] != each.readers
        or each.done["queued"] != each.messages
    ]
    for name in sorted({name for each in found for name in each.calls}):
        wrong += [
            f"{name}: {each:.4f} calls a reader of {size.readers}, {first:.4f} of {least.readers}"
            for size in found[1:]
            if abs((each := _a_reader(size, name, slot)) - (first := _a_reader(least, name, slot)))
            > _NOT_FULL / least.readers
        ]
    wrong += [
        f"fan-out holds {each.held} bytes for {each.readers} readers, "
        f"{least.held} for {least.readers}"
        for each in found
        if each.held > least.held * _MEMORY
    ]
    if least.seconds and time_ratio(found) > _TIME:
        wrong.append(f"each of {most.readers} readers takes {time_ratio(found):.2f} times as long")
    return wrong


def time_ratio(found: Sequence[Measured]) -> float:
    """How much longer a reader takes among the most than among the fewest."""
    return found[-1].seconds_a_reader / found[0].seconds_a_reader


def _a_reader(size: Measured, name: str, slot: Mapping[str, int]) -> float:
    return (size.calls.get(name, 0) - slot.get(name, 0)) / size.readers


def main() -> int:
    """Print the figures. Exit status 1 where something is not linear."""
    slot = measure(0).calls
    found = []
    for readers in SIZES:
        found.append(measure(readers, timed=True))
        _show(found, slot)
    if wrong := problems(found, slot):
        print(f"linear: {wrong[0]}", file=sys.stderr)
        return 1
    held = [each.held // 1024 for each in found]
    calls = calls_a_reader(found[-1], slot)
    print(
        f"linear: readers={SIZES[0]}..{SIZES[-1]} calls_a_reader={calls:.2f} "
        f"memory_kb={min(held)}..{max(held)} time_ratio={time_ratio(found):.2f}"
    )
    return 0


def calls_a_reader(size: Measured, slot: Mapping[str, int]) -> float:
    """All calls that a slot of nobody does not take."""
    return sum(_a_reader(size, name, slot) for name in size.calls)


def _show(found: Sequence[Measured], slot: Mapping[str, int]) -> None:
    """The figures of the size that was measured last."""
    size = found[-1]
    print(
        f"{size.readers:>7} readers: {calls_a_reader(size, slot):.4f} calls each, "
        f"{size.messages} messages in {size.calls['generate_queue.send']} calls of the queue, "
        f"fan-out holds {size.held / 1024:.0f} KB, time {time_ratio(found):.2f}"
    )
    for name in sorted(size.calls):
        fixed = f", and {slot[name]} a slot" if slot.get(name) else ""
        print(f"        {name}: {_a_reader(size, name, slot):.4f} each{fixed}")


if __name__ == "__main__":
    sys.exit(main())
