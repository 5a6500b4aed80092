"""Failures on moto: a run that exhausted its attempts, and a missing permission."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
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


@contextmanager
def denied(operation: str, table: str) -> Iterator[None]:
    """IAM refuses one operation on one table."""
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def call(client: BaseClient, name: str, request: dict[str, Any]) -> Any:
        if (name, request.get("TableName")) == (operation, table):
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, name)
        return real(client, name, request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", call)
        yield
