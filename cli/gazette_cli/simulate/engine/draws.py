"""Exact random numbers for cohorts. The time to draw these numbers hardly depends on the number of
readers.
"""

from collections.abc import Iterator
from math import exp
from random import Random

_FEW = 24
"""The maximum number of trials that are drawn one by one."""


def binomial(random: Random, trials: int, chance: float) -> int:
    """Return the number of successful trials.

    The algorithm is exact. It draws the median of `trials` uniform numbers, which halves the number
    of remaining trials. L. Devroye, Non-Uniform Random Variate Generation (1986), X.4.3.
    """
    successes = 0
    while trials > _FEW and 0 < chance < 1:
        middle = (trials + 1) // 2
        at = random.betavariate(middle, trials + 1 - middle)
        if at <= chance:
            successes += middle
            trials -= middle
            chance = min(1.0, (chance - at) / (1 - at))
        else:
            trials = middle - 1
            chance = min(1.0, chance / at)
    if chance >= 1:
        return successes + trials
    if chance <= 0:
        return successes
    return successes + sum(random.random() < chance for _ in range(trials))


def poisson(random: Random, mean: float) -> int:
    """Return a Poisson-distributed number of events with the expectation `mean`.

    The algorithm is exact. It draws the time of an event shortly before the last event, then the
    remaining events. J. Ahrens and U. Dieter, Computer methods for sampling from gamma, beta,
    Poisson and binomial distributions (1974).
    """
    events = 0
    while mean > _FEW:
        some = int(mean * 7 / 8)
        at = random.gammavariate(some, 1)
        if at >= mean:
            return events + binomial(random, some - 1, mean / at)
        events += some
        mean -= at
    least, product = exp(-mean), random.random()
    while product > least:
        events += 1
        product *= random.random()
    return events


def split(random: Random, number: int, parts: int) -> Iterator[int]:
    """Assign items randomly to parts with equal probability, and yield the number of items in each
    part.
    """
    for remaining in range(parts, 1, -1):
        some = binomial(random, number, 1 / remaining) if number else 0
        number -= some
        yield some
    yield number


def apportion(number: int, weights: list[float]) -> list[int]:
    """Divide a number into integers whose proportions match the weights as closely as possible."""
    total, parts, exact = sum(weights), [], 0.0
    assigned = 0
    for weight in weights:
        exact += number * weight / total
        part = round(exact) - assigned
        assigned += part
        parts.append(part)
    return parts
