"""`gazette batch` on moto: list, show and cancel the batches of a stage."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from gazette.adapters.aws.queues import decode_run_key
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.delivery.signals import Accepted, Claim
from gazette.domain.model import DAILY, Window
from gazette.domain.scheduling.calendar import slot_id, slot_of
from gazette.settings.delivery import GenerateSettings
from gazette.settings.fanout import FanoutSettings
from gazette.steps.runs import apply
from rich.console import Console
from typer.testing import CliRunner, Result

from gazette_cli.batches import command as batch
from gazette_cli.main import app
from gazette_cli.shared import answers, live
from tests.builders import NOW
from tests.functions.conftest import Cloud, fan_out
from tests.functions.deployed import deploy
from tests.functions.messages import event, profile
from tests.functions.test_costs import stored_run

READERS = ("ann", "bo", "cy")
READS = {
    ("schedules", "Query"),
    ("runs", "Query"),
    ("runs", "GetItem"),
    ("control", "Query"),
    ("control", "GetItem"),
    ("pace", "GetItem"),
}
WRITES = {("control", "UpdateItem"), ("runs", "PutItem")}


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    """Three readers with a digest due in one slot; two of them have events."""
    deploy("fanout", FanoutSettings.from_env().to_env())
    deploy("generate", GenerateSettings.from_env().to_env())
    cloud.begin(wait)
    cloud.meter.clear()
    return cloud


def wait(cloud: Cloud) -> None:
    for reader in READERS:
        cloud.say("subscriber.changed", profile(reader, digest={"hour": 8, "minute": 0}))
    cloud.arm(*READERS)
    for number, reader in enumerate(READERS[:2]):
        cloud.say("event.created", event(number, user_id=reader))


def run(cloud: Cloud, *arguments: str, said: str | None = None) -> Result:
    with cloud.meter.acting("an operator"):
        return CliRunner().invoke(app, ["batch", *arguments], input=said)


def slot() -> str:
    """The slot of Ann's next digest."""
    found = DynamoSchedules("schedules", shards=1).get("ann", DAILY)
    assert found is not None
    return slot_id(slot_of(found.next_due_at))


def told(result: Result) -> dict[str, str]:
    """The output of `show` by name; runs by status and reason."""
    assert result.exit_code == 0, result.output
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    return {" ".join(row[1:-1]) if row[0] == "runs" else row[0]: row[-1] for row in rows}


def started(cloud: Cloud) -> list[str]:
    """Fan the slot out, and return the messages of its runs."""
    return fan_out(cloud)


@pytest.mark.long
@pytest.mark.usefixtures("later")
def test_batch_is_watched_from_its_slot_to_its_end(stage: Cloud) -> None:
    id_ = slot()
    before = told(run(stage, "show", id_))
    assert (before["state"], before["expected"], before["not started"]) == ("to come", "3", "3")
    assert run(stage, "list").stdout == ""
    messages = started(stage)
    during = told(run(stage, "show", id_))
    assert (during["state"], during["expected"], during["ended"]) == ("under way", "2", "0")
    assert (during["pending due"], during["not started"]) == ("2", "0")
    assert {"per second", "left"} <= during.keys()
    stage.work("generate", *messages)
    after = told(run(stage, "show", id_))
    assert (after["state"], after["ended"], after["sent accepted"]) == ("over", "2", "2")
    assert not [name for name in after if name.startswith("skipped")]
    assert after["rate"] == "at most 400 emails per second; 2 today (UTC)"
    assert "left" not in after
    assert run(stage, "list").stdout.split("\t") == [
        id_,
        "over",
        "2",
        "0",
        "2",
        "0",
        "0",
        "0",
        "0\n",
    ]
    assert stage.meter.actions["an operator"] <= READS


