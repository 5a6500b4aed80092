import pytest

# So that a failure says what was found.
pytest.register_assert_rewrite(
    "tests.runbook.for_operators", "tests.runbook.for_readers", "tests.runbook.rollbacks"
)
