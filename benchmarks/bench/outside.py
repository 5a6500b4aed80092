"""Goals measured by other modules: rendering, cold starts, cost, and the demo from scratch."""

from collections.abc import Mapping
from statistics import median

from benchmarks import cold_start, rendering
from benchmarks.bench.clone import ENGINE, FIRST_EMAIL, current_clone, fresh_clone, timed
from benchmarks.bench.goals import Measured, computed, number, of_one_run, ratio
from benchmarks.bench.shared_stage import SharedStage
from gazette_cli.cost.bill import bill as bill_of
from gazette_cli.cost.command import sums
from gazette_cli.cost.page import ALONE, MILLION, REST, at_quota, dollars
from gazette_cli.cost.prices import read_prices

_FAST = 250
"""The emails per second from which the bill of a fast stage is computed."""


def render(_: SharedStage, rounds: int) -> Mapping[str, Measured]:
    """Compare the rendering of an email with 35 groups, with a cold and a warm cache, with plain
    Jinja2.
    """
    seconds = rendering.measure(rounds)
    floor = seconds[rendering.FLOOR]
    ours = {rendering.COLD, rendering.WARM}
    peers = {name: each for name, each in seconds.items() if name not in ours}
    return {
        f"rendering-{name}": ratio(
            seconds[name],
            floor,
            peers=peers,
            how=f"{number(1000 * median(seconds[name]))} ms an email",
        )
        for name in (rendering.COLD, rendering.WARM)
    }


def cold(_: SharedStage, rounds: int) -> Mapping[str, Measured]:
    """Compare the CPU time of a cold start with that of a module that imports everything."""
    found = cold_start.measure(rounds)
    naive = found[cold_start.PEER]
    others = {name: found[name] for name in found if name not in {"generate", cold_start.PEER}}
    took = ", ".join(f"{name} {1000 * median(each):.0f} ms" for name, each in found.items())
    return {"cold": ratio(found["generate"], naive, peers=others, how=took)}


def bill(_: SharedStage, __: int) -> Mapping[str, Measured]:
    """Compute the variable cost of a million digests per month, and the cost of a stage at rest,
    with `gazette cost`.
    """
    how = "by `gazette cost`: what grows with use, default settings"
    fast = f"{how}, {_FAST} emails per second"
    prices = read_prices()
    peers = {"SES itself": prices.plans["none"].of(1_000_000)}
    return {
        "bill-lists": computed(dollars(MILLION), peers=peers, how=how),
        "bill-singles": computed(dollars(ALONE), peers=peers, how=how),
        "bill-lists-fast": computed(dollars(at_quota(_FAST)), peers=peers, how=fast),
        "bill-singles-fast": computed(dollars(at_quota(_FAST, ALONE)), peers=peers, how=fast),
        "bill-rest": computed(
            sums(bill_of(REST, prices))["total"],
            how="by `gazette cost`: one reader without events, default settings",
        ),
    }


def demo(_: SharedStage, __: int) -> Mapping[str, Measured]:
    """Run `make demo` once in a copy of the project's files, including installation.

    Packages come from the machine's caches if available.
    """
    seconds = timed(fresh_clone(), "demo")
    how = f"including {number(seconds[ENGINE])} s for installation"
    return {
        "demo-first": of_one_run(seconds[FIRST_EMAIL], how=how),
        "demo-day": of_one_run(seconds["end"], how=how),
    }


def week(_: SharedStage, __: int) -> Mapping[str, Measured]:
    """Run `make demo WEEK=1` once in the copy of `demo`, without installation."""
    seconds = timed(current_clone(), "week", "WEEK=1")
    how = f"the first email after {number(seconds[FIRST_EMAIL])} s"
    return {"demo-week": of_one_run(seconds["end"], how=how)}
