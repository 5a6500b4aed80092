"""Random numbers of cohorts: exact, and in a time that hardly grows with the number of readers."""

from collections.abc import Iterator
from math import exp
from random import Random

_FEW = 24
"""Up to so many trials are made one by one."""


def binomial(random: Random, trials: int, chance: float) -> int:
    """Return how many of so many trials succeed.

    Exact: the middle one of `trials` uniform numbers is drawn, which halves what is left to draw.
    L. Devroye, Non-Uniform Random Variate Generation (1986), X.4.3.
    """
    found = 0
    while trials > _FEW and 0 < chance < 1:
        middle = (trials + 1) // 2
        at = random.betavariate(middle, trials + 1 - middle)
        if at <= chance:
            found += middle
            trials -= middle
            chance = min(1.0, (chance - at) / (1 - at))
        else:
            trials = middle - 1
            chance = min(1.0, chance / at)
    if chance >= 1:
        return found + trials
    if chance <= 0:
        return found
    return found + sum(random.random() < chance for _ in range(trials))


def poisson(random: Random, mean: float) -> int:
    """Return how many events happen where `mean` are expected.

    Exact: the instant of an event a little before the last one is drawn, then what is left of it.
    J. Ahrens and U. Dieter, Computer methods for sampling from gamma, beta, Poisson and binomial
    distributions (1974).
    """
    found = 0
    while mean > _FEW:
        some = int(mean * 7 / 8)
        at = random.gammavariate(some, 1)
        if at >= mean:
            return found + binomial(random, some - 1, mean / at)
        found += some
        mean -= at
    least, product = exp(-mean), random.random()
    while product > least:
        found += 1
        product *= random.random()
    return found


def split(random: Random, number: int, parts: int) -> Iterator[int]:
    """Yield how many of `number` fall into each of so many equal parts."""
    for left in range(parts, 1, -1):
        some = binomial(random, number, 1 / left) if number else 0
        number -= some
        yield some
    yield number


def apportion(number: int, weights: list[float]) -> list[int]:
    """Return `number` in whole parts as near to their weights as can be; they add up to it."""
    total, found, ahead = sum(weights), [], 0.0
    given = 0
    for weight in weights:
        ahead += number * weight / total
        part = round(ahead) - given
        given += part
        found.append(part)
    return found
