"""`gazette rollback` on moto: all functions go back to one deployment."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ConnectTimeoutError
from gazette.settings.environment import LIVE
from typer.testing import CliRunner, Result

from gazette_cdk.stacks.version import gazette_version
from gazette_cli.main import app
from gazette_cli.rollback.versions import FUNCTIONS
from tests.functions.conftest import Cloud
from tests.functions.deployed import publish, zipped


@pytest.fixture(autouse=True)
def stage(cloud: Cloud) -> Iterator[None]:
    """A stage that was deployed twice: `a`, then `b`, which works."""
    role = boto3.client("iam").create_role(RoleName="any", AssumeRolePolicyDocument="{}")
    with cloud.meter.acting("somebody else"):
        for name in FUNCTIONS:
            boto3.client("lambda").create_function(
                FunctionName=f"gazette-prod-{name}",
                Runtime="python3.13",
                Role=role["Role"]["Arn"],
                Handler="handler.lambda_handler",
                Code={"ZipFile": zipped("")},
            )
        publish("a", *FUNCTIONS)
        publish("b", *FUNCTIONS)
        for name in FUNCTIONS:
            boto3.client("lambda").create_alias(
                FunctionName=f"gazette-prod-{name}", Name=LIVE, FunctionVersion="2"
            )
        yield


def live() -> set[str]:
    """The versions that work."""
    functions = boto3.client("lambda")
    return {
        functions.get_alias(FunctionName=f"gazette-prod-{name}", Name=LIVE)["FunctionVersion"]
        for name in FUNCTIONS
    }


def run(*arguments: str, said: str = "") -> Result:
    return CliRunner().invoke(app, ["rollback", *arguments], input=said)


def test_rollback_moves_all_functions_to_the_previous_deployment() -> None:
    result = run("--yes")
    assert (result.exit_code, live()) == (0, {"1"})
    assert "run deployment a" in result.stdout


def test_rollback_asks_for_confirmation() -> None:
    assert run(said="n\n").exit_code == 1
    assert live() == {"2"}
    assert run(said="y\n").exit_code == 0
    assert live() == {"1"}


def test_rollback_can_target_an_earlier_or_later_deployment() -> None:
    run("a", "--yes")
    assert run("b", "--yes").exit_code == 0
    assert live() == {"2"}


def test_rollback_list_marks_the_active_deployment_without_changes(cloud: Cloud) -> None:
    cloud.meter.clear()
    found = json.loads(run("--list", "--json").stdout)["deployments"]
    assert {each["deployment"]: each["is_live"] for each in found} == {"a": False, "b": True}
    assert not [call for call in cloud.meter.calls if "Update" in call]


def test_rollback_list_shows_the_version_of_each_deployment() -> None:
    """A version before 0.2.0 wrote only the name of the deployment."""
    for function, description in (("ingest", "deployment old"), ("sweep", "a function of others")):
        boto3.client("lambda").update_function_configuration(
            FunctionName=f"gazette-prod-{function}", Description=description
        )
        boto3.client("lambda").publish_version(FunctionName=f"gazette-prod-{function}")
    found = json.loads(run("--list", "--json").stdout)["deployments"]
    assert {each["deployment"]: each["version"] for each in found} == {
        "a": gazette_version(),
        "b": gazette_version(),
        "old": "",
    }


def test_partially_published_deployment_is_skipped() -> None:
    publish("c", "ingest", "sweep")
    newest, *_ = run("--list").stdout.splitlines()
    assert newest.split("\t")[0::4] == ["c", "no"]
    result = run("c", "--yes")
    assert (result.exit_code, live()) == (2, {"2"})
    assert "does not have a version of every function" in result.stderr
    run("--yes")
    assert live() == {"1"}


def test_repeated_deployment_counts_with_its_newest_versions() -> None:
    publish("a", *FUNCTIONS)
    run("a", "--yes")
    assert live() == {"3"}
    run("--yes")
    assert live() == {"2"}


def break_off(patch: pytest.MonkeyPatch, *, after: int) -> None:
    """Let Lambda move so many aliases, and answer no more."""
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]
    moved: list[str] = []

    def answered(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation == "UpdateAlias":
            moved.append(request["FunctionName"])
            if len(moved) > after:
                raise ConnectTimeoutError(endpoint_url="lambda")
        return real(client, operation, request)

    patch.setattr(BaseClient, "_make_api_call", answered)


def test_interrupted_rollback_is_completed_by_naming_the_deployment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From `c` back to `b`; never to `a`, which is before both."""
    publish("c", *FUNCTIONS)
    run("c", "--yes")
    with monkeypatch.context() as patch:
        break_off(patch, after=3)
        broken = run("--yes")
    assert (broken.exit_code, live()) == (2, {"2", "3"})
    assert "To complete the rollback, run `gazette rollback b`" in broken.stderr
    assert "True" not in run("--list", "--json").stdout

    again = run("--yes")
    assert (again.exit_code, live()) == (2, {"2", "3"})
    assert "`gazette rollback c` or `gazette rollback b`" in again.stderr
    assert run("b", "--yes").exit_code == 0
    assert live() == {"2"}


def test_functions_of_different_deployments_require_a_named_target() -> None:
    publish("c", *FUNCTIONS[:3])
    publish("d", *FUNCTIONS[3:])
    for name in FUNCTIONS:
        boto3.client("lambda").update_alias(
            FunctionName=f"gazette-prod-{name}", Name=LIVE, FunctionVersion="3"
        )
    result = run("--yes")
    assert result.exit_code == 2
    assert "Specify a complete deployment from `gazette rollback --list`" in result.stderr
    assert run("b", "--yes").exit_code == 0
    assert live() == {"2"}


def test_rollback_without_a_previous_deployment_is_reported() -> None:
    run("--yes")
    result = run("--yes")
    assert (result.exit_code, live()) == (2, {"1"})
    assert "There is no complete deployment before the live deployment" in result.stderr


def test_unknown_deployment_is_reported_on_a_single_line() -> None:
    result = run("z", "--yes")
    assert result.exit_code == 2
    assert "Deployment z does not exist" in result.stderr


def test_function_already_at_the_target_version_is_unchanged() -> None:
    result = run("b", "--yes")
    assert (result.exit_code, live()) == (0, {"2"})
    assert "is already live" in result.stderr
