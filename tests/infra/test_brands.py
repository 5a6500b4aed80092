"""Two brands are two stages with one account and one domain, as docs/several-brands.md says."""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from gazette_cdk import Gazette, Refused
from gazette_cdk.settings_file import StageFile
from tests.infra.app import new_app

PAGE = (Path(__file__).parents[2] / "docs" / "several-brands.md").read_text()
NAMES = (
    *("AlarmName", "ArchiveName", "BucketName", "DashboardName", "DomainName", "EmailIdentity"),
    *("FunctionName", "LogGroupName", "ManagedPolicyName", "QueueName", "RoleName", "TableName"),
)
_PLAIN = {
    "AWS::ApiGatewayV2::Api",
    "AWS::Events::EventBus",
    "AWS::Route53::RecordSet",
    "AWS::SES::ConfigurationSet",
    "AWS::SSM::Parameter",
}
"""Types whose property `Name` is the name of the resource."""


def brands() -> StageFile:
    """The settings on the page, with domains that can be registered and Gazette's own templates."""
    text = PAGE.split("```toml\n")[1].split("```")[0].replace(".example", ".dev")
    stages = tomllib.loads(text)
    for settings in stages.values():
        del settings["templates"]
    return StageFile(Path("gazette.toml"), stages)


def deployed(app: cdk.App, *names: str) -> dict[str, list[dict[str, Any]]]:
    """The resources of each stage."""
    constructs = {
        name: Gazette(app, name.capitalize(), stage=name, settings=brands()) for name in names
    }
    assembly = app.synth()
    return {
        name: [
            resource
            for stack in (built.data, built.service)
            for resource in assembly.get_stack_by_name(stack.stack_name)
            .template["Resources"]
            .values()
        ]
        for name, built in constructs.items()
    }


def names_of(resource: dict[str, Any]) -> list[tuple[str, str]]:
    """The names that a resource takes in its account and Region."""
    properties = resource.get("Properties", {})
    keys = [*NAMES, *(["Name"] if resource["Type"] in _PLAIN else [])]
    type_of_record = str(properties.get("Type", ""))
    return [
        (resource["Type"], f"{json.dumps(properties[key])} {type_of_record}")
        for key in keys
        if key in properties and not isinstance(properties[key], dict)
    ]


def test_two_brands_of_the_page_share_an_account_and_a_domain() -> None:
    resources = deployed(new_app(), "shop", "forum")
    taken = {
        name: Counter(each for resource in found for each in names_of(resource))
        for name, found in resources.items()
    }
    assert len(taken["shop"]) > 100
    assert not taken["shop"].keys() & taken["forum"].keys()
    identities = {
        name: [each for each in found if each["Type"] == "AWS::SES::EmailIdentity"]
        for name, found in resources.items()
    }
    assert [len(identities[name]) for name in ("shop", "forum")] == [1, 0]


def test_second_brand_may_send_from_the_domain_of_the_first() -> None:
    resources = deployed(new_app(), "forum")["forum"]
    policies = json.dumps([each for each in resources if each["Type"] == "AWS::IAM::Policy"])
    assert "ses:SendEmail" in policies
    assert ":identity/news.acme.dev" in policies


@pytest.mark.parametrize("setting", ["bus", "domain", "links_domain"])
def test_brands_that_claim_the_same_name_are_refused(setting: str) -> None:
    file = brands()
    file.stages["forum"][setting] = file.stages["shop"][setting]
    with pytest.raises(Refused) as caught:
        Gazette(new_app(), "Forum", stage="forum", settings=file)
    assert any(
        f"{setting} is " in line and "stage 'shop' uses the same" in line
        for line in str(caught.value.code).splitlines()
    )
