"""Send an email to SES's mailbox simulator, and wait for its delivery event."""

from collections.abc import Callable
from datetime import datetime, timedelta

from gazette.domain.errors import Unavailable
from gazette.domain.ports.mail import Canary, EvidenceLog

from cli.doctor.findings import Finding, ok, problem
from cli.shared.console import printable

_PATIENCE = timedelta(minutes=2)
"""The maximum time to wait for the delivery event. EventBridge takes seconds, and Lambda collects
delivery events for up to a minute.
"""

_PAUSE = timedelta(seconds=2)
_SKEW = timedelta(seconds=5)
"""The allowed difference between the clock of this machine and the SES clock."""

_PAGE = "docs/runbook/delivery-events-missing.md"


def check_canary(
    canary: Canary,
    evidence: EvidenceLog,
    *,
    clock: Callable[[], datetime],
    sleep: Callable[[float], None],
) -> Finding:
    """Send an email, and wait until feedback has recorded a delivery event of this or a later
    email.

    The evidence is the sending time of the latest email with a delivery event. On a busy stage,
    that may be a different email, which proves the same.
    """
    began = clock()
    try:
        canary.send()
    except Unavailable as err:
        todo = "Fix the cause that the SES response states. See also the SES findings above."
        return problem("canary", printable(str(err)), todo, "docs/sending.md")
    while (passed := clock() - began) < _PATIENCE:
        try:
            latest = evidence.latest()
        except Unavailable as err:
            todo = "Grant your credentials read access to the table `control`."
            return problem("canary", f"sent, but {printable(str(err))}", todo, _PAGE)
        if latest and latest >= began - _SKEW:
            return ok(
                "canary", (f"sent, and the delivery event arrived within {passed.seconds + 1} s")
            )
        sleep(_PAUSE.total_seconds())
    todo = (
        "SES accepted the email. Check the rule DeliveryEventsByBus, the queue `feedback` and "
        "the function `feedback`."
    )
    return problem("canary", "no delivery event arrived within two minutes", todo, _PAGE)
