"""The search of all worlds of a scenario, with each call struck in each way and some twice."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from random import Random

from proofs.prove.acts import Act, put, register
from proofs.prove.land import FAKES, Ground
from proofs.prove.life import FIRST_DUE, Life, Restless
from proofs.prove.scenario import Scenario
from proofs.prove.story import story
from proofs.prove.strikes import How, Plan
from proofs.prove.verdict import Verdict, judge
from tests.builders import NOW

_DEATHS = (How.KILLED_BEFORE, How.KILLED_AFTER)
_STORIES = 3


@dataclass(frozen=True)
class Effort:
    """The thoroughness of a search."""

    every: int = 1
    """The distance between struck positions."""

    second: int = 2
    """The number of positions struck once more in a world that was already struck."""

    reach: int = 16
    """The number of later calls at which the overtaking action may run."""


FULL = Effort()


@dataclass
class Tally:
    """The results of the worlds of a scenario."""

    name: str
    worlds: int = 0
    violations: int = 0
    unknown: int = 0
    copies: Counter[tuple[str, int]] = field(default_factory=Counter)
    """The number of events by policy and by the number of emails that contained them."""

    ends: Counter[str] = field(default_factory=Counter)
    stories: list[str] = field(default_factory=list)
    """Reports of the first violations."""


def world(scenario: Scenario[Life], plan: Plan, ground: Ground = FAKES) -> tuple[Life, Verdict]:
    """Run one world from start to end."""
    life = Life(scenario, plan, ground)
    for after, act in (*_before(scenario), *scenario.acts):
        life.at(FIRST_DUE + after, partial(act, life))
    try:
        life.live()
    except Restless as why:
        verdict = judge(life)
        verdict.violations.insert(0, f"it does not settle: {why}")
    except Exception as err:  # noqa: BLE001 -- whatever nobody expected is what we look for
        verdict = Verdict([f"{type(err).__name__}: {err}"])
    else:
        verdict = judge(life)
    return life, verdict


def _before(scenario: Scenario[Life]) -> Iterator[tuple[timedelta, Act]]:
    """Register the readers and publish their events, the day before."""
    day_before = NOW - FIRST_DUE
    for reader in scenario.readers:
        yield day_before, register(reader, scenario.frequency)
        for number, event in enumerate(scenario.events):
            own = event if reader == "ann" else f"{reader}{event}"
            yield day_before / 2 + timedelta(seconds=number), put(own, reader)


def search(scenario: Scenario[Life], effort: Effort = FULL, ground: Ground = FAKES) -> Tally:
    """Search all worlds of a scenario, starting with the one without strikes."""
    tally = Tally(scenario.name)
    for _ in _searched(tally, scenario, effort, ground):
        pass
    return tally


def is_found(text: str, scenario: Scenario[Life], effort: Effort) -> bool:
    """Return whether a report contains the text. The search stops at the first that does."""
    tally = Tally(scenario.name)
    for _ in _searched(tally, scenario, effort, FAKES):
        if any(text in told for told in tally.stories):
            return True
    return False


def _searched(
    tally: Tally, scenario: Scenario[Life], effort: Effort, ground: Ground
) -> Iterator[None]:
    """Add each world to the tally in turn."""
    random = Random(scenario.name)
    last = 0

    def live(*plan: tuple[int, How]) -> Iterator[None]:
        nonlocal last
        last = _note(tally, scenario, plan, ground)
        yield

    first = random.randrange(effort.every)
    yield from live()
    for position in range(first, last, effort.every):
        for how in scenario.hows:
            yield from live((position, how))
            calls = last
            if how in (*_DEATHS, How.HELD_UP) and calls > position + 1:
                for _ in range(effort.second):
                    second = random.randrange(position + 1, calls)
                    yield from live((position, how), (second, random.choice(_DEATHS)))
        if scenario.meanwhile:
            yield from live((position, How.OVERTAKEN))
            behind = range(position + 1, min(last, position + 1 + effort.reach), effort.every)
            for second in behind:
                for how in _DEATHS:
                    yield from live((position, How.OVERTAKEN), (second, how))


def _note(tally: Tally, scenario: Scenario[Life], plan: Plan, ground: Ground) -> int:
    """Run one world, add it to the tally, and return its number of calls."""
    life, verdict = world(scenario, plan, ground)
    tally.worlds += 1
    tally.unknown += verdict.unknown
    for number, events in verdict.copies.items():
        tally.copies[scenario.policy.value, number] += events
    tally.ends += verdict.ends
    if verdict.violations:
        tally.violations += 1
        if len(tally.stories) < _STORIES:
            tally.stories.append(story(scenario, plan, life, verdict))
    return life.calls.count
