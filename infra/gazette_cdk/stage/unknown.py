"""Unknown outcomes."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """Unknown outcomes."""

    unknown_policy: str = "resend"
    """The policy for emails with an unknown outcome: `resend`, `carry_over` or `assume_sent`.

    The risk is a duplicate (`resend`), a duplicate and a delay (`carry_over`) or a loss
    (`assume_sent`). Synthesis refuses `resend` if `mail_provider` is `smtp`.
    """

    evidence_grace: timedelta = timedelta(minutes=15)
    """The time for which Gazette waits for a delivery event before `unknown_policy` applies.

    60 to 86,400. Too short: more duplicates or losses. Too long: more delay.
    """

    longest_unknown: timedelta = timedelta(hours=6)
    """The maximum time for which `resend` waits for evidence that delivery events arrive.

    At least `evidence_grace`. After this time, the events are sent with the next digest.
    """
