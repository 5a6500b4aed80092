"""The words for a stopped stream of email."""

from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.scheduling.instants import moment


def stopped_text(breaker: OpenBreaker) -> str:
    """Describe when and why a stream was stopped, and the time of the next attempt."""
    how = "manually" if breaker.by_hand else "automatically"
    why = f" ({breaker.why})" if breaker.why else ""
    return f"stopped {how} since {moment(breaker.since)}{why}; next email: {next_try(breaker)}"


def next_try(breaker: OpenBreaker) -> str:
    """Describe the time of the next attempt to send."""
    if breaker.by_hand:
        return "none until you resume sending"
    if breaker.is_probed:
        return (
            f"a test email is being sent now (next test email at {moment(breaker.until)} or later)"
        )
    return f"a test email at {moment(breaker.until)} or later"
