"""A reader for whom nothing waits, on the deployed stacks."""

from datetime import UTC, datetime, timedelta

from gazette.adapters.dynamodb.values import instant_text

from tests.e2e.test_comes_back import DAY, a_digest, row, run_of
from tests.stage import Deployed, a_comment


def test_reader_without_waiting_events_is_not_visited(
    deployed: Deployed,
) -> None:
    _, due = a_digest(deployed, "ida")
    deployed.tick(due + DAY)
    assert run_of(deployed, "ida", 2) == ("skipped", "nothing_waited")
    idle = row(deployed, "schedules", user_id="ida", name="daily")
    assert (idle["state"], "due" in idle) == ("idle", False)
    deployed.tick(due + 2 * DAY)
    assert row(deployed, "schedules", user_id="ida", name="daily") == idle

    then = datetime.now(UTC) - 5 * DAY
    move_back(deployed, "ida", 2, then)
    told = deployed.gazette("explain", "ida", f"{then + 2 * DAY:%Y-%m-%d}")
    assert "No event was waiting for the daily digest between" in told

    deployed.service.put("event.created", [a_comment("ida", 2)])
    deployed.settle()
    assert row(deployed, "schedules", user_id="ida", name="daily")["state"] == "armed"
    deployed.tick(due)
    deployed.tick(due + DAY)
    assert len(deployed.inbox("ida")) == 2


def move_back(deployed: Deployed, user: str, sequence: int, then: datetime) -> None:
    """As if an occurrence had been so long ago: only its row says otherwise."""
    assert timedelta(0) < datetime.now(UTC) - then
    deployed.service.tables.update_item(
        TableName=deployed.service.settings("feedback")["GAZETTE_RUNS_TABLE"],
        Key={"user_id": {"S": user}, "run": {"S": f"daily#{sequence:010d}"}},
        UpdateExpression="SET due_at = :then",
        ExpressionAttributeValues={":then": {"S": instant_text(then)}},
    )
