"""Tests of the actions that a call of botocore needs."""

import re

import pytest

from proofs.enforce.calls import UNKNOWN, asked
from proofs.enforce.stages import ROOT

SERVICES = ("cloudformation", "cloudwatch", "events", "scheduler", "sns")
"""The services whose calls by `gazette doctor` need no details of a request."""

PAGE = (ROOT / "docs" / "cli" / "doctor.md").read_text()
ACTIONS = sorted(set(re.findall(rf'"((?:{"|".join(SERVICES)}):[A-Za-z]+)"', PAGE)))


def test_page_of_doctor_has_actions_of_each_service() -> None:
    assert {each.partition(":")[0] for each in ACTIONS} == set(SERVICES)


@pytest.mark.parametrize("action", ACTIONS)
def test_each_call_of_doctor_is_known(action: str) -> None:
    service, _, operation = action.partition(":")
    assert UNKNOWN not in {each.kind for each in asked(service, operation, {})}
