"""How long one email may take, and the invocation that sends it. All of it in seconds."""

LONGEST_INVOCATION = 900
"""https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""

LONGEST_WAIT_FOR_A_PERMIT = 5

PREPARING = 60
"""To read, group and render an email, and to look up the name of the server."""

_COMMAND_STAGES = 9
"""To connect, seven commands at most, and the message up to its end."""


def smtp_budget(*, command: int, reply: int) -> int:
    """The longest exchange with an SMTP server: each stage at its most, and then its last reply."""
    return _COMMAND_STAGES * command + reply


def invocation_of_one(*, budget: int, commit_margin: int) -> int:
    """What an invocation needs to prepare one email, wait for its permit, and send it."""
    return PREPARING + LONGEST_WAIT_FOR_A_PERMIT + budget + commit_margin
