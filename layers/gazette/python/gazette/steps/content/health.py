"""A process's view of a content source: whether to retry, and whether the source is down.

The retry budget follows gRPC: a failure takes a token, a success returns a tenth of a token, and
retries are allowed only while more than half of the tokens are left. So a source that answers one
request in ten gets no retries, and a source that fails occasionally gets few more requests than
fetches. All functions are pure.
https://github.com/grpc/proposal/blob/master/A6-client-retries.md, "Throttling Retry Attempts and
Hedged RPCs"
"""

from dataclasses import dataclass, replace

_TOKENS = 10.0
_A_SUCCESS = 0.1

DOWN_AFTER = 5
"""The number of consecutive failures after which a source is considered down.

One slow response is not conclusive. Five of them take five times the deadline.
"""


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """The health of a source."""

    tokens: float = _TOKENS
    """The tokens of the retry budget."""

    failures: int = 0
    """The failures since the last success, or since the source was considered down."""

    @property
    def may_retry(self) -> bool:
        """Return True if a failed request may be retried immediately."""
        return self.tokens > _TOKENS / 2

    @property
    def is_down(self) -> bool:
        """Return True if the circuit breaker should open."""
        return self.failures >= DOWN_AFTER

    def succeeded(self) -> "SourceHealth":
        """Return the health after a successful request."""
        return SourceHealth(min(self.tokens + _A_SUCCESS, _TOKENS))

    def failed(self) -> "SourceHealth":
        """Return the health after a failed request."""
        return SourceHealth(max(self.tokens - 1, 0.0), self.failures + 1)

    def reported(self) -> "SourceHealth":
        """Return the health after the breaker was opened.

        The breaker opens again only after DOWN_AFTER further failures.
        """
        return replace(self, failures=0)
