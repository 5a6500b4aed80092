"""The dead-letter queues of a stage, where their messages came from, and what a redrive does."""

from dataclasses import dataclass

from cli.shared.console import NotPossible, printable


@dataclass(frozen=True, slots=True)
class DeadQueue:
    """A queue `gazette-<stage>-<name>`.

    `source`: the queue to which a redrive brings its messages back; None where there is none.
    `sentence`: what a redrive does to each of them; empty where that depends on its run.
    `is_policy`: SQS itself put them there, by the redrive policy of `source`; else EventBridge did,
    or a function. `has_forecast`: a redrive prints what it leads to for each message.
    `is_optional`: only some stages have it.
    """

    name: str
    source: str | None
    sentence: str = ""
    is_policy: bool = True
    has_forecast: bool = False
    is_optional: bool = False

    @property
    def names_runs(self) -> bool:
        """Whether each of its messages is about one run."""
        return self.source in {"generate", "immediate", "resend"}


_STORED = "stored as if it were new; what is stored already changes nothing"
_NOTED = "recorded; a delivery event that was recorded already changes nothing"

KNOWN = (
    DeadQueue("ingest-dead", "ingest", _STORED),
    DeadQueue(
        "followers-dead",
        "followers",
        "its followers are walked again; a follower who has the event gets no second one",
    ),
    DeadQueue(
        "shard-dead",
        "shard",
        "its slots are fanned out again; no digest is started twice",
    ),
    DeadQueue(
        "content-dead",
        "content",
        "its source is asked again if a digest still waits for that; no item comes twice",
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
        "the runs of its partition are swept again, as every five minutes anyway",
    ),
    DeadQueue("undelivered", "ingest", _STORED, is_policy=False),
    DeadQueue("feedback-undelivered", "feedback", _NOTED, is_policy=False),
    DeadQueue(
        "ticks-undelivered",
        None,
        "it cannot be redriven and need not be: the next tick makes up for it; delete it",
        is_policy=False,
    ),
)


OPTIONAL = frozenset(dead.name for dead in KNOWN if dead.is_optional)
"""Those that a stage has only if its digests ask a content source."""


def queue_names(incomplete: str) -> list[str]:
    """The names that begin so, for a shell that completes them."""
    return [dead.name for dead in KNOWN if dead.name.startswith(incomplete)]


def chosen(name: str | None, stage: str) -> tuple[DeadQueue, ...]:
    """The queue of that name, also with `gazette-<stage>-` before it; all where none is given.

    Raises NotPossible.
    """
    if name is None:
        return KNOWN
    short = name.removeprefix(f"gazette-{stage}-")
    found = tuple(dead for dead in KNOWN if dead.name == short)
    if not found:
        raise NotPossible(
            f"QUEUE {printable(name)!r} is no dead-letter queue of stage {printable(stage)}: "
            f"write one of {', '.join(dead.name for dead in KNOWN)}."
        )
    return found
