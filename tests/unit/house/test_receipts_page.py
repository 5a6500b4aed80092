"""docs/receipts.md has an up-to-date example of each state."""

from gazette.domain.receipts.receipt import State

from tests.receipts_page import PAGE, page


def test_receipts_page_is_up_to_date() -> None:
    text = PAGE.read_text()
    assert text == page(text), "run `make docs`"


def test_receipts_page_has_an_example_of_each_state() -> None:
    text = PAGE.read_text()
    assert [state for state in State if f"\n| `{state}` | " not in text] == []
