"""`gazette experiment` on moto: what it shows, and which emails readers get."""

import json
from pathlib import Path

import pytest
from gazette.settings.delivery import GenerateSettings
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from gazette_cli.templates import building
from tests.functions.conftest import Cloud, fan_out
from tests.functions.deployed import deploy
from tests.functions.messages import event, profile


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    """The commands find the table in the settings of generate alone."""
    deploy("generate", GenerateSettings.from_env().to_env())
    cloud.meter.clear()
    return cloud


def run(cloud: Cloud, *arguments: str) -> Result:
    with cloud.meter.acting("engineer"):
        return CliRunner().invoke(app, ["experiment", *arguments])


def test_experiment_is_started_changed_and_stopped_without_a_deployment(stage: Cloud) -> None:
    assert run(stage, "show").stdout == (
        "stage prod has no running experiment; all readers get variation 1\n"
    )
    started = run(stage, "start", "subjects", "1=1", "2=3")
    assert started.stdout == (
        "experiment subjects is running in stage prod: 25.0% get variation 1, 75.0% get variation "
        "2\n"
    )
    name, since, *shares = run(stage, "show").stdout.splitlines()
    assert name == "name\tsubjects"
    assert since.startswith("since\t20")
    assert shares == ["variation 1\t25.0%", "variation 2\t75.0%"]
    run(stage, "start", "subjects", "1=0", "2=1")
    assert run(stage, "show").stdout.splitlines()[1:] == [
        since,
        "variation 1\t0.0%",
        "variation 2\t100.0%",
    ]
    assert run(stage, "stop").exit_code == 0
    assert "no running experiment" in run(stage, "show").stdout
    assert stage.meter.actions["engineer"] == {
        ("control", action) for action in ("GetItem", "Query", "PutItem", "DeleteItem")
    }


def test_running_experiment_is_replaced_only_after_confirmation(stage: Cloud) -> None:
    run(stage, "start", "subjects", "1=1", "2=1")
    refused = run(stage, "start", "ranking", "1=1", "2=1")
    assert "End the running experiment subjects and start ranking?" in refused.output
    assert "name\tsubjects" in run(stage, "show").stdout
    assert run(stage, "start", "ranking", "1=1", "--yes").exit_code == 0
    assert "name\tranking" in run(stage, "show").stdout


def test_variation_without_a_folder_is_reported(
    stage: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "templates" / "variations" / "2").mkdir(parents=True)
    (tmp_path / "cdk.json").write_text(
        json.dumps({"context": {"stages": {"prod": {"sender": "a@b.example", "list_id": "b"}}}})
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(building, "SOURCE", tmp_path / "templates")
    started = run(stage, "start", "subjects", "1=1", "2=1", "3=1", "4=0")
    assert started.exit_code == 0
    assert "The templates of this working tree have no folder variations/3" in " ".join(
        started.stderr.split()
    )
    assert "variations/2" not in started.stderr
    assert "variations/4" not in started.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("start", "subjects", "2"), "'2' is not VARIATION=WEIGHT. Specify numbers, such as 2=50."),
        (("start", "subjects", "1=1", "1=2"), "Variation 1 has two weights"),
        (("start", "Subjects", "1=1"), "the name 'Subjects' must be"),
        (("start", "subjects", "12=1"), "variation 12 must be 1 to 9"),
        (("start", "subjects", "1=0"), "no variation has a weight"),
    ],
)
def test_invalid_experiment_is_rejected_without_changes(
    stage: Cloud, arguments: tuple[str, ...], said: str
) -> None:
    refused = run(stage, *arguments)
    assert refused.exit_code == 2
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr
    assert ("control", "PutItem") not in stage.meter.actions["engineer"]


@pytest.mark.usefixtures("later")
def test_run_records_the_variation_of_its_reader(stage: Cloud) -> None:
    run(stage, "start", "subjects", "2=1")
    stage.say("subscriber.changed", profile())
    stage.say("event.created", event(1))
    stage.work("generate", *fan_out(stage))
    [row] = stage.rows("runs")
    assert (row["status"], row["variation"], row["experiment"]) == ("sent", 2, "subjects")
