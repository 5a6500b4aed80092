"""Limits of the effect that a message of an invocation has on the other messages: the time that its
processing takes, and its error.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from gazette.domain.errors import NotYet
from gazette.domain.ports.clock import TimeLeft

ResultT = TypeVar("ResultT")

LONGEST = timedelta(seconds=30)
"""The maximum time for a message in one invocation. Longer work continues at the next receive."""

PIECE = timedelta(seconds=6)
"""An upper bound for a piece of work between two time checks, such as a page."""


def require_time(time_left: TimeLeft, *, least: timedelta = LONGEST) -> None:
    """Raise NotYet if less time than `least` is left in the invocation.

    The default is a message's share.
    """
    if time_left() < least:
        raise NotYet("Too little time is left in this invocation to start more work.")


def share(time_left: TimeLeft) -> TimeLeft:
    """Start a message's share of the invocation, and return a function that returns the time left.

    The share prevents a slow message from taking the time of other messages in the batch.
    Processing of the message stops between two pieces of work, after LONGEST less PIECE, and
    completed work is kept.
    """
    behind = time_left() - LONGEST
    return lambda: time_left() - behind


def unlimited() -> timedelta:
    """Return an unlimited remaining time, for messages that are retried if the invocation is cut
    off.
    """
    return timedelta.max


def result_or_error(act: Callable[[], ResultT]) -> ResultT | Exception:
    """Call `act` for one of several messages. Return its result or error, so that the error does
    not affect the other messages.

    The caller distinguishes unexpected errors.
    """
    try:
        return act()
    except Exception as err:  # noqa: BLE001 -- whatever the error, the other messages are handled
        return err
