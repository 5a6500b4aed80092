"""Time limits for sending an email and for an invocation."""

from datetime import timedelta

from gazette.domain.delivery.batching import LONGEST_WAIT_FOR_A_PERMIT
from gazette.domain.ports.mail import SMTP_COMMANDS
from gazette.domain.scheduling.limits import COMMIT_MARGIN

LONGEST_INVOCATION = timedelta(minutes=15)
"""The maximum timeout of a Lambda function.
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
"""

MAX_RATE_WITH_SMTP = 500
"""The maximum number of emails per second over SMTP.

An invocation handles one message, so each permit costs one write.
"""

PREPARING = timedelta(minutes=1)
"""The time to read, group and render an email and to look up the address of the mail server."""


SMTP_COMMAND_TIMEOUT = timedelta(seconds=20)
"""The time limit for connecting to an SMTP server, for each command, and for transmitting the
message."""


def smtp_budget(*, reply: timedelta) -> timedelta:
    """Return the maximum duration of an exchange with an SMTP server.

    `reply` limits the server's response to the message.
    """
    return (1 + SMTP_COMMANDS + 1) * SMTP_COMMAND_TIMEOUT + reply


def invocation_of_one(*, budget: timedelta) -> timedelta:
    """Return the maximum time to prepare one email, wait for its permit, and send it."""
    return PREPARING + LONGEST_WAIT_FOR_A_PERMIT + budget + COMMIT_MARGIN
