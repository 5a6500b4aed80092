"""What the port `SentRuns` promises, held against our fake and the real adapter on moto."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from gazette.adapters.dynamodb.tables import RunRow
from gazette.domain.delivery.run import Run, Status
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import DAILY, RunKey
from gazette.domain.ports.ledgers import Runs

from gazette_support.adapters.sent_runs import DynamoSentRuns
from gazette_support.domain.replay import SentRuns
from tests.builders import NOW, a_run, a_window

DAY = timedelta(days=1)


def store(runs: Runs, user_id: str, **given: Any) -> Run:
    """A sent run, unless it says otherwise."""
    first = runs.create(replace(a_run(), key=RunKey(user_id, DAILY, 1)))
    sent: dict[str, Any] = {"status": Status.SENT, "attempt": 1, "window": a_window(), **given}
    return runs.swap(first, replace(first, **sent))


def all_of(sent_runs: SentRuns, parts: int) -> list[Run | UnreadableRow]:
    return [
        run
        for part in range(parts)
        for run in sent_runs.sent_since(NOW, part=part, parts=parts).runs
    ]


def test_runs_sent_since_an_instant_are_read_completely(runs: Runs, sent_runs: SentRuns) -> None:
    sent = store(runs, "ann", sent_at=NOW, claimed_at=NOW - DAY, newest=("a", "b"))
    store(runs, "bo", sent_at=NOW - timedelta(microseconds=1), claimed_at=NOW)
    store(runs, "cy", status=Status.UNKNOWN, sent_at=NOW)
    runs.create(replace(a_run(), key=RunKey("di", DAILY, 1), due_at=NOW + DAY))
    assert all_of(sent_runs, 1) == [sent]


def test_sent_time_defaults_to_the_claim_or_due_time(runs: Runs, sent_runs: SentRuns) -> None:
    claimed = store(runs, "ann", claimed_at=NOW, due_at=NOW - DAY)
    store(runs, "bo", claimed_at=NOW - DAY, due_at=NOW)
    due = store(runs, "cy", due_at=NOW)
    store(runs, "di", due_at=NOW - DAY)
    assert sorted(all_of(sent_runs, 1), key=repr) == sorted([claimed, due], key=repr)


def test_segments_return_each_run_once_and_keep_readers_together(
    runs: Runs, sent_runs: SentRuns
) -> None:
    stored = [store(runs, f"reader-{number}", sent_at=NOW) for number in range(20)]
    found = all_of(sent_runs, 4)
    assert sorted(found, key=repr) == sorted(stored, key=repr)
    once, again = (
        [sent_runs.sent_since(NOW, part=part, parts=4).runs for part in range(4)] for _ in range(2)
    )
    assert [sorted(map(repr, part)) for part in once] == [sorted(map(repr, part)) for part in again]


def test_scan_reports_its_read_units(runs: Runs, sent_runs: SentRuns) -> None:
    store(runs, "ann", sent_at=NOW)
    assert sent_runs.sent_since(NOW, part=0, parts=1).read_units > 0


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_unreadable_run_row_is_returned_as_unreadable(runs: Runs) -> None:
    store(runs, "ann", sent_at=NOW)
    good = store(runs, "bo", sent_at=NOW)
    RunRow("ann", "daily#0000000001").update(actions=[RunRow.epoch.remove()])
    found = DynamoSentRuns("runs").sent_since(NOW, part=0, parts=1).runs
    assert good in found
    assert len([each for each in found if isinstance(each, UnreadableRow)]) == 1


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_segment_of_several_pages_is_read_completely(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """moto ends a page after a megabyte, as DynamoDB does."""
    for number in range(30):
        row = RunRow.get(*_stored(runs, f"reader-{number}"))
        row.update(actions=[RunRow.detail.set("x" * 50_000)])
    found = DynamoSentRuns("runs").sent_since(NOW, part=0, parts=1).runs
    assert len(found) == 30


def _stored(runs: Runs, user_id: str) -> tuple[str, str]:
    store(runs, user_id, sent_at=NOW)
    return user_id, "daily#0000000001"
