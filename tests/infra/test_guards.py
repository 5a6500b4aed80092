"""Guards: where a stage is deployed, what protects it, and what it is charged to."""

from typing import Any

import pytest

from gazette_cdk.app import context
from gazette_cdk.guards import not_ready
from gazette_cdk.stages import StageError, read_stage
from tests.infra.conftest import Stages
from tests.infra.synthesis import Synthesis

_STACKS = {"GazetteDataProd": "data", "GazetteProd": "service"}
_VALID = {"sender": "Gazette <digest@example.com>", "list_id": "digest.example.com"}


def test_stage_is_deployed_to_its_configured_account_and_region(guarded: Synthesis) -> None:
    """The CDK then refuses credentials of another account."""
    assert guarded.places == dict.fromkeys(_STACKS, "aws://123456789012/eu-central-1")


def test_unset_account_defaults_to_the_account_of_the_credentials(prod: Synthesis) -> None:
    assert prod.places == dict.fromkeys(_STACKS, "aws://unknown-account/unknown-region")


def test_stacks_with_retained_data_have_termination_protection(
    prod: Synthesis, local: Synthesis
) -> None:
    assert prod.protected == set(_STACKS)
    assert not local.protected


def test_each_stack_is_tagged_with_stage_and_part(prod: Synthesis, guarded: Synthesis) -> None:
    own = {
        stack: {"gazette:stage": "prod", "gazette:part": part} for stack, part in _STACKS.items()
    }
    assert prod.tags == own
    assert guarded.tags == {stack: {**tags, "cost-center": "4711"} for stack, tags in own.items()}


def test_events_are_archived_only_if_configured(prod: Synthesis, guarded: Synthesis) -> None:
    assert not prod.service.has("AWS::Events::Archive")
    (archive,) = guarded.service.of_type("AWS::Events::Archive").values()
    assert (archive["SourceArn"], archive["RetentionDays"]) == ("{Bus.Arn}", 7)
    assert archive["EventPattern"] == {"source": [{"prefix": ""}]}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"account": "1234"}, "account must be twelve digits"),
        ({"region": "Frankfurt"}, "region must be an AWS Region"),
        ({"tags": {"aws:team": "x"}}, "tags has the key 'aws:team'"),
        ({"tags": {"gazette:stage": "x"}}, "tags has the key 'gazette:stage'"),
        ({"tags": {"team": 7}}, "tags must give 'team' a text"),
        ({"archive_days": 31}, "archive_days must be 0 to 30"),
        ({"archive_days": -1}, "archive_days must be 0 to 30"),
    ],
)
def test_ineffective_protection_setting_is_rejected(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(StageError, match=words):
        read_stage("prod", {"prod": {**_VALID, **wrong}})


_READY = {
    "sender": "Gazette <digest@gazette.dev>",
    "list_id": "digest.gazette.dev",
    "alarm_email": "none",
    "links_domain": "none",
}


@pytest.mark.parametrize(
    ("given", "asked_for"),
    [
        ({}, []),
        ({"sender": "Gazette <digest@mail.example.com>"}, ["sender"]),
        ({"sender": "digest@shop.example"}, ["sender"]),
        ({"immediate_sender": "now@gazette.test"}, ["immediate_sender"]),
        ({"list_id": "digest.example.org"}, ["list_id"]),
        ({"alarm_email": ""}, ["alarm_email"]),
        ({"alarm_email": "ops@example.net"}, ["alarm_email"]),
        ({"alarm_email": "ops@gazette.dev"}, []),
        ({"links_domain": ""}, ["links_domain"]),
        ({"links_domain": "", "base_url": "https://links.gazette.dev"}, []),
        ({"links_domain": "", "base_url": "https://links.example"}, ["base_url"]),
        ({"links_domain": "", "base_url": "http://127.0.0.1:8080"}, ["base_url"]),
        ({"links_domain": "", "base_url": "http://127.0.0.1:8080", "retain": False}, []),
        ({"sender": "digest@counterexample.com", "list_id": "myexample.com"}, []),
        ({"links_domain": "", "alarm_email": "", "retain": False}, []),
    ],
)
def test_retained_stage_requires_an_owner_and_permanent_links(
    given: dict[str, Any], asked_for: list[str]
) -> None:
    """Domains that nobody can have: https://www.rfc-editor.org/rfc/rfc2606"""
    stage = read_stage("prod", {"prod": {**_READY, **given}})
    assert [each.split()[0] for each in not_ready(stage)] == asked_for


def test_demo_stage_requires_no_settings() -> None:
    assert not list(not_ready(read_stage("local", context()["stages"])))


def test_alarms_without_a_recipient_have_no_subscription(stages: Stages) -> None:
    silent = stages("silent", "prod", bundled=False, alarm_email="none", links_domain="none")
    assert not silent.service.has("AWS::SNS::Subscription")
    assert not silent.data.has("AWS::ApiGatewayV2::DomainName")
