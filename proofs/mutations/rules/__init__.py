"""The rules of delivery, such as the claim and the deadline, and how to remove each rule."""

from typing import Final

from proofs.mutations.rules import (
    attention,
    delivery,
    digests,
    edges,
    feedback,
    happening,
    ingest,
    left_out,
    limits,
    muting,
    quiet,
    redrives,
    routing,
    rows,
    runs,
    subscribers,
    visits,
    withdrawing,
)

RULES: Final = (
    *attention.RULES,
    *delivery.RULES,
    *digests.RULES,
    *edges.RULES,
    *feedback.RULES,
    *happening.RULES,
    *ingest.RULES,
    *left_out.RULES,
    *limits.RULES,
    *muting.RULES,
    *quiet.RULES,
    *redrives.RULES,
    *routing.RULES,
    *rows.RULES,
    *runs.RULES,
    *subscribers.RULES,
    *visits.RULES,
    *withdrawing.RULES,
)
