"""The metrics of a refusal of the whole account."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import (
    Accepted,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    SendOutcome,
    Uncertain,
)
from gazette.observability import metrics
from gazette.steps.delivery.types import Delivery

from functions.generate import handler as generate
from functions.resend import handler as resend
from tests.builders import a_run
from tests.functions.conftest import Context
from tests.functions.messages import records

pytestmark = pytest.mark.usefixtures("templates_on_path")


@pytest.fixture(autouse=True)
def _built_anew() -> Iterator[None]:
    metrics.cache_clear()
    yield
    metrics.cache_clear()


def counted(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    outcome: SendOutcome | None = None,
    handler: Any = generate,
) -> dict[str, object]:
    monkeypatch.setattr(handler, "build", lambda: lambda *_: Delivery(run, outcome=outcome))
    answer = handler.lambda_handler(records("{}"), Context())
    assert answer == {"batchItemFailures": []}
    (found,) = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line]
    return dict(found)


def refused(reason: Reason) -> Run:
    return replace(a_run(), status=Status.RETRYING, reason=reason, attempt=1)


@pytest.mark.parametrize("handler", [generate, resend])
def test_run_refused_at_account_level_is_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], handler: Any
) -> None:
    outcome = RefusedAccount(1, "SendingPausedException")
    found = counted(
        refused(Reason.REFUSED_ACCOUNT), monkeypatch, capsys, outcome=outcome, handler=handler
    )
    assert (found["breaker_opened"], found["run_requeued"]) == ([1], [1])


@pytest.mark.parametrize(
    "outcome", [None, Accepted(1, "m1"), RefusedForNow(1), RefusedForGood(1), Uncertain(1)]
)
def test_remaining_outcomes_are_not_counted_as_account_refusals(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    outcome: SendOutcome | None,
) -> None:
    """Nor one that was refused before and only waits now."""
    found = counted(refused(Reason.REFUSED_ACCOUNT), monkeypatch, capsys, outcome=outcome)
    assert "breaker_opened" not in found


@pytest.mark.parametrize("stage", ["gazette-prod", None])
def test_metrics_use_the_service_name_of_the_stage_or_the_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stage: str | None
) -> None:
    monkeypatch.delenv("POWERTOOLS_SERVICE_NAME", raising=False)
    if stage:
        monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", stage)
    found = counted(refused(Reason.REFUSED_ACCOUNT), monkeypatch, capsys)
    assert found["service"] == (stage or "gazette")
