"""Guards: where a stage is deployed, what protects it, and what it is charged to."""

from typing import Any

import pytest

from infra.stages import StageError, read_stage
from tests.infra.conftest import Stages
from tests.infra.synthesis import Synthesis

_STACKS = {"GazetteDataProd": "data", "GazetteProd": "service"}
_VALID = {"sender": "Gazette <digest@example.com>", "list_id": "digest.example.com"}


@pytest.fixture(scope="session")
def guarded(stages: Stages) -> Synthesis:
    """The stage prod with everything that guards it, its layers not built."""
    return stages(
        "guarded",
        "prod",
        bundled=False,
        account="123456789012",
        region="eu-central-1",
        tags={"cost-center": "4711"},
        archive_days=7,
    )


def test_a_stage_goes_to_the_account_and_region_that_it_names(guarded: Synthesis) -> None:
    """The CDK then refuses credentials of another account."""
    assert guarded.places == dict.fromkeys(_STACKS, "aws://123456789012/eu-central-1")


def test_a_stage_that_names_none_goes_where_the_credentials_lead(prod: Synthesis) -> None:
    assert prod.places == dict.fromkeys(_STACKS, "aws://unknown-account/unknown-region")


def test_no_stack_whose_data_is_kept_is_deleted_by_a_slip(
    prod: Synthesis, local: Synthesis
) -> None:
    assert prod.protected == set(_STACKS)
    assert not local.protected


def test_each_stack_says_on_the_bill_which_part_of_which_stage_it_is(
    prod: Synthesis, guarded: Synthesis
) -> None:
    own = {
        stack: {"gazette:stage": "prod", "gazette:part": part} for stack, part in _STACKS.items()
    }
    assert prod.tags == own
    assert guarded.tags == {stack: {**tags, "cost-center": "4711"} for stack, tags in own.items()}


def test_events_are_archived_only_where_a_stage_asks_for_it(
    prod: Synthesis, guarded: Synthesis
) -> None:
    assert not prod.service.of_type("AWS::Events::Archive")
    (archive,) = guarded.service.of_type("AWS::Events::Archive").values()
    assert (archive["SourceArn"], archive["RetentionDays"]) == ("{Bus.Arn}", 7)
    assert archive["EventPattern"] == {"source": [{"prefix": ""}]}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"account": "1234"}, "account must be twelve digits"),
        ({"region": "Frankfurt"}, "region must be the name of a region"),
        ({"tags": {"aws:team": "x"}}, "tags has the key 'aws:team'"),
        ({"tags": {"gazette:stage": "x"}}, "tags has the key 'gazette:stage'"),
        ({"tags": {"team": 7}}, "tags gives 'team' no text"),
        ({"archive_days": 31}, "archive_days must be 0 to 30"),
        ({"archive_days": -1}, "archive_days must be 0 to 30"),
    ],
)
def test_a_guard_that_would_guard_nothing_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(StageError, match=words):
        read_stage("prod", {"prod": {**_VALID, **wrong}})
