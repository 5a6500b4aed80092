"""`gazette preview --user` on moto: shows a reader's waiting events and changes nothing."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.settings.delivery import GenerateSettings
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from tests.functions.conftest import Cloud, fan_out
from tests.functions.deployed import deploy
from tests.functions.messages import event, profile
from tests.moto_tables import NAMES

READS = {
    ("subscribers", "GetItem"),
    ("runs", "Query"),
    ("events", "Query"),
    ("schedules", "GetItem"),
    ("control", "GetItem"),  # the withdrawals
}


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    """The function `gazette-prod-generate`, with the settings that the stack would write."""
    deploy("generate", GenerateSettings.from_env().to_env())
    return cloud


def run(to: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["preview", *arguments, "--to", str(to), "--no-open"])


@pytest.mark.usefixtures("later")
def test_preview_matches_the_email_sent_later(stage: Cloud, tmp_path: Path) -> None:
    stage.say("subscriber.changed", profile())
    stage.say("event.created", event(1), event(2))
    result = run(tmp_path, "--user", "ann")
    assert (result.exit_code, result.stderr) == (0, "")
    text = (tmp_path / "email.txt").read_text()
    assert "2 comments" in text
    stage.work("generate", *fan_out(stage))
    again = run(tmp_path, "--user", "ann")
    assert again.exit_code == 2
    assert "No event of ann is waiting for a digest" in again.stderr


def test_waiting_immediate_email_is_previewed(stage: Cloud, tmp_path: Path) -> None:
    stage.say("subscriber.changed", profile(frequencies={"comment": "immediate"}))
    stage.say("event.created", event(1))
    result = run(tmp_path, "immediate", "--user", "ann")
    assert (result.exit_code, result.stderr) == (0, "")


def test_preview_shows_the_notice_that_the_next_digest_will_have(
    stage: Cloud, tmp_path: Path
) -> None:
    active_on = (datetime.now(UTC) - timedelta(days=44)).date()
    stage.say("subscriber.changed", profile())
    stage.say("event.created", event(1))
    ann = stage.reader()
    result = run(tmp_path, "--user", "ann")
    assert "notice" not in result.stderr
    inactive = replace(ann, registered_on=active_on, active_on=active_on)
    assert DynamoSubscribers("subscribers").put(inactive, replacing=ann)
    result = run(tmp_path, "--user", "ann")
    ends_on = inactive.dormant_at(timedelta(days=45)).astimezone(ZoneInfo("Europe/Berlin")).date()
    assert f"has the notice that it ends on {ends_on}" in result.stderr
    assert "Still want this digest?" in (tmp_path / "email.txt").read_text()


def test_preview_states_that_the_stage_does_not_send_to_the_reader(
    cloud: Cloud, tmp_path: Path
) -> None:
    allowed = {"GAZETTE_ALLOWED_RECIPIENTS": '["@shop.example"]'}
    deploy("generate", {**GenerateSettings.from_env().to_env(), **allowed})
    for user, address in (("ann", "ann@example.com"), ("bo", "bo@shop.example")):
        cloud.say("subscriber.changed", profile(user, email=address))
        cloud.say("event.created", event(1, user_id=user))
    assert "the stage does not send this email" in run(tmp_path, "--user", "ann").stderr
    assert run(tmp_path, "--user", "bo").stderr == ""


def test_preview_only_reads(stage: Cloud, tmp_path: Path) -> None:
    stage.say("subscriber.changed", profile())
    stage.say("event.created", event(1))
    before = {table: stage.rows(table) for table in NAMES.values()}
    with stage.meter.acting("an operator"):
        assert run(tmp_path, "--user", "ann").exit_code == 0
    assert stage.meter.actions["an operator"] == READS
    assert {table: stage.rows(table) for table in NAMES.values()} == before


def test_preview_names_a_missing_stage(stage: Cloud, tmp_path: Path) -> None:
    result = run(tmp_path, "--user", "ann", "--stage", "other")
    assert result.exit_code == 2
    assert "Function gazette-other-generate does not exist" in result.stderr


@pytest.mark.long
def test_preview_of_a_version_matches_its_delivery(
    cloud: Cloud, layers: tuple[str, str], tmp_path: Path
) -> None:
    deploy("generate", GenerateSettings.from_env().to_env(), *layers)
    own = tmp_path / "own" / "digest" / "subject.txt"
    own.parent.mkdir(parents=True)
    own.write_text("News")
    (tmp_path / "own" / "settings.json").write_text('{"max_blocks": 1}')
    done = CliRunner().invoke(app, ["templates", "push", str(tmp_path / "own"), "--yes"])
    assert done.exit_code == 0, done.output
    shown = run(tmp_path, "--version", "1", "--locale", "de")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "subject: News" in shown.stdout
    deployed = run(tmp_path, "--version", "deployed")
    assert "subject: News" not in deployed.stdout
    assert "The preview is in English" in run(tmp_path, "--version", "1", "--locale", "fr").stderr
    for arguments, said in {
        ("--version", "9"): "Version 9 does not exist",
        ("--version", "new"): "'new' is not a version",
        ("--version", "1", "--variation", "2"): "Version 1 does not have variation 2",
    }.items():
        refused = run(tmp_path, *arguments)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert said in refused.stderr


@pytest.mark.long
def test_event_preview_can_use_a_pushed_version(
    cloud: Cloud, layers: tuple[str, str], tmp_path: Path
) -> None:
    deploy("generate", GenerateSettings.from_env().to_env(), *layers)
    own = tmp_path / "own" / "categories" / "comment" / "line.txt"
    own.parent.mkdir(parents=True)
    own.write_text("News of {{ people }}")
    done = CliRunner().invoke(app, ["templates", "push", str(tmp_path / "own"), "--yes"])
    assert done.exit_code == 0, done.output
    entry = {"Source": "shop", "DetailType": "event.created", "Detail": event(1)}

    def shown(*options: str) -> Result:
        command = ["event", "preview", "-", *options]
        return CliRunner().invoke(app, command, input=json.dumps(entry))

    assert "    News of " in shown("--version", "1").stdout
    assert "    News of " not in shown("--version", "deployed").stdout
    assert "    News of " not in shown().stdout
    assert "The preview is in English" in shown("--version", "1", "--locale", "fr").stderr
    refused = shown("--version", "1", "--variation", "2")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "Version 1 does not have variation 2" in refused.stderr
