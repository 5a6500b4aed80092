"""Store the entities that readers have seen, so that no email shows their earlier events."""

from datetime import timedelta

from gazette.domain.commands import MarkSeen
from gazette.domain.outcome import Outcome
from gazette.domain.ports.stores import SeenMarks
from gazette.domain.subscribers.subscriber import Erased, Reader, Subscriber, was_erased
from gazette.domain.window.seen import SeenMark
from gazette.steps.context import RoutingContext
from gazette.steps.runs import raise_epochs
from gazette.steps.subscribers.sunset import mark_active

ANNOUNCED_AHEAD = timedelta(days=30)
"""The time by which `seen_until` exceeds the end of a mark, so that it is rarely written."""


def mark_seen(command: MarkSeen, *, seen_marks: SeenMarks, context: RoutingContext) -> Outcome:
    """Store that a reader has seen an entity, and the reader's activity (rule 26).

    Safe to repeat, in any order: the latest mark prevails. The mark is stored first, and then the
    reader is read, so that a concurrent erasure either deletes the mark or is found here. The
    epochs of the entity's immediate runs, including urgent ones, are raised last, because a worker
    may have read the events before the mark was stored. A digest whose worker has already read the
    marks may still show events that the reader has just seen.
    """
    user_id, at = command.user_id, command.at
    mark = SeenMark(user_id, command.entity, at)
    seen_marks.put(mark)
    reader = context.subscribers.get(user_id)
    if isinstance(reader, Erased) or was_erased(reader, at):
        seen_marks.remove(mark)
        return Outcome.ERASED
    _announce(user_id, reader, seen_marks, context)
    raise_epochs(context.runs.of_thread(user_id, command.entity), runs=context.runs)
    outcome = mark_active(user_id, at, context=context)
    return Outcome.SEEN if outcome is Outcome.ACTIVE else outcome


def _announce(user_id: str, reader: Reader, seen_marks: SeenMarks, context: RoutingContext) -> None:
    """Store in the reader's row that the reader has marks, so that workers read the marks."""
    until = context.clock() + seen_marks.kept_for
    known = reader.seen_until if isinstance(reader, Subscriber) else None
    if known is None or known < until.date():
        context.subscribers.mark_seen(user_id, (until + ANNOUNCED_AHEAD).date())
