"""The return of failed messages within a minute instead of after their visibility time-out."""

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
"""The time for the handler's remaining work: metrics, and the answer."""


def _hide(messages: Sequence[Message], time_left: TimeLeft, pauses: Sequence[timedelta]) -> None:
    """Hide the messages for a drawn pause. One ChangeMessageVisibilityBatch.

    If it fails, SQS hides them for the whole visibility time-out. If too little time is left, do
    not send the request: Lambda would stop the invocation, and the messages that were processed
    would return too.
    """
    if time_left() < timedelta(seconds=PATIENCE.longest) + _MARGIN:
        logger().warning("no time to bring messages back soon", number=len(messages))
        return
    pauses_by_handle = {
        message.receipt_handle: pause_before(message.receives, pauses=pauses, random=random())
        for message in messages
    }
    try:
        hide(sqs_client(), queue_url_of(messages[0].queue), pauses_by_handle)
    except (Unavailable, InvalidSetting) as why:
        logger().warning("messages come back later", why=str(why), number=len(messages))


come_back = partial(_hide, pauses=MANY)
"""Pauses for queues that deliver a message sixteen times or more."""

come_back_of_few = partial(_hide, pauses=FEW)
"""Pauses for the feedback queue, which delivers a message three times."""
