"""What goes out after tables went back to an instant: once more only what was sent since, and only
where the table of the runs went back with them."""

import json
from pathlib import Path

import boto3
from gazette.domain.delivery.run import Status

from demo.ses_events import default_bus
from gazette_cli.restore.command import COPY
from tests.e2e.test_comes_back import delivery
from tests.runbook.pages import Command
from tests.runbook.state import KEY, State
from tests.runbook.test_pages import run


def at_this_instant(state: State, *tables: str) -> None:
    """Copies of the tables, as a restore makes them; the engine knows no earlier instant."""
    client = boto3.client("dynamodb")
    for table in tables:
        name = state.table(table)
        client.restore_table_to_point_in_time(
            SourceTableName=name, TargetTableName=f"{name}{COPY}", UseLatestRestorableTime=True
        )


def restore(state: State, *tables: str) -> None:
    for table in tables:
        done = run(Command(Path(__file__), 0, f"gazette restore {table}"), state)
        assert done.returncode == 0, done.stderr
        boto3.client("dynamodb").delete_table(TableName=f"{state.table(table)}{COPY}")


def test_restore_without_runs_sends_no_email_again(state: State) -> None:
    """Fan-out comes to the same slot again, and finds its run: what is new goes with the next."""
    at_this_instant(state, "schedules", "control")
    with state.emails(1):
        state.next_digest()
    assert "2 likes" in state.inbox[-1].part("plain")
    restore(state, "schedules", "control")
    with state.emails(0):
        state.next_digest()
    with state.emails(1):
        state.strike()
    assert "Cy liked “" in state.inbox[-1].part("plain"), "one event alone"


def test_restore_of_runs_sends_later_emails_again(state: State) -> None:
    """A delivery event of the first email settles nothing: the row knows no such attempt."""
    at_this_instant(state, "runs")
    with state.emails(1):
        state.try_to_send()
    first = state.inbox[-1]
    restore(state, "runs")
    detail = json.dumps(delivery(first))
    entry = {"Source": "aws.ses", "DetailType": "Email Delivered", "Detail": detail}
    default_bus(state.deployed.service.events)([entry])
    state.settle()
    assert state.waiting("quarantine") == 1
    found = state.runs.get(KEY)
    assert found
    assert found.status is Status.PENDING
    with state.emails(1):
        state.try_to_send()
    with state.emails(0):
        state.try_to_send()
