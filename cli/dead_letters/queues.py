"""The dead-letter queues of a stage, their sources, and the effect of a redrive."""

from dataclasses import dataclass

from cli.shared.console import NotPossible, printable


@dataclass(frozen=True, slots=True)
class DeadQueue:
    """A dead-letter queue `gazette-<stage>-<name>`."""

    name: str

    # The queue that a redrive moves the messages to, or None if they cannot be redriven.
    source: str | None

    # The effect of a redrive on each message, or "" if it depends on the run.
    sentence: str = ""

    # True if SQS moves messages here, by the redrive policy of `source`. False if EventBridge or a
    # function sends them.
    is_policy: bool = True

    # True if a redrive prints its forecast for each message.
    has_forecast: bool = False

    # True if only some stages have the queue.
    is_optional: bool = False

    @property
    def names_runs(self) -> bool:
        """True if each message is about one run."""
        return self.source in {"generate", "immediate", "resend"}


_STORED = "stored like a new event; a duplicate changes nothing"
_NOTED = "recorded; a duplicate of a recorded delivery event changes nothing"

KNOWN = (
    DeadQueue("ingest-dead", "ingest", _STORED),
    DeadQueue(
        "followers-dead",
        "followers",
        "its activity is routed to the followers again; a follower who has the event does not get "
        "a duplicate",
    ),
    DeadQueue(
        "shard-dead",
        "shard",
        "its slots are fanned out again; no digest is started twice",
    ),
    DeadQueue(
        "content-dead",
        "content",
        "its content source is queried again if a digest still waits for it; items are not "
        "duplicated",
        is_optional=True,
    ),
    DeadQueue("generate-dead", "generate"),
    DeadQueue("immediate-dead", "immediate"),
    DeadQueue("resend-dead", "resend"),
    DeadQueue("failed", "resend", is_policy=False, has_forecast=True),
    DeadQueue("feedback-dead", "feedback", _NOTED),
    DeadQueue(
        "sweep-dead",
        "sweep",
        "the runs of its partition are swept again, which also happens every five minutes",
    ),
    DeadQueue("undelivered", "ingest", _STORED, is_policy=False),
    DeadQueue("feedback-undelivered", "feedback", _NOTED, is_policy=False),
    DeadQueue(
        "ticks-undelivered",
        None,
        "a tick cannot be redriven, and the next tick does its work; delete it",
        is_policy=False,
    ),
)


OPTIONAL = frozenset(dead.name for dead in KNOWN if dead.is_optional)
"""The queues of stages with a content source."""


def queue_names(incomplete: str) -> list[str]:
    """Return the names that complete a prefix, for the shell."""
    return [dead.name for dead in KNOWN if dead.name.startswith(incomplete)]


def chosen(name: str | None, stage: str) -> tuple[DeadQueue, ...]:
    """Return the queue with a name, with or without `gazette-<stage>-`, or all queues for None.

    Raises NotPossible.
    """
    if name is None:
        return KNOWN
    short = name.removeprefix(f"gazette-{stage}-")
    matches = tuple(dead for dead in KNOWN if dead.name == short)
    if not matches:
        raise NotPossible(
            f"QUEUE {printable(name)!r} is not a dead-letter queue of stage {printable(stage)}. "
            f"Specify one of {', '.join(dead.name for dead in KNOWN)}."
        )
    return matches
