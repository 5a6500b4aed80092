"""The withdrawals of a stage, for functions that do not send email."""

from gazette.adapters.cached import Cached, when_asked
from gazette.adapters.dynamodb.control.withdrawals import withdrawals_of
from gazette.bootstrap.parts.clock import now
from gazette.domain.ports.control import CurrentWithdrawals
from gazette.domain.withdrawing.withdrawals import Withdrawals


def cached_withdrawals(control_table: str) -> CurrentWithdrawals:
    """Return a function that reads the withdrawals at most once a minute, and when a process
    starts.

    The result is empty until the first successful read.
    """
    cached: Cached[Withdrawals] = Cached(withdrawals_of(control_table), clock=now, default=())
    return cached.get


def withdrawals_when_asked(control_table: str) -> CurrentWithdrawals:
    """Return a function like that of `cached_withdrawals`, which makes no read before its first
    call.
    """
    return when_asked(withdrawals_of(control_table), clock=now, default=())
