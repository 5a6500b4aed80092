"""The sweep writes a run that somebody else has changed since it was read."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.delivery.run import Run, Status
from gazette.steps.sweep.unknown import Swept

from tests.builders import KEY, NOW, a_run
from tests.fake_stores import FakeRuns
from tests.world import World


class StaleRuns(FakeRuns):
    """A delivery stores that it has asked its sources once the sweep has read the run."""

    def overdue(self, partition: int, at: datetime) -> Iterator[Run]:
        found = [run for run in super().overdue(partition, at) if isinstance(run, Run)]
        for run in found:
            self.rows[run.key] = replace(run, asked_at=NOW)
        return iter(found)


@pytest.mark.parametrize(
    ("run", "swept"),
    [
        (a_run(), Swept.QUEUED),
        (
            replace(a_run(), status=Status.RETRYING, retry_at=NOW + timedelta(hours=2)),
            Swept.DUE_LATER,
        ),
    ],
)
def test_sweep_keeps_the_recorded_source_query_and_retries_later(run: Run, swept: Swept) -> None:
    world = World()
    world.runs = StaleRuns()
    world.runs.create(replace(run, check_at=NOW))
    assert world.sweep("ann") == {swept: 1}
    assert world.runs.rows[KEY].asked_at == NOW
    assert world.runs.rows[KEY].check_at == NOW, "the next sweep looks again"
