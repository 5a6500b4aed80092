"""What is below this folder deploys: only `make e2e` runs it."""

from pathlib import Path

import pytest

from tests.stage import mark_below


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests as those of `make e2e`."""
    mark_below(Path(__file__).parent, items, "e2e", "long")
