"""What the account may send, kept where all workers see it, with a part for each stream."""

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
    """Ask for it, divide what is left of its day, and keep each part.

    What one stream left is divided anew, so the other gets its share of that too. Raises
    Unavailable; what was learned last holds on.
    """
    quota, now = account.quota(), clock()
    quota_stores.digest.set_quota(quota.part(shares.digest), now)
    quota_stores.immediate.set_quota(quota.part(shares.immediate), now)
    return quota
