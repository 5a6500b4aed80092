"""Functions: their runtime and their settings."""

import json
from dataclasses import asdict, fields
from importlib import import_module

import pytest
from gazette.settings.environment import PINNED_ZONES, Settings
from gazette.settings.ranges import as_written

from gazette_cdk.app import context
from gazette_cdk.stages import read_stage
from gazette_cdk.topology import PREFERENCES, STEPS, SUPPORT, SUPPORT_REDRIVE, Step
from tests.infra.conftest import SOURCES
from tests.infra.synthesis import Properties, Synthesis

_UNDELIVERED = "{TicksUndelivered}"
_TOGETHER = {"generate": "delivery", "resend": "delivery", "followers": "ingest"}


def test_each_step_has_a_single_function(prod: Synthesis) -> None:
    """CDK adds functions of its own for custom resources; here nothing needs one."""
    functions = prod.service.of_type("AWS::Lambda::Function").values()
    assert {function["FunctionName"] for function in functions} == {
        f"gazette-prod-{step.name}" for step in (*STEPS, SUPPORT, SUPPORT_REDRIVE)
    }


def test_every_function_runs_python_3_13_on_arm64_with_both_layers(prod: Synthesis) -> None:
    for step in STEPS:
        _, function = prod.function(step.name)
        assert function["Runtime"] == "python3.13"
        assert function["Architectures"] == ["arm64"]
        assert sorted(function["Layers"]) == ["{Core}", "{Dependencies}"]
        assert function["Handler"] == "handler.lambda_handler"


def test_every_function_uses_the_pinned_time_zones(prod: Synthesis) -> None:
    """What such an environment makes of a process: tests/unit/calendar/test_pinned_zones.py."""
    for step in STEPS:
        _, function = prod.function(step.name)
        assert PINNED_ZONES.items() <= function["Environment"]["Variables"].items()


def test_functions_send_no_traces(prod: Synthesis) -> None:
    for step in STEPS:
        _, function = prod.function(step.name)
        assert "TracingConfig" not in function
        assert not [grant for grant in prod.grants(step.name) if grant.action.startswith("xray:")]


def test_every_function_has_the_timeout_and_memory_of_its_step(prod: Synthesis) -> None:
    for step in STEPS:
        _, function = prod.function(step.name)
        sized = read_stage("prod", context()["stages"]).sized(step)
        assert (function["Timeout"], function["MemorySize"]) == (sized.timeout, sized.memory)


def test_only_requeueing_functions_allow_recursive_loops(prod: Synthesis) -> None:
    """A walk over followers, or over what is due, goes on in the next message, each time further;
    a run for which there is no permit is requeued as long as there is none.

    Lambda would take that for a loop and end it after 16 permits; everywhere else it should.
    """
    allowed = {
        step.name: function["RecursiveLoop"]
        for step in STEPS
        for _, function in (prod.function(step.name),)
        if "RecursiveLoop" in function
    }
    assert allowed == dict.fromkeys(("followers", "fanout", "generate", "resend"), "Allow")


def test_every_function_log_group_has_a_retention(prod: Synthesis) -> None:
    groups = prod.service.of_type("AWS::Logs::LogGroup")
    for step in STEPS:
        _, function = prod.function(step.name)
        group = groups[function["LoggingConfig"]["LogGroup"].strip("{}")]
        assert group["LogGroupName"] == f"/aws/lambda/gazette-prod-{step.name}"
        assert group["RetentionInDays"] == 30


def test_lambda_logs_only_failures_and_keeps_metrics(prod: Synthesis) -> None:
    """A line of metrics has no level: Lambda takes it for INFO, and would drop it above that.

    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
    """
    for step in STEPS:
        logging = prod.function(step.name)[1]["LoggingConfig"]
        assert logging["LogFormat"] == "JSON"
        assert (logging["SystemLogLevel"], logging["ApplicationLogLevel"]) == ("WARN", "INFO")


def test_functions_reserve_no_concurrency_by_default(prod: Synthesis) -> None:
    """A new account has none to give; and throttled receives of a queue would count against its
    messages, which end in dead-letter queues.
    """
    for step in STEPS:
        _, function = prod.function(step.name)
        assert "ReservedConcurrentExecutions" not in function


