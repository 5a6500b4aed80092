"""The dead-letter queues of a stage, their sources, and the effect of a redrive."""

from dataclasses import dataclass

from gazette_cli.shared.console import NotPossible, printable


@dataclass(frozen=True, slots=True)
class DeadQueue:
    """A dead-letter queue `gazette-<stage>-<name>`."""

    name: str

    # The queue to which a redrive moves the messages, or None if they cannot be redriven.
    source: str | None

    # The effect of a redrive on each message, or "" if it depends on the run.
    sentence: str = ""

    # True if the redrive policy of `source` moves messages to this queue. False if EventBridge or a
    # function sends them.
    is_policy: bool = True

    # True if a redrive prints a forecast for each message.
    has_forecast: bool = False

    # True if only some stages have the queue.
    is_optional: bool = False

    @property
    def names_runs(self) -> bool:
        """True if each message names a run."""
        return self.source in {"generate", "immediate", "resend"}


_STORED = "the event is stored like a new event; a duplicate changes nothing"
_NOTED = "the delivery event is recorded; a duplicate changes nothing"

KNOWN = (
    DeadQueue("ingest-dead", "ingest", _STORED),
    DeadQueue(
        "followers-dead",
        "followers",
        "the activity is routed to the followers again; a follower who already has the event "
        "does not get a duplicate",
    ),
    DeadQueue(
        "shard-dead",
        "shard",
        "the slots are fanned out again; no digest is started twice",
    ),
    DeadQueue(
        "content-dead",
        "content",
        "the content source is queried again if a digest is still waiting for items; items are "
        "not duplicated",
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
        "the runs of the partition are swept again; a sweep also runs every five minutes",
    ),
    DeadQueue("undelivered", "ingest", _STORED, is_policy=False),
    DeadQueue("feedback-undelivered", "feedback", _NOTED, is_policy=False),
    DeadQueue(
        "ticks-undelivered",
        None,
        "a tick cannot be redriven; the next tick does the same work, so delete the message",
        is_policy=False,
    ),
)


OPTIONAL = frozenset(dead.name for dead in KNOWN if dead.is_optional)
"""The queues that exist only in stages with a content source."""


def queue_names(incomplete: str) -> list[str]:
    """Return the names of queues that begin with a prefix, for shell completion."""
    return [dead.name for dead in KNOWN if dead.name.startswith(incomplete)]


def chosen(name: str | None, stage: str) -> tuple[DeadQueue, ...]:
    """Return the queue with the given name, or all queues if the name is None. The prefix
    `gazette-<stage>-` is optional.

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
