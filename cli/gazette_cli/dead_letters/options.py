"""The options that select dead-letter queues and their messages."""

from datetime import datetime

from gazette.domain.console import remedies
from gazette.domain.dead_letters import KNOWN, DeadQueue, Selection
from gazette.domain.identity import parse_run_id
from gazette.domain.model import RunKey

from gazette_cli.shared.console import NotPossible, printable
from gazette_cli.shared.slots import named_slot


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


def select(run: str | None, batch: str | None, on: datetime | None) -> Selection:
    """Return the selection that the command's options specify. Raises NotPossible."""
    return Selection(
        run=_run(run) if run else None,
        batch=named_slot(batch, name="--batch") if batch else None,
        on=on.date() if on else None,
    )


def _run(text: str) -> RunKey:
    try:
        return parse_run_id(text)
    except ValueError as err:
        raise NotPossible(
            f"--run {printable(text)!r} is not a run id. {remedies.RUN} "
            "`gazette dlq show` and `gazette explain` show the ids."
        ) from err
