"""The schedules of a reader who left or is dormant leave the due index."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.errors import Unavailable
from gazette.domain.model import DAILY, Schedule
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.steps.subscribers.schedules import withdraw

from tests.builders import a_schedule, a_subscriber
from tests.fake_stores import FakeSchedules, FakeSubscribers


class OneAtATime(FakeSchedules):
    """Refuses to withdraw a second schedule."""

    def withdraw(self, schedule: Schedule) -> bool:
        if sum(row.listed for row in self.rows.values()) < len(self.rows):
            raise Unavailable("It died.")
        return super().withdraw(schedule)


def test_the_schedule_that_is_due_is_withdrawn_last() -> None:
    """After a crash fan-out finds it again, and withdraws the others with it."""
    schedules, subscribers = OneAtATime(), FakeSubscribers()
    subscribers.put(replace(a_subscriber(), status=SubscriberStatus.DORMANT), replacing=None)
    due = a_schedule()
    later = replace(due, name="weekly", next_due_at=due.next_due_at + timedelta(days=3))
    for schedule in (due, later):
        schedules.put(schedule, replacing=None)
    with pytest.raises(Unavailable):
        withdraw("ann", subscribers=subscribers, schedules=schedules)
    assert [row.name for row in schedules.rows.values() if row.listed] == [DAILY]
