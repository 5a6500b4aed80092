"""The redelivery of failed messages within a minute instead of after their visibility time-out, and
the runs that they name."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from random import random

from gazette.adapters.aws.queues import PATIENCE, decode_run_key, hide, sqs_client
from gazette.domain.errors import InvalidEvent, Unavailable
from gazette.domain.identity import SCHEDULE_NAME, USER_ID, run_id
from gazette.domain.ports.queues import MESSAGES_A_CALL
from gazette.domain.redelivery import FEW, MANY, pause_before
from gazette.observability import Message, TimeLeft, logger
from gazette.settings.environment import InvalidSetting, queue_url_of

_MARGIN = timedelta(seconds=2)
"""The time to reserve for the handler's remaining work: metrics and the response."""


def _hide(messages: Sequence[Message], time_left: TimeLeft, pauses: Sequence[timedelta]) -> None:
    """Hide failed messages for a random pause, with one ChangeMessageVisibilityBatch request for
    each ten messages.

    If a request fails, SQS hides its messages for the whole visibility time-out. If too little time
    is left, no request is sent. Lambda might stop the invocation during the request, and messages
    that were already processed would also return.
    """
    for first in range(0, len(messages), MESSAGES_A_CALL):
        _hide_at_once(messages[first : first + MESSAGES_A_CALL], time_left, pauses)


def _hide_at_once(
    messages: Sequence[Message], time_left: TimeLeft, pauses: Sequence[timedelta]
) -> None:
    if time_left() < timedelta(seconds=PATIENCE.longest) + _MARGIN:
        logger().warning(
            "too little time to shorten the messages' redelivery delay", number=len(messages)
        )
        return
    pauses_by_handle = {
        message.receipt_handle: pause_before(message.receives, pauses=pauses, random=random())
        for message in messages
    }
    try:
        hide(sqs_client(), queue_url_of(messages[0].queue), pauses_by_handle)
    except (Unavailable, InvalidSetting) as why:
        logger().warning(
            "messages are redelivered after their visibility time-out",
            why=str(why),
            number=len(messages),
        )


come_back = partial(_hide, pauses=MANY)
"""A function that hides failed messages of a queue that delivers a message at least sixteen times.
"""

come_back_of_few = partial(_hide, pauses=FEW)
"""A function that hides failed messages of the feedback queue, which delivers a message three
times.
"""


def run_of(message: Message) -> str:
    """Return the id of the run that a message names, or "" if the message names no run."""
    try:
        key = decode_run_key(message.body)
    except (InvalidEvent, RecursionError, OverflowError):
        return ""
    is_valid = USER_ID.fullmatch(key.user_id) and SCHEDULE_NAME.fullmatch(key.schedule)
    return run_id(key) if is_valid else ""
