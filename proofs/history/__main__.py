"""`python -m proofs.history`: measure each use case with each past. The last
line of the output has the totals.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from proofs.history.counting import HOPELESS
from proofs.history.measure import Measured, measure
from proofs.history.past import PASTS
from proofs.history.real import MAIN, on_moto
from proofs.history.stated import BOUNDS, GROWS, SIZES
from proofs.history.uses import MOVED, Use, uses
from proofs.history.verdict import MORE, Growth, Verdict, judge
from proofs.history.window import weigh


@dataclass(frozen=True)
class Judged:
    """A case with its measurements, the fewest rows first, and its verdict."""

    use: Use
    kind: str
    found: Sequence[Measured]
    verdict: Verdict


def judged(
    sizes: Sequence[int], *, only: str = "", moved: int = MOVED, weighs: bool = False
) -> Iterator[Judged]:
    """Measure and judge the cases whose name begins with `only`."""
    for use in uses(moved):
        for kind in PASTS:
            if f"{use.name}, {kind}".startswith(only):
                found = list[Measured]()
                for size in sizes:
                    if not found or found[-1].calls <= HOPELESS:
                        weighing = weighs and size == sizes[-1]
                        found.append(measure(use, kind, size, weighs=weighing))
                verdict = judge(use, kind, found, BOUNDS)
                yield Judged(use, kind, found, _as_stated(use, kind, found, verdict))


def _as_stated(use: Use, kind: str, found: Sequence[Measured], verdict: Verdict) -> Verdict:
    """Return a failing verdict if a cost grows without being documented, or
    faster than documented.
    """
    if verdict.growth not in {Growth.PAGED, Growth.BOUNDED}:
        return verdict
    stated = [each.per_hundred for each in GROWS if each.use == use.name and kind in each.kinds]
    if not stated:
        return Verdict(Growth.WORSE, f"{verdict.growth}, and not stated")
    first = found[0]
    for each in found[1:]:
        more = ceil((each.size - first.size) * stated[0] / 100) + MORE
        if each.calls - first.calls > more:
            return Verdict(Growth.WORSE, f"more than {stated[0]} calls for each hundred")
    return verdict


def main() -> int:
    """Return exit status 1 if a case costs more than allowed."""
    parser = argparse.ArgumentParser(prog="proofs.history", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", default="", help="cases that begin so, such as `choose, threads`")
    given = parser.parse_args()
    sizes = sorted(given.sizes)
    print(_head(sizes), flush=True)  # noqa: T201
    counted: Counter[Growth] = Counter()
    differ = 0
    for each in judged(sizes, only=given.only, weighs=True):
        counted[each.verdict.growth] += 1
        print(_line(each, sizes), flush=True)  # noqa: T201
    if not given.only:
        crowded = weigh()
        counted[Growth.BOUNDED if crowded.is_bounded else Growth.WORSE] += 1
        print(crowded.line)  # noqa: T201
        differ = _print_units()
    verdicts = " ".join(f"{growth}={counted[growth]}" for growth in Growth)
    print(f"history: cases={counted.total()} {verdicts}")  # noqa: T201
    return 1 if counted[Growth.WORSE] or differ or not counted else 0


def _print_units() -> int:
    """Print the AWS requests of the main cases. Return the number that differ from the computed."""
    print(f"{'calls, write units and read units at AWS':<37}{'with 10':>22}{'with 100':>24}")  # noqa: T201
    by_name, differ = {use.name: use for use in uses(_MOVED_AT_AWS)}, 0
    with on_moto() as account:
        for name, kind in MAIN:
            parts = []
            for size in (10, 100):
                found = account.ask(by_name[name], kind, size)
                reckoned = measure(by_name[name], kind, size).at_aws
                differs = "" if reckoned == found.calls else f" ({reckoned} reckoned)"
                differ += bool(differs)
                parts.append(
                    f"{found.calls:>8}{differs}{found.write_units:>7}{found.read_units:>7.1f}"
                )
            print(f"{f'{name}, {kind}':<37}{'  '.join(parts)}", flush=True)  # noqa: T201
    return differ


_MOVED_AT_AWS = 20


def _head(sizes: Sequence[int]) -> str:
    columns = "".join(f"{size:>9}" for size in sizes)
    return f"{'calls with so many':<37}{columns} receives longest     MB   CPU"


def _line(each: Judged, sizes: Sequence[int]) -> str:
    missing = len(sizes) - len(each.found)
    calls = "".join(f"{_calls(one):>9}" for one in each.found) + " " * 9 * missing
    last, verdict = each.found[-1], each.verdict
    longest: timedelta = max(one.longest for one in each.found)
    why = f": {verdict.why}" if verdict.why else ""
    return (
        f"{f'{each.use.name}, {each.kind}':<37}{calls} {last.receives:>8}"
        f" {longest.total_seconds():>5.1f} s {last.megabytes:>6.1f} {last.seconds:>5.1f}"
        f"  {verdict.growth}{why}"
    )


def _calls(found: Measured) -> str:
    return str(found.calls) if found.calls <= HOPELESS else f">{HOPELESS}"


if __name__ == "__main__":
    sys.exit(main())
