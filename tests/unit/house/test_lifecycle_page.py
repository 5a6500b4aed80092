"""docs/lifecycle.md says what the code does."""

from typing import get_args

from gazette.domain.delivery.run import Status
from gazette.domain.delivery.signals import Signal

from tests.lifecycle_page import PAGE, RUNS, SIGNALS, page


def test_lifecycle_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"


def test_lifecycle_page_lists_every_status_and_signal() -> None:
    assert {run.status for _, run in RUNS} == set(Status)
    assert {type(signal) for _, signal in SIGNALS} == set(get_args(Signal))
