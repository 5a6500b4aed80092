"""Send an email to SES's mailbox simulator, and wait for its delivery event."""

from collections.abc import Callable
from datetime import datetime, timedelta

from gazette.domain.errors import Unavailable
from gazette.domain.ports.mail import Canary, EvidenceLog

from gazette_cli.doctor.findings import Finding, ok, problem
from gazette_cli.shared.console import printable

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
    """Send an email to the mailbox simulator, and check that a delivery event arrives.

    The check succeeds if the latest email with a delivery event was sent after the check began. On
    a busy stage, this may be a different email, which also proves that delivery events arrive.
    """
    began = clock()
    try:
        canary.send()
    except Unavailable as err:
        todo = "Fix the problem that SES reports. Also check the SES findings above."
        return problem("canary", printable(str(err)), todo, "docs/sending.md")
    while (passed := clock() - began) < _PATIENCE:
        try:
            latest = evidence.latest()
        except Unavailable as err:
            todo = "Grant your credentials read access to the `control` table."
            return problem("canary", f"sent, but {printable(str(err))}", todo, _PAGE)
        if latest and latest >= began - _SKEW:
            return ok(
                "canary", (f"sent, and the delivery event arrived within {passed.seconds + 1} s")
            )
        sleep(_PAUSE.total_seconds())
    todo = (
        "SES accepted the email. Check the DeliveryEventsByBus rule, the `feedback` queue and "
        "the `feedback` function."
    )
    return problem("canary", "no delivery event arrived within two minutes", todo, _PAGE)
