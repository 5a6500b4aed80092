"""Redrive a dead-letter queue: by a task of SQS, or by receive, send and delete."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from botocore.exceptions import ClientError

from cli.dead_letters.queues import DeadQueue
from cli.dead_letters.sqs_queues import Queue
from cli.dead_letters.transfer import Redriven, redrive
from cli.shared.aws_errors import refusals_in_words

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import (
        ListMessageMoveTasksResultEntryTypeDef,
        MessageTypeDef,
    )

Task = Union["ListMessageMoveTasksResultEntryTypeDef", None]

Report = Callable[[str], None]
"""Prints the progress."""

_BETWEEN_LOOKS = 1.0
"""Seconds."""

_LOOKS = 15
"""How many looks it may take until SQS lists a new task."""

_NOT_OFFERED = (
    "InvalidAction",
    "UnknownOperation",
    "UnknownOperationException",
    "UnsupportedOperation",
)
"""Error codes: the engine has no such tasks, or the queue is no dead-letter queue."""

_UNDER_WAY = {"RUNNING", "CANCELLING"}


@dataclass(frozen=True, slots=True)
class NotOffered:
    """SQS has no redrive tasks for this queue."""


@dataclass(frozen=True, slots=True)
class Choice:
    """`selects` says whether a message is redriven; `on_moved` is called after it was."""

    selects: "Callable[[MessageTypeDef], bool]"
    on_moved: "Callable[[MessageTypeDef], None]"


def move(
    dead: DeadQueue, waiting: Queue, target: Queue, *, choice: Choice | None, report: Report
) -> Redriven:
    """Bring back what waits, all of it or by `choice`. Never loses a message; one may go twice.

    That is harmless: messages carry only keys, or what is stored once. SQS moves by itself what
    its redrive policy put there (`waiting` must be the dead-letter queue of another); what
    EventBridge put there, what was chosen, and anything on an engine without such tasks, goes by
    hand.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
    """
    if choice:
        return redrive(
            waiting,
            lambda _: target,
            started=waiting.found_at,
            selects=choice.selects,
            on_moved=choice.on_moved,
        )
    if dead.is_policy:
        moved = _by_task(waiting, target, report)
        if isinstance(moved, Redriven):
            return moved
        report("SQS offers no redrive task here: each message is received, sent and deleted.")
    return redrive(waiting, lambda _: target, started=waiting.found_at)


def _by_task(waiting: Queue, target: Queue, report: Report) -> Redriven | NotOffered:
    """One that is under way already is followed: SQS allows one a queue.

    The target is named, because what a function put there itself has no source that SQS knows of.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/troubleshooting-dlq-redrive.html
    """
    source, destination = waiting.arn(), target.arn()
    with refusals_in_words(waiting.name):
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
    return Redriven(moved, waiting.waiting(), problem=_problem(task, waiting, target))


def _followed(waiting: Queue, source: str, ended: Task, report: Report) -> Task:
    """The task once it has ended, unlike that one, which had before; None where none is seen."""
    said = ""
    for _ in range(_LOOKS):
        if (task := _latest(waiting, source)) and (_is_under_way(task) or not _is(task, ended)):
            break
        _pause(_BETWEEN_LOOKS)
    else:
        return None
    while _is_under_way(task):
        if (progress := _progress(task)) != said:
            report(progress)
            said = progress
        _pause(_BETWEEN_LOOKS)
        task = _latest(waiting, source)
    return task


def _latest(waiting: Queue, source: str) -> Task:
    found = waiting.client.list_message_move_tasks(SourceArn=source, MaxResults=1)
    return next(iter(found.get("Results", [])), None)


def _is(task: Task, ended: Task) -> bool:
    """Whether it is the one that had ended before."""
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


def _problem(task: Task, waiting: Queue, target: Queue) -> str:
    """Why the task failed, usually a missing permission; empty if it succeeded."""
    status = task.get("Status", "") if task else ""
    if status == "COMPLETED":
        return ""
    if task is None or status != "FAILED":
        seen = f"was {status.lower()}" if status else "is not listed yet"
        return f"The SQS task that redrives {waiting.name} {seen}."
    return (
        f"SQS stopped ({task.get('FailureReason', 'no reason')}): your credentials need "
        "sqs:ReceiveMessage, sqs:DeleteMessage and sqs:GetQueueAttributes on "
        f"{waiting.name}, and sqs:SendMessage on {target.name}."
    )


def _pause(seconds: float) -> None:
    time.sleep(seconds)
