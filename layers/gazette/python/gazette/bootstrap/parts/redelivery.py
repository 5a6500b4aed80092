"""Messages that failed come back within a minute, not after their visibility time-out."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from random import random

from gazette.adapters.aws.queues import PATIENCE, hide, sqs_client
from gazette.domain.errors import Unavailable
from gazette.domain.redelivery import FEW, MANY, pause_before
from gazette.observability import Message, TimeLeft, logger
from gazette.settings.environment import InvalidSetting, queue_url_of

_MARGIN = timedelta(seconds=2)
"""For what a handler does behind it: metrics, and the answer."""


def _hide(messages: Sequence[Message], time_left: TimeLeft, pauses: Sequence[timedelta]) -> None:
    """One ChangeMessageVisibilityBatch. Where it fails, SQS hides them for the whole time-out.

    Without the time for it nothing is asked: the invocation would be cut off, and the messages that
    were processed would come back too.
    """
    if time_left() < timedelta(seconds=PATIENCE.longest) + _MARGIN:
        logger().warning("no time to bring messages back soon", number=len(messages))
        return
    drawn = {
        message.receipt_handle: pause_before(message.receives, pauses=pauses, random=random())
        for message in messages
    }
    try:
        hide(sqs_client(), queue_url_of(messages[0].queue), drawn)
    except (Unavailable, InvalidSetting) as why:
        logger().warning("messages come back later", why=str(why), number=len(messages))


come_back = partial(_hide, pauses=MANY)
"""For queues that deliver a message sixteen times or more."""

come_back_of_few = partial(_hide, pauses=FEW)
"""For the feedback queue, which delivers a message three times."""
