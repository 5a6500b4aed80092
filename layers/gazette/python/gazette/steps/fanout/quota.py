"""Store the account's sending quota for all workers, divided between the streams."""

from gazette.domain.delivery.pace import Quota
from gazette.domain.delivery.streams import Share, Streams
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.mail import Account
from gazette.domain.ports.pacing import QuotaStore


def learn_quota(
    *,
    account: Account,
    quota_stores: Streams[QuotaStore],
    shares: Streams[Share],
    clock: Clock,
) -> Quota:
    """Read the quota, divide the remaining daily quota between the streams, and store each share.

    Quota that one stream has not used is divided again, so that the other stream gets a share.
    Raises Unavailable; then the last stored quota stays in effect.
    """
    quota, now = account.quota(), clock()
    quota_stores.digest.set_quota(quota.part(shares.digest), now)
    quota_stores.immediate.set_quota(quota.part(shares.immediate), now)
    return quota
