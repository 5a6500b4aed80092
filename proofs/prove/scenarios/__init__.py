"""The scenarios as data, for each policy where it makes a difference."""

from dataclasses import replace

from proofs.prove.scenarios import (
    digests,
    immediate,
    left_out,
    moves,
    pairs,
    reports,
    stops,
    threads,
    together,
    waiting,
    withdrawn,
    workers,
)
from proofs.prove.strikes import How

SCENARIOS = (
    *digests.SCENARIOS,
    *stops.SCENARIOS,
    *immediate.SCENARIOS,
    *workers.SCENARIOS,
    *moves.SCENARIOS,
    *threads.SCENARIOS,
    *left_out.SCENARIOS,
    *reports.SCENARIOS,
    *together.SCENARIOS,
    *waiting.SCENARIOS,
    *withdrawn.SCENARIOS,
    *pairs.SCENARIOS,
)

_ANSWERLESS = (How.KILLED_AFTER, How.UNANSWERED)

ON_MOTO = tuple(
    replace(one, hows=_ANSWERLESS if one.hows else ())
    for one in SCENARIOS
    if one.name
    in {
        "happy/resend/soon",
        "idle/an event at the hour of one that is armed",
        "retry/carry_over",
        "unknown/lost/later/resend",
        "unknown/neither/never/carry_over",
        "two workers/accepts/carry_over",
        "at once/happy/resend",
        "held/accepts/resend",
        "fault/bounce/carry_over",
        "quiet/retry/resend",
        "limit/happy",
        "withdrawn/actor/daily/resend",
        "pairs/comment, mention/together/daily, daily",
        "pairs/retract/mention/immediate, daily",
    }
)
"""The scenarios that also run on the real adapters, and faults between them and AWS.

"Killed before a call" equals "killed after the previous call", so it is left out. Delays and
rejections behave as on the fakes, because only the steps handle them.
"""
