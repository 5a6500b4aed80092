"""The domain of the links in emails, and what stands before the HTTP API."""

from typing import Any

import pytest

from gazette_cdk.stages import StageError, read_stage
from tests.infra.conftest import Stages
from tests.infra.synthesis import Properties, Synthesis, without_hash

_HOST = "links.gazette.dev"
_ZONE = {"id": "Z0123", "name": "gazette.dev"}
_ELSEWHERE = "arn:aws:acm:eu-central-1:123456789012:certificate/1"
_VIRGINIA = "arn:aws:acm:us-east-1:123456789012:certificate/1"
_VALID = {"sender": "Gazette <digest@example.com>", "list_id": "digest.example.com"}


@pytest.fixture(scope="session")
def own_domain(stages: Stages) -> Synthesis:
    return stages("own_domain", "prod", bundled=False, links_domain=_HOST, hosted_zone=_ZONE)


@pytest.fixture(scope="session")
def elsewhere(stages: Stages) -> Synthesis:
    """The zone of the domain is at another provider."""
    return stages(
        "elsewhere",
        "prod",
        bundled=False,
        links_domain=_HOST,
        links_certificate=_ELSEWHERE,
        api_address=True,
    )


@pytest.fixture(scope="session")
def limited_elsewhere(stages: Stages) -> Synthesis:
    return stages(
        "limited_elsewhere",
        "prod",
        bundled=False,
        region="us-east-1",
        links_domain=_HOST,
        links_certificate=_VIRGINIA,
        front_certificate=_VIRGINIA,
        front_rate_limit=100,
    )


def _api(synthesis: Synthesis) -> Properties:
    (api,) = synthesis.service.of_type("AWS::ApiGatewayV2::Api").values()
    return api


def _distribution(synthesis: Synthesis) -> Properties:
    (found,) = synthesis.service.of_type("AWS::CloudFront::Distribution").values()
    return dict(found["DistributionConfig"])


def _records(resources: dict[str, Properties]) -> dict[str, Properties]:
    return {
        each["Type"]: each for each in resources.values() if each["Name"] in {_HOST, f"{_HOST}."}
    }


def test_link_domain_and_its_certificate_outlive_the_service_stack(own_domain: Synthesis) -> None:
    (name,) = own_domain.data.of_type("AWS::ApiGatewayV2::DomainName").values()
    (certificate,) = own_domain.data.of_type("AWS::CertificateManager::Certificate")
    assert name["DomainName"] == _HOST
    (configuration,) = name["DomainNameConfigurations"]
    assert configuration["CertificateArn"] == f"{{{certificate}}}"
    assert configuration["SecurityPolicy"] == "TLS_1_2"
    assert not own_domain.service.has("AWS::ApiGatewayV2::DomainName")


def test_certificate_and_dns_record_are_created_in_the_hosted_zone(
    own_domain: Synthesis,
) -> None:
    (certificate,) = own_domain.data.of_type("AWS::CertificateManager::Certificate").values()
    assert certificate["ValidationMethod"] == "DNS"
    assert certificate["DomainValidationOptions"] == [
        {"DomainName": _HOST, "HostedZoneId": "Z0123"}
    ]
    record = _records(own_domain.service.of_type("AWS::Route53::RecordSet"))["A"]
    assert record["HostedZoneId"] == "Z0123"
    assert record["AliasTarget"]["DNSName"] == "{LinksName.RegionalDomainName}"


def test_service_responds_only_at_the_link_domain(own_domain: Synthesis) -> None:
    (mapping,) = own_domain.service.of_type("AWS::ApiGatewayV2::ApiMapping").values()
    assert mapping == {"ApiId": "{EdgeApi}", "DomainName": _HOST, "Stage": "$default"}
    (stage,) = own_domain.service.resources["EdgeMapping"]["DependsOn"]
    assert without_hash(stage) == "EdgeStage"
    assert _api(own_domain)["DisableExecuteApiEndpoint"] is True


def test_emails_link_to_the_link_domain(own_domain: Synthesis, fronted: Synthesis) -> None:
    for synthesis in (own_domain, fronted):
        for step in ("generate", "resend", "preferences"):
            variables = synthesis.function(step)[1]["Environment"]["Variables"]
            assert variables["GAZETTE_BASE_URL"] == f"https://{_HOST}"
        assert synthesis.service.outputs["PreferencesUrl"] == f"https://{_HOST}"


