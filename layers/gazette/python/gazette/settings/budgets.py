"""How long one email may take, the invocation that sends it, and one write of an event.

All times are in seconds, unless the name says otherwise.
"""

import math
from datetime import timedelta

from gazette.domain.delivery.pace import LONGEST_WAIT_FOR_A_PERMIT
from gazette.domain.ports.mail import SMTP_COMMANDS

LONGEST_INVOCATION = 900
"""https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""

EVENT_WRITE_TIMEOUT_MS = 1500
"""The longest that one attempt to write an event takes. The settle lag must be longer."""

MAX_RATE_WITH_SMTP = 500
"""Emails a second. An invocation has one message, so each permit is a write of one row."""

PREPARING = 60
"""To read, group and render an email, and to look up the name of the server."""


def smtp_budget(*, command: int, reply: int) -> int:
    """The longest exchange with an SMTP server.

    `command` limits the connection, each command, and the message up to its end; `reply` limits
    the answer to the message.
    """
    return (1 + SMTP_COMMANDS + 1) * command + reply


def invocation_of_one(*, budget: int, commit_margin: int) -> int:
    """What an invocation needs to prepare one email, wait for its permit, and send it."""
    wait = math.ceil(LONGEST_WAIT_FOR_A_PERMIT / timedelta(seconds=1))
    return PREPARING + wait + budget + commit_margin
