"""Every alarm of a stage leads to its page, wherever the command line shows it."""

from pathlib import Path

import pytest

from gazette_cli.doctor.data_checks import page_of_queue
from gazette_cli.doctor.stage_facts import DEAD
from gazette_cli.overview.alarms import INDEX, page_of
from tests.infra.conftest import Stages
from tests.infra.synthesis import Synthesis

ROOT = Path(__file__).parents[2]
_THERE = f"https://git.shop.example/{'x' * 175}"
"""As test_alarms has it, so that the stage is synthesised once for both."""


def texts(stage: Synthesis) -> dict[str, str]:
    """The text of each alarm, by its name."""
    return {
        each["AlarmName"]: each["AlarmDescription"]
        for each in stage.service.of_type("AWS::CloudWatch::Alarm").values()
    }


def test_every_alarm_links_to_a_runbook_page(prod: Synthesis) -> None:
    pages = {name: page_of(text) for name, text in texts(prod).items()}
    assert len(pages) > 40
    assert {name: page for name, page in pages.items() if not (ROOT / page).is_file()} == {}
    assert [name for name, page in pages.items() if page == INDEX] == []


def test_alarm_links_to_the_online_runbook_if_configured(stages: Stages) -> None:
    there = stages("online", "prod", bundled=False, runbook_url=_THERE)
    pages = {page_of(text) for text in texts(there).values()}
    assert {page.rpartition("/")[0] for page in pages} == {_THERE}


def test_doctor_and_queue_alarm_link_to_the_same_page(asking: Synthesis) -> None:
    told = texts(asking)
    for queue in DEAD:
        assert page_of_queue(queue) == page_of(told[f"gazette-prod-{queue}-not-empty"]), queue


@pytest.mark.parametrize("text", ["", "An alarm of somebody else.", "See docs/runbook/late.md, or"])
def test_text_without_a_page_links_to_the_index(text: str) -> None:
    assert page_of(text) == INDEX
