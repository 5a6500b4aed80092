"""The front is switched on and off while links in emails work.

What is asserted of CloudFormation: what a stack imports cannot leave the stack that exports it;
stacks are deployed in their order; what a template loses is deleted after all updates of it.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-importvalue.html
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise, permutations
from typing import Any

import pytest

from gazette_cdk.ways import NO_FRONT, STATES
from tests.infra.conftest import Stages
from tests.infra.synthesis import Properties, Synthesis, Template, without_hash

_HOST = "links.gazette.dev"
_ZONE = {"id": "Z0123", "name": "gazette.dev"}
_NO_DOMAIN = "no domain"

_API, _FRONT = "{LinksName.RegionalDomainName}", "{FrontDistribution.DomainName}"
"""Where the name may lead."""


@pytest.fixture(scope="session")
def states(stages: Stages, fronted: Synthesis) -> Mapping[str, Synthesis]:
    """A stage with a domain for its links in each state of its front, and without a domain."""

    def made(state: str, **settings: Any) -> Synthesis:
        return stages(
            f"front_{state}".replace(" ", "_"),
            "prod",
            bundled=False,
            region="eu-central-1",
            **settings,
        )

    domain = {"links_domain": _HOST, "hosted_zone": _ZONE}
    *others, only = (each for each in STATES if each != NO_FRONT)
    fronts = {each: {"front": each, "front_rate_limit": 2000} for each in others}
    return {
        _NO_DOMAIN: made(_NO_DOMAIN, links_domain="none"),
        NO_FRONT: made("none", **domain),
        **{each: made(each, **domain, **front) for each, front in fronts.items()},
        only: fronted,
    }


def _templates(synthesis: Synthesis) -> dict[str, Template]:
    given = {"data": synthesis.data, "service": synthesis.service, "front": synthesis.front}
    return {part: template for part, template in given.items() if template}


def _records(template: Template) -> dict[str, Properties]:
    """The records of the name, by their logical ids."""
    return {
        name: resource
        for name, resource in template.raw["Resources"].items()
        if resource["Type"] == "AWS::Route53::RecordSet"
        and resource["Properties"]["Name"] == f"{_HOST}."
    }


def _target(synthesis: Synthesis) -> str:
    """Where the name leads."""
    records = synthesis.service.of_type("AWS::Route53::RecordSet").values()
    (target,) = {each["AliasTarget"]["DNSName"] for each in records if each["Name"] == f"{_HOST}."}
    return str(target)


def _open(synthesis: Synthesis) -> set[str]:
    """What answers whoever comes to it by the name."""
    service = synthesis.service
    (api,) = service.of_type("AWS::ApiGatewayV2::Api").values()
    found = set()
    if service.has("AWS::ApiGatewayV2::ApiMapping"):
        (mapping,) = service.of_type("AWS::ApiGatewayV2::ApiMapping").values()
        assert mapping["DomainName"] == _HOST
        found.add(_API)
    if service.has("AWS::CloudFront::Distribution") and not api.get("DisableExecuteApiEndpoint"):
        (distribution,) = service.of_type("AWS::CloudFront::Distribution").values()
        assert distribution["DistributionConfig"]["Aliases"] == [_HOST]
        found.add(_FRONT)
    return found


def _used(value: Any, function: str) -> Iterator[Any]:
    """What `function` of CloudFormation is given, anywhere in a template."""
    if isinstance(value, dict):
        if set(value) == {function}:
            yield value[function]
        for each in value.values():
            yield from _used(each, function)
    elif isinstance(value, list):
        for each in value:
            yield from _used(each, function)


def test_link_domain_points_to_an_active_endpoint_in_every_state(
    states: Mapping[str, Synthesis],
) -> None:
    found = {state: (_target(states[state]), _open(states[state])) for state in STATES}
    assert found == {
        NO_FRONT: (_API, {_API}),
        "ready": (_API, {_API, _FRONT}),
        "open": (_FRONT, {_API, _FRONT}),
        "only": (_FRONT, {_FRONT}),
    }


def test_both_endpoints_respond_during_a_state_transition(
    states: Mapping[str, Synthesis],
) -> None:
    """In either direction: resolvers remember the old end for a minute."""
    for one, other in pairwise(states[state] for state in STATES):
        assert {_target(one), _target(other)} <= _open(one) & _open(other)


def test_dns_records_belong_to_the_same_stack_in_every_state(
    states: Mapping[str, Synthesis],
) -> None:
    """Route 53 refuses a record that is there: it could not go from one stack to another."""
    kinds: dict[str, str] = {}
    for state in STATES:
        found = {part: _records(each) for part, each in _templates(states[state]).items()}
        assert [part for part, records in found.items() if records] == ["service"]
        for name, record in found["service"].items():
            assert kinds.setdefault(record["Properties"]["Type"], name) == name
    assert set(kinds) == {"A", "AAAA"}


def test_domain_and_certificate_do_not_change_with_the_front(
    states: Mapping[str, Synthesis],
) -> None:
    def kept(synthesis: Synthesis) -> dict[str, Properties]:
        return {
            name: resource
            for name, resource in synthesis.data.raw["Resources"].items()
            if name.startswith("Links") and "Key" not in name
        }

    first, *others = (kept(states[state]) for state in STATES)
    assert {each["Type"] for each in first.values()} == {
        "AWS::ApiGatewayV2::DomainName",
        "AWS::CertificateManager::Certificate",
    }
    assert all(each == first for each in others)


def test_state_transition_removes_no_export_still_in_use(states: Mapping[str, Synthesis]) -> None:
    """From any state to any other, the data stack is deployed before the service stack."""
    for before, after in permutations(states.values(), 2):
        imported = {str(name) for name in _used(before.service.raw, "Fn::ImportValue")}
        assert imported <= after.data.exports.keys()


def test_rollback_finds_the_previous_dns_target(states: Mapping[str, Synthesis]) -> None:
    """The service stack may fail behind the data stack: what it read before is still there."""
    read = {
        state: {
            f"{each['StackName']}.{each['OutputName']}"
            for each in _used(states[state].service.raw, "Fn::GetStackOutput")
            if each["StackName"] == "GazetteDataProd"
        }
        for state in STATES
    }
    assert read[NO_FRONT]
    for before, after in permutations(STATES, 2):
        assert read[before] <= states[after].data.read_as("GazetteDataProd").keys()


def test_stacks_with_certificates_are_deployed_in_sequence(states: Mapping[str, Synthesis]) -> None:
    """Both certificates are validated by one record, which two stacks at once would fight over."""
    after = states["only"].after
    assert after["GazetteFrontProd"] == {"GazetteDataProd"}
    assert after["GazetteProd"] == {"GazetteDataProd", "GazetteFrontProd"}


def test_dns_record_is_created_after_the_api_mapping(states: Mapping[str, Synthesis]) -> None:
    for state in (NO_FRONT, "ready"):
        (record,) = _records(states[state].service).values()
        assert [without_hash(each) for each in record["DependsOn"]] == ["EdgeMapping"]


def test_link_domain_and_certificates_are_retained_with_data(
    states: Mapping[str, Synthesis],
) -> None:
    """When the stack is deleted, and when the stage gets another `links_domain`."""
    kept = ("AWS::ApiGatewayV2::DomainName", "AWS::CertificateManager::Certificate")
    found = [
        (resource["DeletionPolicy"], resource["UpdateReplacePolicy"])
        for template in _templates(states["only"]).values()
        for resource in template.raw["Resources"].values()
        if resource["Type"] in kept
    ]
    assert found == [("Retain", "Retain")] * 3


def test_former_link_domain_keeps_working_after_a_change(
    states: Mapping[str, Synthesis],
) -> None:
    """The former name keeps its record and its mapping; with their stack both go."""
    for state in (NO_FRONT, "ready"):
        resources = states[state].service.raw["Resources"].values()
        led_by = [
            (resource["UpdateReplacePolicy"], resource["DeletionPolicy"])
            for resource in resources
            if resource["Type"] in {"AWS::ApiGatewayV2::ApiMapping", "AWS::Route53::RecordSet"}
        ]
        assert led_by == [("Retain", "Delete")] * 2


def test_stage_without_retention_leaves_no_resources(stages: Stages) -> None:
    thrown = stages(
        "front_thrown",
        "prod",
        bundled=False,
        retain=False,
        region="eu-central-1",
        links_domain=_HOST,
        hosted_zone=_ZONE,
        front_rate_limit=2000,
        front="ready",
    )
    assert "Retain" not in {
        resource.get(policy)
        for template in _templates(thrown).values()
        for resource in template.raw["Resources"].values()
        if not resource["Type"].startswith("AWS::Lambda::")
        for policy in ("DeletionPolicy", "UpdateReplacePolicy")
    }
