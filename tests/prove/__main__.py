"""`python -m tests.prove`: every world of every scenario; the last line says what became of them.

`--only SCENARIO --position N` tells one world call by call: `12` for every way in which call 12
is struck, `12:killed_after` for one of them, and `12:killed_after+40:killed_before` for two.
"""

import argparse
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.prove.scenario import EVERY_WAY
from tests.prove.scenarios import SCENARIOS
from tests.prove.search import FULL, Effort, Tally, search, world
from tests.prove.story import story
from tests.prove.strikes import How, Plan


def main() -> int:
    """Exit status 0 only if no world violates anything."""
    parser = argparse.ArgumentParser(prog="make prove", description=__doc__)
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--position", default="", help="tell the worlds that are struck here")
    parser.add_argument("--every", type=int, default=FULL.every, help="strike so many-th calls")
    given = parser.parse_args()
    chosen = [one.name for one in SCENARIOS if given.only in one.name]
    if given.position:
        chosen = [one.name for one in SCENARIOS if one.name == given.only]
        if not chosen:
            parser.error(f"--position needs --only with the whole name of a scenario: {given.only}")
        return tell(chosen[0], given.position)
    if not chosen:
        parser.error(f"no scenario has {given.only!r} in its name")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return report(pool.map(partial(search_named, effort=Effort(every=given.every)), chosen))


def search_named(name: str, effort: Effort = FULL) -> Tally:
    """The worlds of the scenario with this name."""
    return search(next(one for one in SCENARIOS if one.name == name), effort)


def report(tallies: Iterable[Tally]) -> int:
    """A line each, and the sum."""
    total = Tally("all")
    for tally in tallies:
        ends = ", ".join(f"{end} {number}" for end, number in sorted(tally.ends.items()))
        say(
            f"{tally.name:40} worlds {tally.worlds:5}  violations {tally.violations}  "
            f"shown twice {tally.twice:4}  events: {ends or 'none'}",
        )
        for told in tally.stories:
            say(told)
        total.worlds += tally.worlds
        total.violations += tally.violations
        total.unknown += tally.unknown
        total.twice += tally.twice
        total.ends += tally.ends
    sent = total.ends["sent"]
    say(
        f"\n{sent} of {total.ends.total()} events were in an email, {total.twice} of them in a "
        f"second one, after a doubt, as the policy resend or carry_over allows where no report "
        f"came in time; {total.ends['assumed']} count as sent because the policy assumes it."
    )
    say(
        "Runs that stay unknown were carried, and nothing of theirs is left for a next digest "
        "to send: so none closes them. They are sent or not; no event waits for the answer."
    )
    say(
        f"prove: worlds={total.worlds} violations={total.violations} "
        f"unresolved_unknown={total.unknown}"
    )
    return 1 if total.violations else 0


def say(text: str) -> None:
    """At once, also where nobody reads along."""
    print(text, flush=True)  # noqa: T201 -- what the command is for


def tell(name: str, position: str) -> int:
    """The story of each world that is struck there."""
    scenario = next(one for one in SCENARIOS if one.name == name)
    failed = False
    for plan in plans_of(position):
        life, verdict = world(scenario, plan)
        say(story(scenario, plan, life, verdict))
        failed = failed or bool(verdict.violations)
    return 1 if failed else 0


def plans_of(position: str) -> list[Plan]:
    """What `position` stands for."""
    if position.isdecimal():
        return [((int(position), how),) for how in (*EVERY_WAY, How.OVERTAKEN)]
    strikes = (strike.partition(":") for strike in position.split("+"))
    return [tuple((int(number), How(how)) for number, _, how in strikes)]


if __name__ == "__main__":
    sys.exit(main())
