"""The report of an experiment, for the picture in the docs: invented, and always the same."""

from collections import Counter
from datetime import UTC, datetime

from gazette_cli.statistics.comparisons import compare
from gazette_cli.statistics.page import page
from gazette_cli.statistics.summary import Answer
from gazette_support.domain.experiment_readers import Arm
from gazette_support.domain.statistics import Counts, Dimension, Measure

_MADE_AT = datetime(2026, 11, 30, 9, tzinfo=UTC)
_DID = {
    1: (8_214, {Measure.CLICKED: 1_512, Measure.UNSUBSCRIBED: 41, Measure.COMPLAINED: 6}),
    2: (8_190, {Measure.CLICKED: 1_716, Measure.UNSUBSCRIBED: 38, Measure.COMPLAINED: 5}),
    3: (8_251, {Measure.CLICKED: 1_489, Measure.UNSUBSCRIBED: 66, Measure.COMPLAINED: 8}),
}
"""By variation: its readers, and how many of them did what."""


def report() -> str:
    """The page as HTML."""
    arms = [
        Arm(variation, readers, {**dict.fromkeys(Measure, 0), **did})
        for variation, (readers, did) in _DID.items()
    ]
    return page(
        Answer(
            title="Experiment subjects, since 2026-11-16 07:00 until 2026-11-30 07:00 (UTC)",
            counts=_counts(arms),
            arms=arms,
            findings=compare(arms),
            notes=(),
        ),
        made_at=_MADE_AT,
    )


def _counts(arms: list[Arm]) -> Counts:
    """Some nine emails a reader, of whom some clicked in three."""
    counts: Counts = Counter()
    for arm in arms:
        sent = arm.readers * 9
        found = {
            Measure.SENT: sent,
            Measure.DELIVERED: sent - sent // 170,
            Measure.BOUNCED: sent // 170,
            Measure.CLICKED: arm.did[Measure.CLICKED] * 3,
            Measure.UNSUBSCRIBED: arm.did[Measure.UNSUBSCRIBED],
            Measure.COMPLAINED: arm.did[Measure.COMPLAINED],
        }
        for measure, number in found.items():
            counts[Dimension.TOTAL, "", measure] += number
            counts[Dimension.VARIATION, f"subjects {arm.number}", measure] += number
    return counts
