"""A simulation of SES with its sending rate and daily quota."""

from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta

from gazette.domain.delivery.pace import Quota

_DAY = timedelta(days=1).total_seconds()
_BIN = 600.0
_ROUNDING = 1e-6


@dataclass(slots=True)
class Provider:
    """An SES account.

    SES temporarily rejects emails that exceed the rate for more than a second.
    https://docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html
    """

    # Emails per second.
    rate: float

    # Emails per 24 hours, or None without a limit.
    daily: int | None = None

    # The tokens of the rate limit, and the time of their last update.
    tokens: float = -1.0
    since: float = 0.0

    # The accepted emails of the last 24 hours, in bins of ten minutes.
    accepted: deque[tuple[float, int]] = field(default_factory=deque)

    # The number of accepted emails of the last 24 hours.
    today: int = 0

    def accepts(self, number: int, at: float) -> int:
        """Return the number of emails that SES accepts."""
        if self.tokens < 0:
            self.tokens = self.rate
        elif at > self.since:
            self.tokens = min(self.rate, self.tokens + (at - self.since) * self.rate)
        self.since = max(self.since, at)
        self._forget(at)
        allowed = number if self.daily is None else max(0, min(number, self.daily - self.today))
        some = min(allowed, int(self.tokens + _ROUNDING))
        self.tokens -= some
        self.today += some
        bin_of, before = at // _BIN * _BIN, 0
        if self.accepted and self.accepted[-1][0] >= bin_of:
            bin_of, before = self.accepted.pop()
        self.accepted.append((bin_of, before + some))
        return some

    def quota(self, now: float) -> Quota:
        """Return the quota, as in the response of GetAccount."""
        self._forget(now)
        remaining = None if self.daily is None else max(0, self.daily - self.today)
        return Quota(rate=self.rate, daily=self.daily, left=remaining)

    def _forget(self, now: float) -> None:
        while self.accepted and self.accepted[0][0] + _BIN <= now - _DAY:
            self.today -= self.accepted.popleft()[1]
