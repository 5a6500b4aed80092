"""The marker of a happening whose last event was retracted, and the emails of its place. Pure."""

from collections.abc import Sequence

from gazette.domain.delivery.run import Run, known_sent_until
from gazette.domain.model import Retracted
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of


def is_in_none_of(mark: Retracted, chain: Sequence[Run]) -> bool:
    """Return True if no email of the marker's place contains the event, as far as times show it.

    A run that was created after the retraction has read its window without the event, although the
    window contains the event's storage time. False means that an email may contain the event.
    """
    if mark.stored_at is None or kind_of(mark.schedule) is ScheduleKind.UNSENT:
        return False
    if mark.retracted_at is None or mark.stored_at <= known_sent_until(chain):
        return False
    covering = [run for run in chain if run.has_taken(mark.stored_at)]
    return bool(covering) and all(run.reads_writes_of(mark.retracted_at) for run in covering)
