"""Dependencies of the notice in `gazette preview --user`."""

from collections.abc import Callable
from datetime import date
from functools import partial

from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.bootstrap.parts.clock import now
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.settings.delivery import SendingSettings

from gazette_support.steps.notice import next_notice


def build_notice(settings: SendingSettings) -> Callable[[Subscriber, Frequency], date | None]:
    """Return a function that returns the date in the notice of a reader's next digest.

    Uses the settings of generate.
    """
    return partial(
        next_notice,
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        sunset=settings.sunset,
        clock=now,
    )
