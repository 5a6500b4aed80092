"""What a function does while Lambda starts its process, and what it does anywhere else."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path

import boto3
import pytest
from gazette.adapters.aws import secrets
from gazette.bootstrap import generate
from gazette.bootstrap.parts.init import during_init

from benchmarks.answering import answering
from tests.functions.conftest import QUEUES, Cloud, every_setting, fan_out
from tests.functions.messages import event, profile, records

ROOT = Path(__file__).parents[2]
FUNCTIONS = (
    "fanout",
    "feedback",
    "followers",
    "generate",
    "ingest",
    "outbox",
    "preferences",
    "resend",
    "sweep",
)
LAMBDA = "AWS_LAMBDA_INITIALIZATION_TYPE"
INIT_LIMIT = timedelta(seconds=10)
"""https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html"""

_PROGRAM = """
import importlib, json, os, sys
import botocore.session, jinja2, pydantic, pynamodb.models  # what takes long; makes no client
from gazette.adapters.aws import clients

def made_by(function):
    importlib.import_module(f"functions.{function}.handler")
    made = (clients._client, clients._session)
    print(json.dumps([function, [each.cache_info().currsize for each in made]]), flush=True)

for function in sys.argv[1:]:
    child = os.fork()
    if not child:
        made_by(function)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit(f"{function} failed")
"""


def made_by_each(aws: str, templates: Path, **environment: str) -> dict[str, list[int]]:
    """Return the clients and sessions of a process that has imported only this handler."""
    queues = {name: f"{aws}/queue/{name}" for name in QUEUES}
    settings = {
        name: value
        for each in every_setting(queues, {"links": "links", "suppressions": "suppressions"})
        for name, value in each.to_env().items()
    }
    path = [str(ROOT), str(ROOT / "layers" / "gazette" / "python"), str(templates.parent)]
    credentials = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    result = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *FUNCTIONS],
        cwd=ROOT,
        env={
            **settings,
            **credentials,
            **environment,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": aws,
            "PYTHONPATH": ":".join(path),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line for line in result.stdout.splitlines() if line.startswith('["'))
    return dict(json.loads(line) for line in lines)


@cache
def made_in_both(templates: Path) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Return the clients and sessions of each function, in Lambda and elsewhere."""
    with answering() as aws:
        return made_by_each(aws, templates, **{LAMBDA: "on-demand"}), made_by_each(aws, templates)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_function_is_built_during_import_only_in_lambda(
    function: str, built_templates: Path, socket_enabled: None
) -> None:
    in_lambda, elsewhere = made_in_both(built_templates)
    clients, sessions = in_lambda[function]
    assert sessions == 1
    assert (1 if function == "outbox" else 2) <= clients <= 6
    assert elsewhere[function] == [0, 0]


@pytest.fixture
def started_by_lambda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LAMBDA, "on-demand")


def test_failed_init_fails_a_message_and_is_retried_later(
    cloud: Cloud, started_by_lambda: None, later: None, logs: io.StringIO
) -> None:
    cloud.say("subscriber.changed", profile("ann"))
    cloud.say("event.created", event(1))
    (run,) = fan_out(cloud)
    _put_link_keys("spoilt")
    during_init(generate.build)
    assert "not built during init" in logs.getvalue()
    answer = cloud.invoke("generate", records(run))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    _put_link_keys(json.dumps({"k1": "k" * 64}))
    assert cloud.invoke("generate", records(run)) == {"batchItemFailures": []}
    assert len(cloud.sent()) == 1


def test_messages_use_objects_built_during_init(
    cloud: Cloud, started_by_lambda: None, later: None
) -> None:
    cloud.say("subscriber.changed", profile("ann"))
    cloud.say("event.created", event(1))
    (run,) = fan_out(cloud)
    during_init(generate.build)
    cloud.meter.clear()
    cloud.work("generate", run)
    assert len(cloud.sent()) == 1
    assert not cloud.meter.calls["secretsmanager.GetSecretValue"]


def test_init_stops_at_the_first_failure(started_by_lambda: None) -> None:
    built: list[str] = []

    def fail() -> None:
        raise ValueError

    during_init(lambda: built.append("first"), fail, lambda: built.append("last"))
    assert built == ["first"]


def test_init_builds_no_objects_outside_lambda() -> None:
    built: list[str] = []
    build: Callable[[], object] = lambda: built.append("at once")  # noqa: E731
    during_init(build)
    assert built == []


def test_unresponsive_secrets_manager_does_not_exceed_the_init_phase() -> None:
    """It is asked twice at most, with a pause of a second between: botocore's standard mode."""
    assert timedelta(seconds=secrets.PATIENCE.longest + 1) < INIT_LIMIT


def _put_link_keys(content: str) -> None:
    boto3.client("secretsmanager").put_secret_value(SecretId="links", SecretString=content)
