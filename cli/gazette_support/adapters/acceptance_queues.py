"""The messages of an acceptance in the quarantine, and in the dead letters of generate."""

import json
from typing import Any

from gazette.adapters.aws.dead_letters.queues import Held, queues
from gazette.adapters.aws.dead_letters.transfer import redrive
from gazette.adapters.aws.queues import encode_run_key
from gazette.domain.model import RunKey

_ATTEMPTS = 5
"""The maximum number of receives until SQS returns a message that was just sent."""

_READ = 1000
"""The maximum number of messages in quarantine that are read."""


class SqsStageQuarantine:
    """Implementation of the `Quarantine` port, by the queue `quarantine` of a stage."""

    def __init__(self, stage: str) -> None:
        self._stage = stage

    def take(self, event_id: str) -> str | None:
        """Delete the message with the event, and release all others.

        Costs one ReceiveMessage per ten messages, and one DeleteMessage.
        """
        (queue,) = queues(self._stage, "quarantine")
        with Held(queue) as hidden:
            while len(hidden) < _READ and (messages := hidden.receive()):
                for message in messages:
                    if event_id not in _event_ids(message["Body"]):
                        continue
                    attributes = message.get("MessageAttributes") or {}
                    named = "reason" in attributes
                    reason = attributes["reason"].get("StringValue", "") if named else ""
                    queue.delete(message)
                    hidden.forget(message)
                    return reason
        return None


def _event_ids(body: str) -> set[str]:
    """Return the ids of the events in a message; empty if the message has none."""
    try:
        detail: Any = json.loads(body)["detail"]
        events = detail.get("events", [detail])
        return {str(each["id"]) for each in events if isinstance(each, dict) and "id" in each}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return set()


class SqsDeadLetters:
    """Implementation of the `DeadLetters` port, by the queue `generate-dead` of a stage."""

    def __init__(self, stage: str) -> None:
        self._stage = stage

    def redrive(self, key: RunKey) -> bool:
        """Send a message to the dead-letter queue, and move only this message to generate.

        Costs two SendMessage, one DeleteMessage, and one ReceiveMessage per ten messages.
        """
        body = encode_run_key(key)
        (dead,) = queues(self._stage, "generate-dead")
        (generate,) = queues(self._stage, "generate")
        dead.send(body)
        for _ in range(_ATTEMPTS):
            (dead,) = queues(self._stage, "generate-dead")  # with the current time of SQS
            counts = redrive(
                dead,
                lambda _: generate,
                started=dead.found_at,
                selects=lambda message: message["Body"] == body,
            )
            if counts.problem:
                raise counts.problem
            if counts.moved:
                return True
        return False
