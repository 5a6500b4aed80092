"""What the account may send, as a tick learns it."""

from gazette.domain.errors import Unavailable
from gazette.steps.quota import NotLearned, learn_quota

from tests.fake_stores import FakePaceRow
from tests.fakes import FakeAccount


def test_what_the_account_may_send_is_kept() -> None:
    row = FakePaceRow()
    assert learn_quota(account=FakeAccount(14.0), quota_store=row) == 14.0
    assert row.pace.quota == 14.0


def test_an_account_that_does_not_answer_leaves_what_was_known() -> None:
    row = FakePaceRow()
    row.set_quota(14.0)
    assert learn_quota(account=FakeAccount(None), quota_store=row) == NotLearned(
        "The provider did not answer."
    )
    assert row.pace.quota == 14.0


def test_a_quota_that_cannot_be_kept_is_not_learned() -> None:
    class Deaf:
        def set_quota(self, rate: float) -> None:
            raise Unavailable("DynamoDB did not answer.")

    learned = learn_quota(account=FakeAccount(14.0), quota_store=Deaf())
    assert learned == NotLearned("DynamoDB did not answer.")
