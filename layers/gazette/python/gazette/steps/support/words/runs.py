"""The words for a run of a reader, with its dead letter and the reader's status."""

import re
from dataclasses import replace

from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.explanation import DeadRun, ExplainedRun, Explanation
from gazette.steps.support.reasons import Words, words_for
from gazette.steps.support.words.phrases import utc

_OF_THE_NEXT = re.compile(
    r"(The (next digest|digest at the new hour)\b|Events of an immediate email|It is sent when)"
)
_SENTENCES = re.compile(r"(?<=\.) ")
_CONDITIONAL = {Reason.UNKNOWN_SUBSCRIBER, Reason.NOT_ALLOWED, Reason.DORMANT}
"""The reasons whose words name what the reader or a service must do before the next digest."""

_NO_DIGEST = "The reader gets no email at present."
_ENDS_UNSENT = (
    "The reader gets no email at present, so the run ends without an email when its message is "
    "processed."
)


def words_in(entry: ExplainedRun, found: Explanation) -> Words:
    """Return the meaning of a run of an explanation, and what to do."""
    return words_of(entry.run, dead=entry.dead, is_off=found.is_off(entry.run.key.schedule))


def words_of(run: Run, *, dead: DeadRun | None, is_off: bool) -> Words:
    """Return the meaning of a run, and what to do.

    `dead` is the run's message in a dead-letter queue. `is_off` is True if the reader gets no email
    of the run's schedule at present.
    """
    words = words_for(run)
    if dead and run.status in {Status.PENDING, Status.RETRYING}:
        words = Words(
            f"its message, which was queued at {utc(dead.since)}, failed and is in {dead.queue}",
            "The email is not sent until the message is redriven, or until the sweep queues the "
            f"run again, at {utc(run.check_at)} or later. Fix the cause first.",
        )
    if not is_off:
        return words
    if run.status in {Status.PENDING, Status.RETRYING} and not run.uncertain:
        return replace(words, todo=_ENDS_UNSENT)
    return (
        words
        if not run.status.is_final or run.reason in _CONDITIONAL
        else replace(words, todo=_without_next(words.todo))
    )


def _without_next(todo: str) -> str:
    """Return what to do, without sentences about a next digest that the reader does not get."""
    sentences = _SENTENCES.split(todo)
    others = [each for each in sentences if not _OF_THE_NEXT.match(each)]
    return " ".join(others if len(others) == len(sentences) else [*others, _NO_DIGEST])
