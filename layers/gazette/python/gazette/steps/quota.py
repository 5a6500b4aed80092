"""What the account may send, kept where all workers see it."""

from gazette.domain.pace import Quota
from gazette.domain.ports import Account, Clock, QuotaStore


def learn_quota(*, account: Account, quota_store: QuotaStore, clock: Clock) -> Quota:
    """Ask for it and keep it. Raises Unavailable; the last one that was learned holds on."""
    quota = account.quota()
    quota_store.set_quota(quota, clock())
    return quota
