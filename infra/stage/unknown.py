"""Unknown outcomes."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """Unknown outcomes."""

    unknown_policy: str = "resend"
    """The behaviour if it is unknown whether an email was sent: `resend`, `carry_over` or
    `assume_sent`.

    The risk is a duplicate (`resend`), a duplicate and a delay (`carry_over`) or a loss
    (`assume_sent`). Synthesis refuses `resend` with `smtp`.
    """

    evidence_grace: int = 900
    """[seconds] The time for which Gazette waits for a delivery event before `unknown_policy`
    applies.

    60 to 86,400. Too short: more duplicates or losses. Too long: more delay.
    """

    longest_unknown: int = 21600
    """[seconds] The time for which `resend` waits for proof that delivery events arrive at all.

    At least `evidence_grace`. Afterwards the events go into the next digest.
    """
