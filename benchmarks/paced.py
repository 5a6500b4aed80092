"""The simulation of a slot whose limit is the sending rate, for comparison with `make slot`."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta

from gazette.domain.delivery.pace import QUOTA_SHARE

from benchmarks.readers import Progress
from proofs.pacing.scenarios import Scenario, play

_WITHIN = 0.1
"""The largest difference between the simulation and the engine, as a share of the simulation."""


def forecast(readers: int, rate: int) -> Mapping[int, int]:
    """Return the digests of each minute since the first one, as the simulation predicts them.

    `rate` is the rate of both streams in emails per second.
    """
    slot = Scenario(quota=rate / QUOTA_SHARE, digests=readers, load=0, spread=timedelta(seconds=1))
    return play(slot).digests_by_minute


def differences(
    found: Mapping[int, int], predicted: Mapping[int, int], progress: Progress
) -> Iterator[str]:
    """Yield the full minutes whose numbers differ too much. The last minute is not full."""
    last = max({*found, *predicted}, default=0)
    found, predicted = Counter(found), Counter(predicted)
    for minute in range(last):
        wanted, sent = predicted[minute], found[minute]
        progress(f"minute {minute + 1}: {sent} emails, {wanted} predicted")
        if abs(sent - wanted) > _WITHIN * wanted:
            yield f"minute {minute + 1} had {sent} emails, but the simulation predicts {wanted}"
