"""Two stages of cdk.json that cannot both be deployed: synthesis says which, and what to do."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gazette_cdk.app import context, main
from gazette_cdk.stage.checks.others import Place, taken_by_others
from gazette_cdk.stages import other_stages, read_stage

_ROOT = Path(__file__).parents[2]
_ZONE = {"hosted_zone": {"id": "Z0123456789ABC", "name": "shop.dev"}}
_READY = {
    "sender": "Shop <digest@shop.dev>",
    "list_id": "digest.shop.dev",
    "alarm_email": "none",
    "links_domain": "none",
}
_CERTIFICATE = "arn:aws:acm:eu-west-1:123456789012:certificate/c"
_IN_IRELAND = {"region": "eu-west-1", "links_certificate": _CERTIFICATE}
_IN_FRANKFURT = {
    "region": "eu-central-1",
    "links_certificate": _CERTIFICATE.replace("eu-west-1", "eu-central-1"),
}


def told(
    prod: Mapping[str, Any], test: Mapping[str, Any], *, default: Place | None = None
) -> list[str]:
    """What synthesis says of the stage `test` beside `prod`; of `prod`, it says as much."""
    stages = {"prod": {**_READY, **prod}, "test": {**_READY, **test}}
    lines = {
        name: [
            *taken_by_others(
                read_stage(name, stages),
                other_stages(name, stages),
                default=default or Place(),
            )
        ]
        for name in stages
    }
    assert len(lines["prod"]) == len(lines["test"])
    return lines["test"]


def test_duplicate_bus_error_names_both_stages_and_the_remedy() -> None:
    (line,) = told({}, {})
    assert line == (
        "bus is 'gazette', but stage 'prod' uses the same event bus, 'gazette' (bus is "
        "'gazette'). The name of a bus must be unique in an account and Region. Choose a "
        "different bus, such as gazette-test, or give the stages different accounts or Regions."
    )


@pytest.mark.parametrize(
    ("prod", "test"),
    [
        ({}, {"bus": "gazette-test"}),
        ({"account": "111111111111"}, {"account": "222222222222"}),
        ({"region": "eu-west-1"}, {"region": "eu-central-1"}),
        ({"region": "eu-west-1"}, {}),  # nobody knows before there are credentials
        ({}, {"host_layers": True}),  # for the embedded engine
        ({"host_layers": True}, {}),
    ],
)
def test_bus_may_have_the_same_name_in_another_account_or_region(
    prod: dict[str, Any], test: dict[str, Any]
) -> None:
    assert told(prod, test) == []


@pytest.mark.parametrize(
    ("default", "is_same"),
    [
        (Place("111111111111", "eu-west-1"), True),
        (Place("222222222222", "eu-west-1"), False),
        (Place("111111111111", "eu-central-1"), False),
        (Place(), False),
    ],
)
def test_stage_comparison_defaults_to_account_and_region_of_the_credentials(
    default: Place, is_same: bool
) -> None:
    prod = {"account": "111111111111", "region": "eu-west-1"}
    assert bool(told(prod, {}, default=default)) is is_same


def test_domain_is_unique_per_account_and_region() -> None:
    both = {"domain": "shop.dev"}
    (line,) = told(both, {**both, "bus": "b"})
    assert line.startswith("domain is 'shop.dev', but stage 'prod' uses the same SES identity, ")
    assert "Remove domain from one of them" in line
    elsewhere = {**both, "bus": "b", "region": "eu-west-1"}
    assert told({**both, "region": "eu-central-1"}, elsewhere) == []
    assert told(both, {"domain": "mail.shop.dev", "bus": "b", "sender": "a@mail.shop.dev"}) == []


def test_links_domain_is_unique_per_region_across_accounts() -> None:
    both = {"links_domain": "links.shop.dev", **_IN_IRELAND}
    (line,) = told({**both, "account": "111111111111"}, {**both, "account": "222222222222"})
    assert "the same custom domain of API Gateway, 'links.shop.dev'" in line
    assert "such as test.links.shop.dev, or another Region" in line
    assert told(both, {**both, **_IN_FRANKFURT}) == []
    assert told({}, {"bus": "b"}) == []  # `none` is no domain


def test_links_domain_with_a_front_is_unique_across_regions() -> None:
    front = {
        "links_domain": "links.shop.dev",
        "front_rate_limit": 100,
        "front_certificate": _CERTIFICATE.replace("eu-west-1", "us-east-1"),
    }
    (line,) = told({**front, **_IN_IRELAND}, {**front, **_IN_FRANKFURT})
    assert "alternate domain name of CloudFront, 'links.shop.dev'" in line
    assert "remove front_rate_limit from one" in line
    assert told({**front, **_IN_IRELAND}, {"links_domain": "links.shop.dev", **_IN_FRANKFURT}) == []


@pytest.mark.parametrize(
    ("both", "test", "said"),
    [
        ({"domain": "shop.dev", "dmarc": ""}, {}, "'bounce.shop.dev'"),
        (
            {"domain": "shop.dev"},
            {"mail_from_domain": "bounce2.shop.dev"},
            "DNS record in zone Z0123456789ABC, '_dmarc.shop.dev'",
        ),
        ({"links_domain": "links.shop.dev"}, {}, "DNS record in zone Z0123456789ABC, 'links.shop"),
    ],
)
def test_dns_record_of_a_zone_is_unique_across_regions(
    both: dict[str, Any], test: dict[str, Any], said: str
) -> None:
    here, there = ({**both, **_ZONE, "region": each} for each in ("eu-west-1", "eu-central-1"))
    (line,) = told(here, {**there, **test})
    assert said in line
    assert "remove hosted_zone from one of them" in line
    assert told(here, {**there, **test, "hosted_zone": {"id": "Z9", "name": "shop.dev"}}) == []


def test_consequences_of_a_duplicate_domain_are_not_reported_separately() -> None:
    both = {"domain": "shop.dev", "links_domain": "links.shop.dev", **_ZONE}
    assert [line.partition(",")[0] for line in told(both, both)] == [
        "bus is 'gazette'",
        "domain is 'shop.dev'",
        "links_domain is 'links.shop.dev'",
    ]


def test_documented_move_to_another_region_can_be_synthesised() -> None:
    prod = {"domain": "shop.dev", "links_domain": "links.shop.dev", **_ZONE, "region": "eu-west-1"}
    central = {
        "domain": "shop.dev",
        "mail_from_domain": "bounce2.shop.dev",
        "dmarc": "",
        "links_domain": "links.shop.dev",
        **_IN_FRANKFURT,
    }
    assert told(prod, central) == []


def test_invalid_stage_is_still_compared_with_the_remaining_stages() -> None:
    """What is wrong with it is told when it is synthesised."""
    stages: dict[str, Any] = {
        "prod": _READY,
        "a": {"shard": 1, "bus": 7},
        "b": {"bus": "gazette", "shards": "4"},
        "c": "text",
    }
    lines = [
        *taken_by_others(read_stage("prod", stages), other_stages("prod", stages), default=Place())
    ]
    assert ["stage 'a'" in lines[0], "stage 'b'" in lines[1]] == [True, True]
    assert len(lines) == 2


@pytest.mark.parametrize(
    ("given", "setting"),
    [
        ({}, "bus"),
        ({"bus": "b", "domain": "shop.dev"}, "domain"),
        ({"bus": "b", "links_domain": "l.shop.dev", **_ZONE}, "links_domain"),
    ],
)
def test_stage_conflict_is_reported_on_a_single_line_by_synthesis(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], setting: str
) -> None:
    prod = {**_READY, **given, "bus": "gazette"}
    stages = {"prod": prod, "test": {**_READY, **given}}
    known = context()
    monkeypatch.setattr(
        "gazette_cdk.app.context", lambda: {**known, "stage": "test", "stages": stages}
    )
    with pytest.raises(SystemExit) as ended:
        main()
    (line,) = str(ended.value.code).splitlines()
    value = stages["test"].get(setting, "gazette")
    begin = f"gazette: Stage 'test' in cdk.json: {setting} is '{value}', but stage 'prod' uses"
    assert line.startswith(begin)


@pytest.mark.parametrize("region", ["eu-west-1", "eu-central-1"])
def test_account_and_region_of_the_credentials_come_from_cdk(region: str) -> None:
    stages = {"prod": {**_READY, "region": "eu-west-1"}, "test": _READY}
    ended = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import sys; sys.modules['aws_cdk'] = None; from gazette_cdk.app import main; main()",
        ],
        cwd=_ROOT,
        env={
            **os.environ,
            "CDK_CONTEXT_JSON": json.dumps({"stage": "test", "stages": stages}),
            "CDK_DEFAULT_ACCOUNT": "111111111111",
            "CDK_DEFAULT_REGION": region,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ("uses the same event bus" in ended.stderr) is (region == "eu-west-1")
