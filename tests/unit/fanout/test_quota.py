"""A tick reads the quota of the SES account."""

from dataclasses import replace
from datetime import datetime

import pytest
from gazette.domain.delivery.pace import Quota
from gazette.domain.delivery.streams import Streams, divided
from gazette.domain.errors import Unavailable
from gazette.domain.ports.pacing import QuotaStore
from gazette.steps.fanout.quota import learn_quota

from tests.builders import NOW
from tests.fake_stores import FakePaceRow
from tests.fakes import FakeAccount

QUOTA = Quota(rate=14.0, daily=50_000, left=48_999)
SHARES = divided(20)


def learn(told: Quota | None, stores: Streams[QuotaStore]) -> Quota:
    return learn_quota(
        account=FakeAccount(told), quota_stores=stores, shares=SHARES, clock=lambda: NOW
    )


def test_account_quota_is_stored_and_divided_between_streams() -> None:
    rows = Streams(digest=FakePaceRow(), immediate=FakePaceRow())
    assert learn(QUOTA, rows) == QUOTA
    assert (rows.digest.pace.quota, rows.digest.pace.quota_at) == (replace(QUOTA, left=39_200), NOW)
    assert rows.immediate.pace.quota == replace(QUOTA, left=9_799)
    assert rows.immediate.pace.quota_at == NOW


def test_remaining_quota_is_redistributed_at_next_tick() -> None:
    """None waits for good for what the other does not use."""
    rows = Streams(digest=FakePaceRow(), immediate=FakePaceRow())
    learn(replace(QUOTA, left=100), rows)
    learn(replace(QUOTA, left=20), rows)  # digests have sent all of their 80
    assert rows.digest.pace.quota == replace(QUOTA, left=16)


def test_unlimited_account_quota_is_not_divided() -> None:
    rows = Streams(digest=FakePaceRow(), immediate=FakePaceRow())
    assert learn(Quota(rate=14), rows) == rows.digest.pace.quota == rows.immediate.pace.quota


def test_known_quota_is_kept_if_account_request_fails() -> None:
    row = FakePaceRow()
    row.set_quota(QUOTA, NOW)
    with pytest.raises(Unavailable, match="The provider did not answer"):
        learn(None, Streams(digest=row, immediate=row))
    assert row.pace.quota == QUOTA


def test_quota_storage_failure_raises_error() -> None:
    class Deaf:
        def set_quota(self, quota: Quota, at: datetime) -> None:
            raise Unavailable("DynamoDB did not answer.")

    with pytest.raises(Unavailable, match="DynamoDB did not answer"):
        learn(QUOTA, Streams(digest=Deaf(), immediate=FakePaceRow()))
