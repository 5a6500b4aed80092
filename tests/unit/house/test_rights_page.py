"""docs/rights-to-deploy.md has the policies that AWS's schemas require, and IAM accepts them."""

import json

import pytest

from tests.code_blocks import code_blocks
from tests.deployment_rights import SERVICES, TYPES, actions, resource_types
from tests.rights_page import PAGE, page, policy, size

LARGEST = 6_144
"""https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html"""


def test_rights_page_is_up_to_date() -> None:
    text = PAGE.read_text()
    assert page(text) == text, "run `make docs`"


@pytest.mark.parametrize("name", SERVICES)
def test_each_policy_is_within_the_limit_of_iam(name: str) -> None:
    assert 0 < size(policy(name)) <= LARGEST


def test_every_block_of_the_page_is_json() -> None:
    blocks = code_blocks(PAGE.read_text(), "json")
    assert len(blocks) == len(SERVICES) + 2
    for block in blocks:
        json.loads(block)


def test_each_action_is_in_one_policy_only() -> None:
    every = [action for name in SERVICES for action in actions(name)]
    assert len(every) == len(set(every)) > 200
    assert len({kind for kinds in TYPES.values() for kind in kinds}) == sum(
        map(len, TYPES.values())
    )


def test_only_actions_without_resources_are_allowed_on_everything() -> None:
    for name in SERVICES:
        for statement in policy(name)["Statement"]:
            listed = statement["Action"]
            names = [listed] if isinstance(listed, str) else listed
            if statement["Resource"] == "*":
                assert all(resource_types(each) == () for each in names)


@pytest.mark.parametrize(
    "action",
    [
        "dynamodb:GetItem",
        "s3:DeleteObject",
        "iam:CreateUser",
        "iam:PutUserPolicy",
        "sqs:SendMessage",
    ],
)
def test_data_and_users_stay_out_of_reach(action: str) -> None:
    assert not any(action in actions(name) for name in SERVICES)
