"""A deployment is one version of every function, and everything calls the alias `live`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import aws_lambda as lambda_
from gazette.settings.environment import LIVE

from gazette_cdk.constructs import layers
from gazette_cdk.stacks import service
from gazette_cdk.stacks.version import DeploymentLabel, gazette_version
from gazette_cdk.topology import STEPS
from tests.infra.conftest import Stages
from tests.infra.synthesis import Synthesis, synthesise

_MAY_NAME_A_FUNCTION = {
    "AWS::Lambda::Version": {"FunctionName"},
    "AWS::Lambda::Alias": {"FunctionName"},
    "AWS::Lambda::EventInvokeConfig": {"FunctionName"},  # with the alias as its qualifier
    "AWS::CloudWatch::Alarm": {"Metrics"},  # Lambda counts an alias under its function's name
}
"""By type, the properties that name a function as such, without asking for one of its versions."""


def test_functions_are_invoked_only_by_alias(prod: Synthesis, tracking: Synthesis) -> None:
    seen = set()
    for synthesis in (prod, tracking):
        functions = {synthesis.function(step.name)[0] for step in STEPS}
        bare = {f"{{{name}}}" for name in functions} | {f"{{{name}.Arn}}" for name in functions}
        for name, resource in synthesis.service.resources.items():
            allowed = _MAY_NAME_A_FUNCTION.get(resource["Type"], set())
            for key, value in resource.get("Properties", {}).items():
                named = {text for text in _texts(value) for each in bare if each in text}
                assert not named or key in allowed, (name, key, named)
                seen |= {resource["Type"]} if named else set()
    assert seen == _MAY_NAME_A_FUNCTION.keys()


def test_failure_destination_of_ticks_is_configured_on_the_alias(prod: Synthesis) -> None:
    configured = prod.service.of_type("AWS::Lambda::EventInvokeConfig").values()
    assert {(each["FunctionName"], each["Qualifier"]) for each in configured} == {
        (f"{{{prod.function(step)[0]}}}", f"{{{prod.live(step)}}} split by :, part 7")
        for step in ("fanout", "sweep")
    }


def test_every_alias_waits_for_all_versions_to_be_published(prod: Synthesis) -> None:
    """Then they switch within seconds, and no function runs alone with what the others lack."""
    raw = prod.service.raw["Resources"]
    versions = {name for name in raw if raw[name]["Type"] == "AWS::Lambda::Version"}
    aliases = [each for each in raw.values() if each["Type"] == "AWS::Lambda::Alias"]
    assert len(versions) == len(aliases) == len(STEPS) + 2
    for alias in aliases:
        assert set(alias["DependsOn"]) == versions
        assert alias["Properties"]["Name"] == LIVE
        assert "RoutingConfig" not in alias["Properties"]


def test_version_is_retained_except_after_a_failed_deployment(prod: Synthesis) -> None:
    """One that stayed would be the last one when the same is deployed again, and Lambda would
    publish none: https://docs.aws.amazon.com/lambda/latest/api/API_PublishVersion.html
    """
    for name in _versions(prod):
        resource = prod.service.raw["Resources"][name]
        assert resource["DeletionPolicy"] == "RetainExceptOnCreate"
        assert resource["UpdateReplacePolicy"] == "Retain"
        assert resource["Properties"].keys() == {"FunctionName"}


def test_every_function_records_its_deployment(prod: Synthesis) -> None:
    (said,) = {prod.function(step.name)[1]["Description"] for step in STEPS}
    assert said == f"gazette {gazette_version()}, deployment {said[-12:]}"


def test_new_version_of_unchanged_code_is_a_deployment_of_its_own(
    prod: Synthesis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise `gazette rollback` could not tell the deployments of two versions apart."""
    monkeypatch.setattr(service, "gazette_version", lambda: "9.9.9")
    changed = synthesise("prod", tmp_path, bundled=False)
    names = {
        DeploymentLabel.read(each.function("generate")[1]["Description"])
        for each in (prod, changed)
    }
    assert {label.version for label in names if label} == {gazette_version(), "9.9.9"}
    assert len({label.name for label in names if label}) == 2
    assert not _versions(changed) & _versions(prod)


def test_identical_deployment_publishes_no_version(prod: Synthesis, stages: Stages) -> None:
    assert _versions(stages("again", "prod", bundled=False)) == _versions(prod)


def test_changed_function_setting_publishes_new_versions_of_all_functions(
    prod: Synthesis, stages: Stages
) -> None:
    changed = stages("pause", "prod", bundled=False, soft_bounces=6)
    told = {
        step.name
        for step in STEPS
        if prod.function(step.name)[1]["Environment"]
        != changed.function(step.name)[1]["Environment"]
    }
    assert told == {"feedback"}
    assert not _versions(changed) & _versions(prod)


def test_changed_layer_publishes_new_versions_of_all_functions(
    prod: Synthesis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version holds the layers that it was published with, so a handler never runs on others."""
    code = lambda_.Code.from_asset(str(Path(__file__).parent))
    monkeypatch.setattr(layers, "core_code", lambda *_: code)
    changed = synthesise("prod", tmp_path, bundled=False)
    for step in STEPS:
        before, after = (each.function(step.name)[1] for each in (prod, changed))
        assert {**after, "Description": ""} == {**before, "Description": ""}
    assert not _versions(changed) & _versions(prod)


def _versions(synthesis: Synthesis) -> set[str]:
    raw = synthesis.service.raw["Resources"]
    found = {name for name in raw if raw[name]["Type"] == "AWS::Lambda::Version"}
    assert len(found) == len(STEPS) + 2
    return found


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for each in value.values():
                yield from _texts(each)
        case list():
            for each in value:
                yield from _texts(each)
