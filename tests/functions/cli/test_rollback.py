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

from cli.main import app
from cli.rollback.versions import FUNCTIONS
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


def test_all_functions_go_back_to_the_deployment_before() -> None:
    result = run("--yes")
    assert (result.exit_code, live()) == (0, {"1"})
    assert "run deployment a" in result.stdout


def test_it_asks_before() -> None:
    assert run(said="n\n").exit_code == 1
    assert live() == {"2"}
    assert run(said="y\n").exit_code == 0
    assert live() == {"1"}


def test_it_goes_to_the_deployment_that_is_named_also_forward() -> None:
    run("a", "--yes")
    assert run("b", "--yes").exit_code == 0
    assert live() == {"2"}


def test_the_list_says_which_one_works_and_changes_nothing(cloud: Cloud) -> None:
    cloud.meter.clear()
    found = json.loads(run("--list", "--json").stdout)["deployments"]
    assert {each["deployment"]: each["is_live"] for each in found} == {"a": False, "b": True}
    assert not [call for call in cloud.meter.calls if "Update" in call]


def test_a_deployment_that_was_published_in_part_is_passed_over() -> None:
    publish("c", "ingest", "sweep")
    newest, *_ = run("--list").stdout.splitlines()
    assert newest.split("\t")[0::3] == ["c", "no"]
    result = run("c", "--yes")
    assert (result.exit_code, live()) == (2, {"2"})
    assert "does not have a version of every function" in result.stderr
    run("--yes")
    assert live() == {"1"}


def test_what_was_deployed_again_is_the_same_deployment_and_its_newest_versions_count() -> None:
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


def test_what_broke_off_is_finished_by_its_name_and_goes_no_deployment_too_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From `c` back to `b`; never to `a`, which is before both."""
    publish("c", *FUNCTIONS)
    run("c", "--yes")
    with monkeypatch.context() as patch:
        break_off(patch, after=3)
        broken = run("--yes")
    assert (broken.exit_code, live()) == (2, {"2", "3"})
    assert "`gazette rollback b` completes it" in broken.stderr
    assert "True" not in run("--list", "--json").stdout

    again = run("--yes")
    assert (again.exit_code, live()) == (2, {"2", "3"})
    assert "`gazette rollback c` or `gazette rollback b`" in again.stderr
    assert run("b", "--yes").exit_code == 0
    assert live() == {"2"}


def test_functions_of_no_whole_deployment_want_a_name() -> None:
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


def test_where_there_is_none_before_it_says_so() -> None:
    run("--yes")
    result = run("--yes")
    assert (result.exit_code, live()) == (2, {"1"})
    assert "There is no complete deployment before the live one" in result.stderr


def test_a_name_that_there_is_not_is_one_line() -> None:
    result = run("z", "--yes")
    assert result.exit_code == 2
    assert "Deployment z does not exist" in result.stderr


def test_what_works_already_stays() -> None:
    result = run("b", "--yes")
    assert (result.exit_code, live()) == (0, {"2"})
    assert "is already live" in result.stderr
