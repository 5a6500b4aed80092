"""The pauses between the attempts of a refused run."""

from datetime import timedelta

PAUSES = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=8),
)
"""The pauses after each refusal, in order. After one more refusal, the run fails."""

_JITTER = 0.2


def pause_after(refusals: int, *, random: float) -> timedelta:
    """Return the pause after `refusals` refusals. `random` is a number from 0 to 1.

    The pause is up to a fifth longer than in PAUSES, so that runs that were refused together are
    not retried together. https://docs.aws.amazon.com/general/latest/gr/api-retries.html
    """
    pause = PAUSES[min(max(refusals, 1), len(PAUSES)) - 1]
    return pause * (1 + _JITTER * random)
