"""Rules that can be taken out, so that the prover shows what it sees without them."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import timedelta
from unittest.mock import patch

from gazette.domain import run

from tests import world

ONE_BRAKE = False
"""Whether both streams share a row of pace and breaker."""


@contextmanager
def _no_settle_lag() -> Iterator[None]:
    nothing = timedelta(0)
    fanout = replace(world.FANOUT, settle_lag=nothing)
    with (
        patch.object(world, "SETTLE_LAG", nothing),
        patch.object(world, "FANOUT", fanout),
        patch("tests.prove.workers.FANOUT", fanout),
    ):
        yield


@contextmanager
def taken_out(rule: str) -> Iterator[None]:
    """Live without the rule; with all of them where none is named."""
    with {
        "": nullcontext,
        "settle-lag": _no_settle_lag,
        "two-doubts": lambda: patch.object(run, "MOST_DOUBTS", 1_000_000),
        "two-brakes": lambda: patch(f"{__name__}.ONE_BRAKE", new=True),
    }[rule]():
        yield


RULES = ("settle-lag", "two-doubts", "two-brakes")
