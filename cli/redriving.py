"""Out of quarantine, back to ingest."""

from dataclasses import dataclass
from datetime import datetime

from cli.console import NotPossible
from cli.queues import Held, Queue, sent_at

_FRUITLESS = 20
"""Receives with nothing old after which it ends, though new messages keep coming."""


@dataclass(frozen=True, slots=True)
class Redriven:
    """How many messages went, and how many stayed. `problem` says why it ended early."""

    moved: int
    left: int
    problem: str = ""


def redrive(*, quarantine: Queue, ingest: Queue, started: datetime) -> Redriven:
    """Move what was in quarantine at `started`; bodies stay as they are.

    What came later stays: it may be what just went, come back still wrong. Each message is
    deleted after it was sent, so that a crash between the two repeats it, which ingest bears.
    """
    moved = fruitless = 0
    problem = ""
    with Held(quarantine) as held:
        try:
            while fruitless < _FRUITLESS and (messages := held.receive()):
                old = [message for message in messages if sent_at(message) <= started]
                for message in old:
                    ingest.send(message["Body"])
                    quarantine.delete(message)
                    held.forget(message)
                    moved += 1
                fruitless = 0 if old else fruitless + 1
        except NotPossible as err:
            problem = str(err)
        left = len(held)
    return Redriven(moved, quarantine.waiting() if problem else left, problem)
