"""What the account may send, as a tick learns it."""

from datetime import datetime

import pytest
from gazette.domain.errors import Unavailable
from gazette.domain.pace import Quota
from gazette.steps.quota import learn_quota

from tests.builders import NOW
from tests.fake_stores import FakePaceRow
from tests.fakes import FakeAccount

QUOTA = Quota(rate=14.0, daily=50_000, left=49_000)


def test_what_the_account_may_send_is_kept_with_the_instant() -> None:
    row = FakePaceRow()
    learned = learn_quota(account=FakeAccount(QUOTA), quota_store=row, clock=lambda: NOW)
    assert learned == QUOTA
    assert (row.pace.quota, row.pace.quota_at) == (QUOTA, NOW)


def test_an_account_that_does_not_answer_leaves_what_was_known() -> None:
    row = FakePaceRow()
    row.set_quota(QUOTA, NOW)
    with pytest.raises(Unavailable, match="The provider did not answer"):
        learn_quota(account=FakeAccount(None), quota_store=row, clock=lambda: NOW)
    assert row.pace.quota == QUOTA


def test_a_quota_that_cannot_be_kept_is_not_learned() -> None:
    class Deaf:
        def set_quota(self, quota: Quota, at: datetime) -> None:
            raise Unavailable("DynamoDB did not answer.")

    with pytest.raises(Unavailable, match="DynamoDB did not answer"):
        learn_quota(account=FakeAccount(QUOTA), quota_store=Deaf(), clock=lambda: NOW)
