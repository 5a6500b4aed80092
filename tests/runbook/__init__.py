import pytest

pytest.register_assert_rewrite("tests.runbook.scenarios")  # so that a failure says what was found
