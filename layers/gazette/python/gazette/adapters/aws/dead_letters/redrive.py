"""Redrive a dead-letter queue with an SQS message move task, or message by message."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from botocore.exceptions import ClientError

from gazette.adapters.aws.dead_letters.messages import read
from gazette.adapters.aws.dead_letters.queues import Queue, refusals_of
from gazette.adapters.aws.dead_letters.transfer import RedriveCounts, redrive
from gazette.domain.dead_letters import DeadLetter, DeadQueue, Interrupted

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import ListMessageMoveTasksResultEntryTypeDef

Task = Union["ListMessageMoveTasksResultEntryTypeDef", None]

Report = Callable[[str], None]
"""A function that reports the progress."""

_BETWEEN_LOOKS = 1.0
"""The interval between polls of a move task, in seconds."""

_LOOKS = 15
"""The maximum number of polls to wait for SQS to list a new move task."""

_NOT_OFFERED = (
    "InvalidAction",
    "UnknownOperation",
    "UnknownOperationException",
    "UnsupportedOperation",
)
"""The SQS error codes for unavailable move tasks, and for a queue that is not a dead-letter queue.
"""

_UNDER_WAY = {"RUNNING", "CANCELLING"}


@dataclass(frozen=True, slots=True)
class NotOffered:
    """The result if SQS does not support move tasks for a queue."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A selection of the messages to redrive."""

    # Returns True for a message to redrive. May raise Interrupted.
    selects: Callable[[DeadLetter], bool]

    # Called after each moved message.
    on_moved: Callable[[DeadLetter], None]


def move(
    dead: DeadQueue, waiting: Queue, target: Queue, *, choice: Choice | None, report: Report
) -> RedriveCounts:
    """Move all messages from one queue to another, or only the messages that `choice` selects.

    No message is lost, and duplicates are harmless. An SQS move task moves the messages if SQS
    supports move tasks for the queue and `choice` is not specified. Otherwise, the messages are
    received, sent and deleted one by one.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
    """
    if choice:
        return redrive(
            waiting,
            lambda _: target,
            started=waiting.found_at,
            selects=lambda message: choice.selects(read(dead, message)),
            on_moved=lambda message: choice.on_moved(read(dead, message)),
        )
    if dead.is_policy:
        moved = _by_task(waiting, target, report)
        if isinstance(moved, RedriveCounts):
            return moved
        report("SQS move tasks are not available. Moving the messages one by one.")
    return redrive(waiting, lambda _: target, started=waiting.found_at)


def _by_task(waiting: Queue, target: Queue, report: Report) -> RedriveCounts | NotOffered:
    """Move the messages with an SQS move task. If a task is already running, wait until it ends.

    SQS allows one task per queue. The task specifies its target, because SQS does not know the
    source of messages that a function sent.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/troubleshooting-dlq-redrive.html
    """
    source, destination = waiting.arn(), target.arn()
    with refusals_of(waiting.name):
        try:
            ended = _latest(waiting, source)
            if _is_under_way(ended):
                ended = None
            else:
                waiting.client.start_message_move_task(SourceArn=source, DestinationArn=destination)
        except ClientError as err:
            code = err.response.get("Error", {}).get("Code", "")
            if code.rpartition(".")[2] in _NOT_OFFERED:
                return NotOffered()
            raise
        task = _followed(waiting, source, ended, report)
    moved = task.get("ApproximateNumberOfMessagesMoved", 0) if task else 0
    return RedriveCounts(moved, waiting.waiting(), problem=_problem(task, waiting, target))


def _followed(waiting: Queue, source: str, ended: Task, report: Report) -> Task:
    """Wait until the task ends. Return the task, or None if SQS does not list the task.

    `ended` is the previous task, which had already ended.
    """
    latest = ""
    for _ in range(_LOOKS):
        if (task := _latest(waiting, source)) and (_is_under_way(task) or not _is(task, ended)):
            break
        _pause(_BETWEEN_LOOKS)
    else:
        return None
    while _is_under_way(task):
        if (progress := _progress(task)) != latest:
            report(progress)
            latest = progress
        _pause(_BETWEEN_LOOKS)
        task = _latest(waiting, source)
    return task


def _latest(waiting: Queue, source: str) -> Task:
    answer = waiting.client.list_message_move_tasks(SourceArn=source, MaxResults=1)
    return next(iter(answer.get("Results", [])), None)


def _is(task: Task, ended: Task) -> bool:
    """Return True if two entries describe the same move task."""
    return bool(task and ended) and _started(task) == _started(ended)


def _started(task: Task) -> int:
    return task.get("StartedTimestamp", 0) if task else 0


def _is_under_way(task: Task) -> bool:
    return task is not None and task.get("Status") in _UNDER_WAY


def _progress(task: Task) -> str:
    if task is None:
        return ""
    moved = task.get("ApproximateNumberOfMessagesMoved", 0)
    return f"{moved} of about {task.get('ApproximateNumberOfMessagesToMove', '?')} moved"


def _problem(task: Task, waiting: Queue, target: Queue) -> Interrupted | None:
    """Return the cause of a task's failure, such as a missing permission, or None if the task did
    not fail.
    """
    status = task.get("Status", "") if task else ""
    if status == "COMPLETED":
        return None
    if task is None or status != "FAILED":
        seen = f"was {status.lower()}" if status else "is not listed yet"
        return Interrupted(f"The SQS task that redrives {waiting.name} {seen}.")
    return Interrupted(
        f"SQS stopped the redrive ({task.get('FailureReason', 'no reason')}). Your credentials "
        "need sqs:ReceiveMessage, sqs:DeleteMessage and sqs:GetQueueAttributes on "
        f"{waiting.name}, and sqs:SendMessage on {target.name}."
    )


def _pause(seconds: float) -> None:
    time.sleep(seconds)
