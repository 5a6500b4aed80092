"""A run that the provider refused to the end, and its dead letter, on moto."""

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from gazette.adapters.aws.queues import decode_run_key
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.domain.delivery.run import Reason, Run
from gazette.domain.delivery.signals import Claim, RefusedForNow
from gazette.domain.model import Window
from gazette.steps.runs import apply


def refused_to_the_end(message: str) -> Run:
    """The run that a message names, after six refusals."""
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    now = datetime.now(UTC)
    run = runs.chain(decode_run_key(message))[0]
    for attempt in range(1, 7):
        claimed = apply(run, Claim(Window(now, now), now, f"n{attempt}"), runs=runs)
        run = apply(claimed, RefusedForNow(attempt, "Throttling", now), runs=runs)
    assert run.reason is Reason.ATTEMPTS_EXHAUSTED
    return run


def dead_letter(run: Run) -> str:
    """The body of its message in the queue `failed`, as `resend` puts it there."""
    return json.dumps({**asdict(run.key), "given_up": True})