def test_external_zone_gets_the_dns_target_as_a_stack_output(elsewhere: Synthesis) -> None:
    (name,) = elsewhere.data.of_type("AWS::ApiGatewayV2::DomainName").values()
    assert name["DomainNameConfigurations"][0]["CertificateArn"] == _ELSEWHERE
    assert not elsewhere.data.has("AWS::CertificateManager::Certificate")
    for template in (elsewhere.data, elsewhere.service):
        assert not template.has("AWS::Route53::RecordSet")
    assert elsewhere.data.outputs["LinksTarget"] == "{LinksName.RegionalDomainName}"


def test_api_endpoint_stays_enabled_if_configured(
    elsewhere: Synthesis,
) -> None:
    assert not _api(elsewhere).get("DisableExecuteApiEndpoint")


def test_stage_without_a_link_domain_has_no_domain_resources(prod: Synthesis) -> None:
    for template in (prod.data, prod.service):
        for kind in ("DomainName", "ApiMapping"):
            assert not template.has(f"AWS::ApiGatewayV2::{kind}")
        assert not template.has("AWS::CloudFront::Distribution")
    assert not _api(prod).get("DisableExecuteApiEndpoint")
    assert prod.front is None


def test_attack_requests_are_rate_limited_per_ip_address(fronted: Synthesis) -> None:
    """It gets 429 from WAF, before anything counts against the throttle of all."""
    assert fronted.front
    (rules,) = fronted.front.of_type("AWS::WAFv2::WebACL").values()
    assert rules["Scope"] == "CLOUDFRONT"
    (rule,) = rules["Rules"]
    assert rule["Statement"]["RateBasedStatement"] == {
        "AggregateKeyType": "IP",
        "EvaluationWindowSec": 300,
        "Limit": 2000,
    }
    assert rule["Action"] == {"Block": {"CustomResponse": {"ResponseCode": 429}}}
    assert _distribution(fronted)["WebACLId"] == "{Rules.Arn}"


def test_attack_api_address_behind_the_rate_limit_is_not_published(fronted: Synthesis) -> None:
    """The distribution alone knows the API's address; no email, record or certificate has it."""
    (origin,) = _distribution(fronted)["Origins"]
    own = "{EdgeApi}.execute-api.eu-central-1.{AWS::URLSuffix}"
    assert origin["DomainName"] == own
    assert not fronted.service.has("AWS::ApiGatewayV2::ApiMapping")
    deployed = str(fronted.service.outputs) + str(fronted.service.of_type("AWS::Lambda::Function"))
    assert "execute-api" not in deployed
    assert "{EdgeApi" not in deployed


def test_requests_pass_through_cloudfront_unchanged(fronted: Synthesis) -> None:
    """One-click unsubscribe is a POST with a body; pages follow Accept-Language and the query.

    https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-origin-request-policies.html
    https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-cache-policies.html
    """
    behaviour = _distribution(fronted)["DefaultCacheBehavior"]
    assert {"GET", "HEAD", "POST"} <= set(behaviour["AllowedMethods"])
    all_but_host, nothing_stored = (
        "b689b0a8-53d0-40ab-baf2-68738e2966ac",
        "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",
    )
    assert behaviour["OriginRequestPolicyId"] == all_but_host
    assert behaviour["CachePolicyId"] == nothing_stored
    assert behaviour["ViewerProtocolPolicy"] == "redirect-to-https"
    (origin,) = _distribution(fronted)["Origins"]
    assert origin["CustomOriginConfig"]["OriginProtocolPolicy"] == "https-only"


def test_attack_cloudfront_and_waf_log_no_paths(fronted: Synthesis) -> None:
    assert "Logging" not in _distribution(fronted)
    assert fronted.front
    (rules,) = fronted.front.of_type("AWS::WAFv2::WebACL").values()
    for each in (rules, *rules["Rules"]):
        assert each["VisibilityConfig"]["SampledRequestsEnabled"] is False
    assert not fronted.front.has("AWS::WAFv2::LoggingConfiguration")


def test_link_domain_points_to_cloudfront_for_ipv4_and_ipv6(fronted: Synthesis) -> None:
    records = _records(fronted.service.of_type("AWS::Route53::RecordSet"))
    assert {kind: each["AliasTarget"]["DNSName"] for kind, each in records.items()} == (
        dict.fromkeys(("A", "AAAA"), "{FrontDistribution.DomainName}")
    )
    assert _distribution(fronted)["Aliases"] == [_HOST]


def test_front_stack_is_in_us_east_1_and_protected(fronted: Synthesis) -> None:
    assert fronted.places["GazetteFrontProd"].endswith("/us-east-1")
    assert "GazetteFrontProd" in fronted.protected
    assert fronted.tags["GazetteFrontProd"]["gazette:part"] == "front"


