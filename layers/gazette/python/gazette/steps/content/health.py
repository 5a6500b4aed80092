"""What one process knows of a content source: whether to ask twice, and whether it is down. Pure.

The retry budget is that of gRPC: a failure takes a token, a success gives back a tenth of one, and
there are retries only while more than half of the tokens are left. So a source that answers one
request in ten gets no retries, and one that fails now and then gets few more requests than fetches.
https://github.com/grpc/proposal/blob/master/A6-client-retries.md, "Throttling Retry Attempts and
Hedged RPCs"
"""

from dataclasses import dataclass, replace

_TOKENS = 10.0
_A_SUCCESS = 0.1

DOWN_AFTER = 5
"""Failures in a row. One slow answer proves nothing; five of them take the deadline five times."""


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """`tokens`: of the retry budget. `failures`: since the last success, or since it was down."""

    tokens: float = _TOKENS
    failures: int = 0

    @property
    def may_retry(self) -> bool:
        """Whether a failed request may be repeated at once."""
        return self.tokens > _TOKENS / 2

    @property
    def is_down(self) -> bool:
        """Whether to open the circuit breaker."""
        return self.failures >= DOWN_AFTER

    def succeeded(self) -> "SourceHealth":
        """After a request with an answer."""
        return SourceHealth(min(self.tokens + _A_SUCCESS, _TOKENS))

    def failed(self) -> "SourceHealth":
        """After a request without an answer."""
        return SourceHealth(max(self.tokens - 1, 0.0), self.failures + 1)

    def reported(self) -> "SourceHealth":
        """After the breaker was opened: it takes as many failures again."""
        return replace(self, failures=0)
