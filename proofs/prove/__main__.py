"""`python -m proofs.prove`: run every world of every scenario and print the totals on the last
line.

`--only SCENARIO --position N` prints one world call by call: `12` for every strike on call 12,
`12:killed_after` for one kind of strike, and `12:killed_after+40:killed_before` for two strikes.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from gazette.domain.delivery.signals import Policy

from proofs.prove.land import FAKES, Ground
from proofs.prove.scenario import EVERY_WAY
from proofs.prove.scenarios import ON_MOTO, SCENARIOS
from proofs.prove.search import FULL, Effort, Tally, world
from proofs.prove.search import search as search_worlds
from proofs.prove.story import story
from proofs.prove.strikes import How, Plan
from proofs.prove.without import RULES, taken_out

_GROUNDS = {"fakes": SCENARIOS, "moto": ON_MOTO}
_MOTO = Effort(second=0, reach=2)
"""The reduced effort on moto, where a world takes 200 times as long and runs the same steps."""


def main() -> int:
    """Return exit status 0 only if no world violates a guarantee."""
    parser = argparse.ArgumentParser(prog="make prove", description=__doc__)
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--position", default="", help="tell the worlds that are struck here")
    parser.add_argument("--every", type=int, default=FULL.every, help="strike so many-th calls")
    parser.add_argument("--on", choices=_GROUNDS, help="only our fakes, or the real adapters")
    parser.add_argument("--without", choices=RULES, default="", help="take a rule out")
    given = parser.parse_args()
    if given.position:
        if given.only not in {one.name for one in SCENARIOS}:
            parser.error(f"--position needs --only with the whole name of a scenario: {given.only}")
        return tell(given.only, given.position, given.on or "fakes")
    chosen = [
        (on, one.name)
        for on, scenarios in _GROUNDS.items()
        for one in scenarios
        if given.only in one.name and given.on in {None, on}
    ]
    if not chosen:
        parser.error(f"no scenario has {given.only!r} in its name")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        search = partial(search_named, every=given.every, without=given.without)
        return report(pool.map(search, chosen))


def search_named(chosen: tuple[str, str], every: int, without: str) -> Tally:
    """Search the worlds of a scenario (ground, name) with the rule `without` disabled."""
    on, name = chosen
    scenario = next(one for one in _GROUNDS[on] if one.name == name)
    with taken_out(without), ground_named(on) as ground:
        tally = search_worlds(
            scenario, replace(FULL if on == "fakes" else _MOTO, every=every), ground
        )
    tally.name = f"{on}: {name}"
    return tally


@contextmanager
def ground_named(on: str) -> Iterator[Ground]:
    """Return the ground `fakes` or `moto`. Import moto only when needed, because that takes
    seconds.
    """
    if on == "fakes":
        yield FAKES
        return
    from proofs.prove.on_moto import moto_ground

    with moto_ground() as ground:
        yield ground


def report(tallies: Iterable[Tally]) -> int:
    """Print one line per scenario and the totals."""
    total = Tally("all")
    for tally in tallies:
        ends = ", ".join(f"{end} {number}" for end, number in sorted(tally.ends.items()))
        say(
            f"{tally.name:54} worlds {tally.worlds:5}  violations {tally.violations}  "
            f"most copies {most(tally)}  events: {ends or 'none'}",
        )
        for told in tally.stories:
            say(told)
        total.worlds += tally.worlds
        total.violations += tally.violations
        total.unknown += tally.unknown
        total.copies += tally.copies
        total.ends += tally.ends
    say(
        f"\n{total.ends['sent']} of {total.ends.total()} events were in an email, "
        f"{total.ends['given up']} were given up after two attempts "
        "with an unknown outcome and no acceptance, "
        f"{total.ends['assumed']} count as sent because the policy assumes it."
    )
    for policy in Policy:
        counted = sorted(
            (n, events) for (name, n), events in total.copies.items() if name == policy
        )
        say(f"copies {policy}: " + ", ".join(f"{events} events in {n}" for n, events in counted))
    say(
        "Runs that stay unknown have no events left for a later digest, so no run closes them. "
        "Their emails were sent or not; no event waits for the answer."
    )
    say(f"{total.unknown} runs stay unknown.")
    say(f"prove: worlds={total.worlds} violations={total.violations} max_copies={most(total)}")
    return 1 if total.violations else 0


def most(tally: Tally) -> int:
    """Return the highest number of emails that contained the same event."""
    return max((number for _, number in tally.copies), default=0)


def say(text: str) -> None:
    """Print a line and flush it, so that it also appears in a redirected log."""
    print(text, flush=True)  # noqa: T201 -- what the command is for


def tell(name: str, position: str, on: str) -> int:
    """Print the story of each world that is struck at `position`."""
    scenario = next(one for one in SCENARIOS if one.name == name)
    failed = False
    with ground_named(on) as ground:
        for plan in plans_of(position):
            life, verdict = world(scenario, plan, ground)
            say(story(scenario, plan, life, verdict))
            failed = failed or bool(verdict.violations)
    return 1 if failed else 0


def plans_of(position: str) -> list[Plan]:
    """Return the plans that `position` selects."""
    if position.isdecimal():
        return [((int(position), how),) for how in (*EVERY_WAY, How.OVERTAKEN)]
    strikes = (strike.partition(":") for strike in position.split("+"))
    return [tuple((int(number), How(how)) for number, _, how in strikes)]


if __name__ == "__main__":
    sys.exit(main())
