"""When a run that the provider refused for now is tried again."""

from datetime import timedelta

PAUSES = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=8),
)
"""After the first refusal, the second, and so on; after one more the run has failed."""

_JITTER = 0.2


def pause_after(refusals: int, *, random: float) -> timedelta:
    """How long to wait after so many refusals; `random` is 0 to 1.

    Up to a fifth longer than in PAUSES, so that what was refused together does not come back
    together. https://docs.aws.amazon.com/general/latest/gr/api-retries.html
    """
    pause = PAUSES[min(max(refusals, 1), len(PAUSES)) - 1]
    return pause * (1 + _JITTER * random)