def test_external_zone_uses_the_configured_us_east_1_certificate(
    limited_elsewhere: Synthesis,
) -> None:
    viewer = _distribution(limited_elsewhere)["ViewerCertificate"]
    assert viewer["AcmCertificateArn"] == _VIRGINIA
    assert viewer["MinimumProtocolVersion"] == "TLSv1.2_2021"
    assert limited_elsewhere.service.outputs["FrontTarget"] == "{FrontDistribution.DomainName}"
    assert limited_elsewhere.service.told["FrontTarget"].startswith("The name of the front. ")
    assert limited_elsewhere.data.told["LinksTarget"].startswith("The name of the HTTP API. ")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"links_domain": "Links.gazette.dev", "hosted_zone": _ZONE}, "must be a domain in lower"),
        ({"links_domain": "links", "hosted_zone": _ZONE}, "must be a domain in lower"),
        ({"links_domain": _HOST}, "links_domain must be under the name of hosted_zone"),
        (
            {"links_domain": "links.mygazette.dev", "hosted_zone": _ZONE},
            "must be under the name of hosted_zone",
        ),
        (
            {"links_domain": _HOST, "hosted_zone": _ZONE, "base_url": "https://a.dev"},
            "links_domain and base_url cannot be used together",
        ),
        ({"links_domain": "none", "base_url": "ftp://a.dev"}, "base_url must begin with https"),
        ({"links_domain": "none", "base_url": "https://[::1"}, "base_url is not a URL with a host"),
        ({"links_domain": "none", "base_url": "https:///a"}, "base_url is not a URL with a host"),
        ({"api_address": True}, "api_address needs links_domain"),
        ({"front_rate_limit": 2000}, "front_rate_limit needs links_domain"),
        (
            {"api_address": True, "front_rate_limit": 2000},
            "api_address and front_rate_limit need links_domain",
        ),
        ({"links_domain": "none", "links_certificate": _ELSEWHERE}, "needs links_domain"),
        (
            {"links_domain": "none", "front": "ready"},
            "front needs front_rate_limit",
        ),
        (
            {"links_domain": "none", "front_certificate": _VIRGINIA},
            "front_certificate needs front_rate_limit",
        ),
        (
            {"links_domain": _HOST, "hosted_zone": _ZONE, "front": "open"},
            "front needs front_rate_limit",
        ),
        (
            {"links_domain": _HOST, "links_certificate": "arn:x"},
            "must be the ARN of an ACM certificate",
        ),
        (
            {"links_domain": _HOST, "links_certificate": _VIRGINIA, "region": "eu-central-1"},
            "links_certificate must be the ARN of an ACM certificate in the Region",
        ),
        (
            {
                "links_domain": _HOST,
                "links_certificate": _ELSEWHERE,
                "region": "eu-central-1",
                "front_rate_limit": 2000,
            },
            "front_rate_limit needs front_certificate",
        ),
        (
            {"links_domain": _HOST, "hosted_zone": _ZONE, "front_certificate": _VIRGINIA},
            "front_certificate needs front_rate_limit",
        ),
        (
            {"links_domain": _HOST, "hosted_zone": _ZONE, "front": "half"},
            "front must be ready, open or only",
        ),
        (
            {
                "links_domain": _HOST,
                "links_certificate": _ELSEWHERE,
                "front_certificate": _ELSEWHERE,
                "region": "eu-central-1",
                "front_rate_limit": 2000,
            },
            "front_certificate must be the ARN of an ACM certificate in us-east-1",
        ),
        (
            {"links_domain": _HOST, "hosted_zone": _ZONE, "front_rate_limit": 2000},
            "front_rate_limit needs region",
        ),
        (
            {
                "links_domain": _HOST,
                "hosted_zone": _ZONE,
                "front_rate_limit": 9,
                "region": "eu-central-1",
            },
            "front_rate_limit must be 100 to 1000000",
        ),
        (
            {
                "links_domain": _HOST,
                "hosted_zone": _ZONE,
                "front_rate_limit": 2000,
                "region": "eu-central-1",
                "api_address": True,
            },
            "front_rate_limit and api_address cannot be used together",
        ),
        ({"alarm_email": "nobody"}, "alarm_email must be one address"),
        ({"links_domain": f"links.{'a' * 64}", "hosted_zone": _ZONE}, "links_domain must be a"),
    ],
)
def test_links_without_a_reachable_target_are_rejected(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(StageError, match=words):
        read_stage("prod", {"prod": {**_VALID, **wrong}})
