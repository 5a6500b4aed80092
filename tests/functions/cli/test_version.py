"""`gazette --version` and `gazette doctor` on moto: the version that a stage runs."""

import boto3
import pytest
from gazette.settings.delivery import GenerateSettings
from gazette.settings.environment import LIVE
from typer.testing import CliRunner, Result

from gazette_cdk.stacks.version import DeploymentLabel, gazette_version
from gazette_cli.main import app
from gazette_cli.version import check_version
from tests.functions.conftest import Cloud
from tests.functions.deployed import deploy


@pytest.fixture(autouse=True)
def stage(cloud: Cloud) -> Cloud:
    """A stage that this version deployed."""
    deploy("generate", GenerateSettings.from_env().to_env())
    cloud.meter.clear()
    return cloud


def publish(description: str) -> str:
    """Make a version of the function with this description live, and return its number."""
    function = "gazette-prod-generate"
    client = boto3.client("lambda")
    client.update_function_configuration(FunctionName=function, Description=description)
    number = str(client.publish_version(FunctionName=function)["Version"])
    client.update_alias(FunctionName=function, Name=LIVE, FunctionVersion=number)
    return number


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments])


def deployed() -> str:
    done = run("--version", "--stage", "prod")
    assert done.exit_code == 0, done.output
    own, deployed = done.stdout.splitlines()
    assert own.startswith(f"gazette {gazette_version()} (release ")
    return deployed


def test_version_of_a_stage_is_printed_with_its_deployment(stage: Cloud) -> None:
    assert deployed() == f"stage prod: gazette {gazette_version()}, deployment c0ffee"
    assert stage.meter.calls == {"lambda.GetFunctionConfiguration": 1}


def test_version_of_a_stage_after_a_rollback_is_the_version_that_is_live() -> None:
    publish("gazette 0.9.0, deployment aaa")
    publish("gazette 0.9.1, deployment bbb")
    boto3.client("lambda").update_alias(
        FunctionName="gazette-prod-generate", Name=LIVE, FunctionVersion="2"
    )
    assert deployed() == "stage prod: gazette 0.9.0, deployment aaa"


def test_stage_without_a_named_deployment_is_reported_on_one_line() -> None:
    publish("")
    done = run("--version", "--stage", "prod")
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("gazette: The description of gazette-prod-generate does not name")


def test_unknown_stage_is_reported_on_one_line() -> None:
    done = run("--version", "--stage", "tset")
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert "gazette-tset-generate" in line


@pytest.mark.parametrize("arguments", [("--stage", "prod"), ("--stage", "prod", "doctor")])
def test_stage_without_version_is_refused(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert "specify --stage after the name" in " ".join(done.stderr.replace("│", " ").split())


def test_doctor_accepts_a_stage_of_its_own_version() -> None:
    (finding,) = check_version("prod")
    assert finding.level.value == "ok"


@pytest.mark.parametrize(
    ("description", "seen", "todo"),
    [
        (
            "gazette 0.9.0, deployment aaa",
            "the stage runs gazette 0.9.0, deployment aaa",
            "Install gazette-digest==0.9.0, or deploy version",
        ),
        ("deployment aaa", "the stage runs deployment aaa", "Install the version that the stage"),
        ("", "the functions do not name a deployment", "Install the version that the stage runs"),
    ],
)
def test_doctor_warns_of_a_stage_of_another_version(description: str, seen: str, todo: str) -> None:
    publish(description)
    (finding,) = check_version("prod")
    assert (finding.level.value, finding.seen) == ("warning", seen)
    assert todo in finding.todo
    assert finding.page == "docs/runbook/upgrade.md"


@pytest.mark.parametrize(
    ("description", "label"),
    [
        ("gazette 0.2.0, deployment 46b25b619c94", DeploymentLabel("46b25b619c94", "0.2.0")),
        ("gazette 0.3.0.dev0, deployment a", DeploymentLabel("a", "0.3.0.dev0")),
        ("deployment 46b25b619c94", DeploymentLabel("46b25b619c94", "")),
        ("", None),
        ("deployment", None),
        ("deployment a b", None),
        ("a deployment 46b25b619c94", None),
        ("gazette , deployment a", None),
    ],
)
def test_description_is_read(description: str, label: DeploymentLabel | None) -> None:
    assert DeploymentLabel.read(description) == label
    assert label is None or str(label) == description
