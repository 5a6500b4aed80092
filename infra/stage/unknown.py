"""Unknown outcomes."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """Unknown outcomes."""

    unknown_policy: str = "resend"
    """What happens when nobody knows whether an email went out: `resend`, `carry_over` or
    `assume_sent`.

    You risk a duplicate (`resend`), a duplicate and a delay (`carry_over`) or a loss
    (`assume_sent`). `smtp` refuses `resend`."""

    evidence_grace: int = 900
    """[seconds] How long to wait for a delivery event before `unknown_policy` decides.

    60 to 86,400. Too short: more duplicates or losses. Too long: more delay."""

    longest_unknown: int = 21600
    """[seconds] How long `resend` waits for proof that delivery events arrive at all.

    At least `evidence_grace`. After it the events go with the next digest."""