@pytest.mark.usefixtures("later")
def test_batch_cancel_reports_cancelled_and_sent_runs(stage: Cloud) -> None:
    id_ = slot()
    first, second = started(stage)
    stage.work("generate", first)
    done = run(stage, "cancel", id_, "--yes")
    assert done.stdout == "1 cancelled, 1 already sent, 0 possibly sent, 0 skipped or failed\n"
    assert stage.meter.actions["an operator"] <= READS | WRITES
    stage.work("generate", second)
    assert len(stage.sent()) == 1
    assert told(run(stage, "show", id_))["cancelled batch_cancelled"] == "1"
    again = run(stage, "cancel", id_, "--yes")
    assert again.stdout == done.stdout


@pytest.mark.usefixtures("later")
def test_batch_can_be_cancelled_before_its_start(stage: Cloud) -> None:
    done = run(stage, "cancel", slot(), "--yes")
    assert done.exit_code == 0
    assert "3 digests have not started yet. They are cancelled when they start." in done.stderr
    assert started(stage) == []
    assert (stored_run().status, stored_run().reason) == (
        Status.CANCELLED,
        Reason.BATCH_CANCELLED,
    )


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize(("answer", "cancelled"), [("y\n", True), ("n\n", False), ("", False)])
def test_batch_is_not_cancelled_without_confirmation(
    stage: Cloud, answer: str, cancelled: bool
) -> None:
    id_ = slot()
    started(stage)
    done = run(stage, "cancel", id_, said=answer)
    assert (
        f"Batch {id_}: 0 digests have been sent, and 2 are pending. Cancel the pending digests?"
        in done.stdout
    )
    assert (done.exit_code == 0) == cancelled
    assert ("cancelled batch_cancelled" in told(run(stage, "show", id_))) == cancelled


def looking(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> list[int]:
    """What happens while the command waits for its next look, and how often that was."""
    times: list[int] = []

    def pause(_: float) -> None:
        times.append(len(times))
        act()

    for module in (batch, live):
        monkeypatch.setattr(module, "_pause", pause)
    return times


@pytest.mark.usefixtures("later")
def test_batch_cancel_waits_for_emails_being_sent(
    stage: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a worker has claimed goes out: that is told at the end."""
    id_ = slot()
    (message, other) = started(stage)
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    run_of_bo = runs.chain(decode_run_key(other))[0]
    claim = Claim(Window(NOW, NOW), deadline=NOW, nonce="n")
    claimed = apply(run_of_bo, claim, runs=runs)
    stage.work("generate", message)
    times = looking(monkeypatch, lambda: apply(claimed, Accepted(claimed.attempt, "m1"), runs=runs))
    done = run(stage, "cancel", id_, "--yes")
    assert done.stdout == "0 cancelled, 2 already sent, 0 possibly sent, 0 skipped or failed\n"
    assert len(times) == 1


@pytest.mark.usefixtures("later")
def test_terminal_shows_a_batch_until_completion(
    stage: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = slot()
    messages = started(stage)
    times = looking(monkeypatch, lambda: stage.work("generate", messages.pop()))
    for module in (live, answers):
        monkeypatch.setattr(module, "Console", lambda: Console(force_terminal=True, width=100))
    shown = run(stage, "show", id_)
    assert len(times) == 2
    assert "2 of 2" in shown.stdout
    assert "over" in shown.stdout
    listed = run(stage, "list")
    assert id_ in listed.stdout


@pytest.mark.parametrize("command", ["show", "cancel"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "yesterday",
            "ID 'yesterday' is not a batch. Specify the slot of a batch in UTC, such as",
        ),
        ("2026-11-22T06:10", "is not a batch"),
        ("2026-01-01T06:13Z", "Batch 2026-01-01T06:10Z is empty"),
    ],
)
def test_invalid_batch_is_reported_on_a_single_line(
    stage: Cloud, command: str, given: str, said: str
) -> None:
    done = run(stage, command, given)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_batch_of_an_unknown_stage_is_reported_on_a_single_line(cloud: Cloud) -> None:
    done = run(cloud, "list", "--stage", "nowhere")
    assert done.exit_code == 2
    assert "Function gazette-nowhere-fanout does not exist" in done.stderr


def test_empty_batch_list_is_reported(stage: Cloud) -> None:
    done = run(stage, "list")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "No batches yet" in done.stderr
