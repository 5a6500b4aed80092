"""docs/lifecycle.md says what the code does."""

from typing import get_args

from gazette.domain.delivery.run import Status
from gazette.domain.delivery.signals import Signal

from tests.lifecycle_page import PAGE, RUNS, SIGNALS, page


def test_the_page_is_what_make_docs_would_write() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"


def test_the_page_leaves_out_no_status_and_no_signal() -> None:
    assert {run.status for _, run in RUNS} == set(Status)
    assert {type(signal) for _, signal in SIGNALS} == set(get_args(Signal))
