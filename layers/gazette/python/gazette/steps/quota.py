"""What the account may send, kept where all workers see it."""

from dataclasses import dataclass

from gazette.domain.errors import Unavailable
from gazette.domain.ports import Account, QuotaStore


@dataclass(frozen=True, slots=True)
class NotLearned:
    """The quota could not be asked for or kept, and why; the last one that was holds on."""

    why: str


def learn_quota(*, account: Account, quota_store: QuotaStore) -> float | NotLearned:
    """Ask for it and keep it. Nobody waits for this: does not raise where it is not answered."""
    try:
        rate = account.send_rate()
        quota_store.set_quota(rate)
    except Unavailable as err:
        return NotLearned(str(err))
    return rate
