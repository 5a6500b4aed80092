"""Rules that can be taken out, so that the prover shows what it sees without them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from unittest.mock import patch

from gazette.domain.delivery import run

from tests import world

ONE_BREAKER = False
"""Whether both streams share a row of pace and breaker."""


@contextmanager
def _no_settle_lag() -> Iterator[None]:
    nothing = timedelta(0)
    fanout = replace(world.FANOUT, settle_lag=nothing)
    with (
        patch.object(world, "SETTLE_LAG", nothing),
        patch.object(world, "FANOUT", fanout),
    ):
        yield


@contextmanager
def taken_out(rule: str) -> Iterator[None]:
    """Live without the rule; with all of them where none is named."""
    with ExitStack() as stack:
        match rule:
            case "settle-lag":
                stack.enter_context(_no_settle_lag())
            case "two-unknown":
                stack.enter_context(patch.object(run, "MAX_UNKNOWN_ATTEMPTS", 1_000_000))
            case "two-breakers":
                stack.enter_context(patch(f"{__name__}.ONE_BREAKER", new=True))
        yield


RULES = ("settle-lag", "two-unknown", "two-breakers")
