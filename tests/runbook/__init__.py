import pytest

# So that a failure says what was found.
pytest.register_assert_rewrite("tests.runbook.scenarios", "tests.runbook.rollbacks")
