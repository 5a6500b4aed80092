"""Submit a mail provider's delivery event on behalf of a service."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from gazette.domain.api.answers import Submitted
from gazette.domain.errors import OutcomeUnknown, Unavailable
from gazette.domain.feedback.reports import from_the_future_at
from gazette.domain.ports.queues import Intake


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeContext:
    """The dependencies for submitting a delivery event."""

    intake: Intake
    clock: Callable[[], datetime]


def submit_delivery_event(body: str, at: datetime, *, context: IntakeContext) -> Submitted:
    """Queue the delivery event in `body`, which is dated `at`, for feedback. Safe to repeat.

    Feedback checks that the event belongs to a sent email, because only feedback reads the key of
    the proof. Raises OutcomeUnknown if it is unknown whether the event is queued.
    """
    if from_the_future_at(at, context.clock()):
        return Submitted.IN_THE_FUTURE
    try:
        is_stored = context.intake.put(body)
    except Unavailable as err:
        raise OutcomeUnknown(str(err)) from err
    return Submitted.STORED if is_stored else Submitted.NOT_STORED
