"""The stages in which a call counts."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta

import pytest

from gazette_cdk.stage import Stage
from proofs.enforce.deciding import AMOUNTS, differing

OWN = {
    "GAZETTE_MAIL_PROVIDER": "ses",
    "GAZETTE_RUNS_TABLE": "Runs-1A2B",
    "GAZETTE_SENDER": "a@example.com",
    "GAZETTE_IMMEDIATE_SENDER": "b@example.com",
    "GAZETTE_SMTP_SECRET": "",
    "GAZETTE_SETTLE_LAG": "15",
    "GAZETTE_SUNSET_DAYS": "45",
    "POWERTOOLS_SERVICE_NAME": "prod",
}


@pytest.mark.parametrize(
    ("change", "differ"),
    [
        ({"GAZETTE_RUNS_TABLE": "runs", "GAZETTE_SETTLE_LAG": "300"}, set()),
        ({"GAZETTE_SUNSET_DAYS": "30", "POWERTOOLS_SERVICE_NAME": "local"}, set()),
        ({"GAZETTE_SUNSET_DAYS": "0"}, {"GAZETTE_SUNSET_DAYS"}),
        ({"GAZETTE_MAIL_PROVIDER": "smtp"}, {"GAZETTE_MAIL_PROVIDER"}),
        ({"GAZETTE_SMTP_SECRET": "login"}, {"GAZETTE_SMTP_SECRET"}),
    ],
)
def test_names_and_amounts_may_differ_and_nothing_else(
    change: Mapping[str, str], differ: set[str]
) -> None:
    assert differing({**OWN, **change}, OWN) == differ


def test_a_setting_that_somebody_adds_decides() -> None:
    assert differing(OWN, {**OWN, "GAZETTE_NEW": "1"}) == {"GAZETTE_NEW"}
    assert differing({**OWN, "GAZETTE_NEW": "0"}, {**OWN, "GAZETTE_NEW": "1"}) == {"GAZETTE_NEW"}


def test_one_name_for_what_are_two_elsewhere_decides_and_two_for_one_do_not() -> None:
    one = {"GAZETTE_SENDER": "c@example.com", "GAZETTE_IMMEDIATE_SENDER": "c@example.com"}
    assert len(differing({**OWN, **one}, OWN)) == 1
    assert differing(OWN, {**OWN, **one}) == set()


def test_amounts_are_numbers_durations_or_the_first_warm_up_day() -> None:
    kinds = {f"GAZETTE_{each.name.upper()}": each.type for each in fields(Stage)}
    assert {kinds[name] for name in AMOUNTS - {"GAZETTE_WARMUP_FROM"}} == {int, timedelta}


ASKS = {
    "GAZETTE_CONTENT_SOURCES": '["events", "recommendations"]',
    "GAZETTE_CONTENT_QUEUE_URL": "q",
}
ASKS_NONE = {"GAZETTE_CONTENT_SOURCES": '["events"]', "GAZETTE_CONTENT_QUEUE_URL": ""}


def test_what_is_done_without_a_content_source_is_done_with_one_too_and_not_the_other_way() -> None:
    assert differing({**OWN, **ASKS_NONE}, {**OWN, **ASKS}) == set()
    assert differing({**OWN, **ASKS}, {**OWN, **ASKS}) == set()
    assert differing({**OWN, **ASKS}, {**OWN, **ASKS_NONE}) == set(ASKS)
