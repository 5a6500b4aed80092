"""The promise of events out: the last event about each run corresponds to its row."""

from collections.abc import Iterable

from gazette.adapters.dynamodb.changes import StreamDecoder
from gazette.domain.delivery.run import Run, Status
from gazette.domain.events_out.changes import events_of
from gazette.domain.events_out.events import EmailEvent, EventType
from gazette.domain.events_out.runs import QUIET
from gazette.domain.model import RunKey

from proofs.state.provider import NotingRuns
from tests.streams import ENGAGEMENT, RUNS, SUBSCRIBERS, run_records

_DECODE = StreamDecoder(subscribers=SUBSCRIBERS, runs=RUNS, engagement=ENGAGEMENT)
_TYPES = {
    Status.SENT: EventType.EMAIL_SENT,
    Status.SKIPPED: EventType.EMAIL_SKIPPED,
    Status.FAILED: EventType.EMAIL_FAILED,
}


def misreported(runs: NotingRuns) -> Iterable[str]:
    """Yield runs whose last event out does not correspond to their row.

    Every write becomes a record of a stream, with the row before and after it.
    """
    last: dict[RunKey, EventType] = {}
    for record in run_records(runs.history):
        for event in events_of(_DECODE(record)):
            if isinstance(event, EmailEvent):
                last[event.run] = event.type
    for run in runs.rows.values():
        if last.get(run.key) is not _expected(run):
            yield f"published as {last.get(run.key)}: {run}"


def _expected(run: Run) -> EventType | None:
    is_quiet = run.status is Status.SKIPPED and run.reason in QUIET
    return None if is_quiet else _TYPES.get(run.status)
