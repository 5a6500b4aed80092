"""SES: how many emails it takes in a second and in a day."""

from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta

from gazette.domain.delivery.pace import Quota

_DAY = timedelta(days=1).total_seconds()
_BIN = 600.0
_ROUNDING = 1e-6


@dataclass(slots=True)
class Provider:
    """An account of SES. `rate`: emails a second; `daily`: in 24 hours, None: any number.

    What comes faster than the rate for longer than a second is refused for now.
    https://docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html
    """

    rate: float
    daily: int | None = None
    tokens: float = -1.0
    since: float = 0.0
    taken: deque[tuple[float, int]] = field(default_factory=deque)
    today: int = 0

    def accepts(self, number: int, at: float) -> int:
        """Return how many of these emails it accepts then."""
        if self.tokens < 0:
            self.tokens = self.rate
        elif at > self.since:
            self.tokens = min(self.rate, self.tokens + (at - self.since) * self.rate)
        self.since = max(self.since, at)
        self._forget(at)
        left = number if self.daily is None else max(0, min(number, self.daily - self.today))
        some = min(left, int(self.tokens + _ROUNDING))
        self.tokens -= some
        self.today += some
        bin_of, before = at // _BIN * _BIN, 0
        if self.taken and self.taken[-1][0] >= bin_of:
            bin_of, before = self.taken.pop()
        self.taken.append((bin_of, before + some))
        return some

    def quota(self, now: float) -> Quota:
        """What GetAccount says."""
        self._forget(now)
        left = None if self.daily is None else max(0, self.daily - self.today)
        return Quota(rate=self.rate, daily=self.daily, left=left)

    def _forget(self, now: float) -> None:
        while self.taken and self.taken[0][0] + _BIN <= now - _DAY:
            self.today -= self.taken.popleft()[1]
