"""One email to SES's mailbox simulator, and its delivery event back through feedback."""

from collections.abc import Callable
from datetime import datetime, timedelta

from gazette.domain.errors import Unavailable
from gazette.domain.ports.mail import Canary, EvidenceLog

from cli.doctor.findings import Finding, ok, problem
from cli.shared.console import printable

_PATIENCE = timedelta(minutes=2)
"""EventBridge takes seconds, and Lambda gathers delivery events for up to a minute."""

_PAUSE = timedelta(seconds=2)
_SKEW = timedelta(seconds=5)
"""By how much the clock of this machine may be ahead of SES's."""

_PAGE = "docs/runbook/delivery-events-missing.md"


def check_canary(
    canary: Canary,
    evidence: EvidenceLog,
    *,
    clock: Callable[[], datetime],
    sleep: Callable[[float], None],
) -> Finding:
    """Send it, and look until feedback has noted an email that was sent since.

    The log has the sending time of the latest email with a delivery event: on a stage that sends,
    another email may be the one that proves it.
    """
    began = clock()
    try:
        canary.send()
    except Unavailable as err:
        todo = "The answer of SES says why; the findings about SES above say what to do."
        return problem("canary", printable(str(err)), todo, "docs/sending.md")
    while (passed := clock() - began) < _PATIENCE:
        try:
            latest = evidence.latest()
        except Unavailable as err:
            todo = "Let your credentials read the table control."
            return problem("canary", f"sent, but {printable(str(err))}", todo, _PAGE)
        if latest and latest >= began - _SKEW:
            return ok("canary", f"sent, and its event came back within {passed.seconds + 1} s")
        sleep(_PAUSE.total_seconds())
    todo = "SES took it. Look at the rule DeliveryEventsByBus, the queue feedback and its function."
    return problem("canary", "no delivery event came back within two minutes", todo, _PAGE)