def test_attack_link_requests_cannot_exhaust_the_account_concurrency(
    tracking: Synthesis,
) -> None:
    """Where the stage asks for it: the account may have no room."""
    for step in STEPS:
        _, function = tracking.function(step.name)
        bound = 11 if step is PREFERENCES else None
        assert function.get("ReservedConcurrentExecutions") == bound, step.name


def test_every_function_gets_exactly_its_settings(prod: Synthesis) -> None:
    for step in STEPS:
        told = _environment(prod, step)
        kind = _settings_of(step)
        assert told.pop("POWERTOOLS_SERVICE_NAME") == "gazette-prod"
        assert told.pop("PYTHONTZPATH") == PINNED_ZONES["PYTHONTZPATH"]
        assert set(told) == {f"GAZETTE_{field.name.upper()}" for field in fields(kind)}
        assert kind.from_env(told).to_env() == told


def test_functions_receive_the_settings_of_their_stage(local: Synthesis) -> None:
    """Local, which differs from the defaults; an object and a list are JSON there."""
    stage = asdict(read_stage("local", context()["stages"]))
    said = {
        f"GAZETTE_{name.upper()}": json.dumps(value)
        if isinstance(value, dict | list)
        else str(int(value) if isinstance(value, bool) else as_written(name, value))
        for name, value in stage.items()
        if value != ""
    }
    for step in STEPS:
        told = _environment(local, step)
        heard = told.keys() & said.keys()
        assert heard, step.name
        assert {name: told[name] for name in heard} == {name: said[name] for name in heard}


def test_only_ingest_and_feedback_receive_the_source_permissions(varied: Synthesis) -> None:
    configured = {step.name: _environment(varied, step).get("GAZETTE_SOURCES") for step in STEPS}
    assert {name: each for name, each in configured.items() if each} == {
        "ingest": json.dumps(SOURCES),
        "feedback": json.dumps(SOURCES),
    }


def test_functions_receive_only_tables_they_may_access(
    prod: Synthesis,
) -> None:
    """Or may use in a stage with critical categories."""
    for step in STEPS:
        told = {
            value for name, value in _environment(prod, step).items() if name.endswith("_TABLE")
        }
        uses = step.tables_with("ses", has_critical=True)
        names = {what.partition("/")[0].title().replace("_", "") for what, _ in uses}
        assert told == {f"{{{name}}}" for name in names}


def test_functions_receive_only_queues_they_may_access(
    prod: Synthesis,
) -> None:
    """Those that it may send to, those whose length it may ask for, and those that feed it."""
    for step in STEPS:
        told = {
            value for name, value in _environment(prod, step).items() if name.endswith("_QUEUE_URL")
        }
        allowed = {
            grant.resource.replace(".Arn", "")
            for grant in prod.grants(step.name)
            if grant.action in {"sqs:SendMessage", "sqs:GetQueueAttributes"}
        }
        assert told - {""} == allowed - {_UNDELIVERED}


def test_failed_tick_is_sent_to_a_queue(prod: Synthesis) -> None:
    """Scheduler hands it over and looks no further; Lambda itself puts it on the queue."""
    kept = prod.service.of_type("AWS::Lambda::EventInvokeConfig").values()
    assert [each["DestinationConfig"] for each in kept] == [
        {"OnFailure": {"Destination": "{TicksUndelivered.Arn}"}}
    ] * 2


@pytest.mark.parametrize("step", ["generate", "resend"])
def test_sending_functions_receive_the_preferences_url(prod: Synthesis, step: str) -> None:
    _, function = prod.function(step)
    variables: Properties = function["Environment"]["Variables"]
    assert variables["GAZETTE_BASE_URL"] == "{EdgeApi.ApiEndpoint}"
    assert prod.service.outputs["PreferencesUrl"] == "{EdgeApi.ApiEndpoint}"


def _environment(synthesis: Synthesis, step: Step) -> dict[str, str]:
    _, function = synthesis.function(step.name)
    return dict(function["Environment"]["Variables"])


def _settings_of(step: Step) -> type[Settings]:
    module = import_module(f"gazette.settings.{_TOGETHER.get(step.name, step.name)}")
    kind: type[Settings] = getattr(module, f"{step.name.capitalize()}Settings")
    return kind
