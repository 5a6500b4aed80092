"""A process's view of a content source: whether to retry, and whether the source is down. Pure.

The retry budget is that of gRPC: a failure takes a token, a success returns a tenth of one, and
retries are allowed only while more than half of the tokens are left. So a source that answers one
request in ten gets no retries, and one that fails occasionally gets few more requests than fetches.
https://github.com/grpc/proposal/blob/master/A6-client-retries.md, "Throttling Retry Attempts and
Hedged RPCs"
"""

from dataclasses import dataclass, replace

_TOKENS = 10.0
_A_SUCCESS = 0.1

DOWN_AFTER = 5
"""Failures in a row.

One slow answer is not conclusive; five of them take the deadline five times.
"""


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """The health of a source."""

    tokens: float = _TOKENS
    """The tokens of the retry budget."""

    failures: int = 0
    """The failures since the last success, or since the source was down."""

    @property
    def may_retry(self) -> bool:
        """Return True if a failed request may be repeated at once."""
        return self.tokens > _TOKENS / 2

    @property
    def is_down(self) -> bool:
        """Return True if the circuit breaker should open."""
        return self.failures >= DOWN_AFTER

    def succeeded(self) -> "SourceHealth":
        """Return the health after a request with an answer."""
        return SourceHealth(min(self.tokens + _A_SUCCESS, _TOKENS))

    def failed(self) -> "SourceHealth":
        """Return the health after a request without an answer."""
        return SourceHealth(max(self.tokens - 1, 0.0), self.failures + 1)

    def reported(self) -> "SourceHealth":
        """Return the health after the breaker was opened.

        The next opening takes as many failures again.
        """
        return replace(self, failures=0)
