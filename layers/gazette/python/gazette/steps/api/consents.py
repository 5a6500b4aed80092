"""State a reader's consent to email, on behalf of a service."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from gazette.domain.errors import NotYet, OutcomeUnknown, Unavailable
from gazette.domain.ports.stores import Suppressions
from gazette.domain.subscribers.consent import Consent
from gazette.steps.context import ScheduleContext
from gazette.steps.subscribers.return_reader import Returned, return_reader


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentContext:
    """The dependencies for returning a reader."""

    schedules: ScheduleContext
    suppressions: Callable[[], Suppressions]
    """A function that returns the suppressions. It reads their key when it is first called."""

    announce: Callable[[], None]
    """A function that stores the number of shards for fan-out, before the first schedule is
    written."""


def state_consent(user_id: str, email: str, at: datetime, *, context: ConsentContext) -> Returned:
    """Return a reader who consented to email at `at`. Safe to repeat.

    Raises Unavailable before any change, and OutcomeUnknown if the reader may have been returned.
    """
    suppressions = context.suppressions()
    context.announce()
    consent = Consent(
        user_id=user_id, email=email, stated_at=at, arrived_at=context.schedules.clock()
    )
    try:
        return return_reader(consent, suppressions=suppressions, context=context.schedules)
    except (NotYet, Unavailable) as err:
        raise OutcomeUnknown(str(err)) from err
