"""The message ids of a run in the log of feedback, which show `gazette accept` a second email."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from gazette.domain.delivery.run import Status
from gazette.domain.identity import run_id

from gazette_support.adapters import delivery_log
from gazette_support.adapters.delivery_log import CloudWatchDeliveryLog
from tests.builders import KEY, NOW, a_claimed_run

RUN = a_claimed_run(status=Status.SENT, message_id="m1")


class _Logs:
    """A log group that ignores the pattern of a search, as an emulator may."""

    def __init__(self, *lines: dict[str, Any]) -> None:
        self.lines = lines
        self.patterns: list[str] = []

    def get_paginator(self, operation: str) -> "_Logs":
        assert operation == "filter_log_events"
        return self

    def paginate(self, **request: Any) -> Iterator[dict[str, Any]]:
        assert request["logGroupName"] == "/aws/lambda/gazette-prod-feedback"
        self.patterns.append(request["filterPattern"])
        text = "\n".join(json.dumps(line) for line in self.lines)
        yield {"events": [{"message": text}, {"message": "no JSON"}]}


def _own(kind: str, message: str, run: str = "") -> dict[str, Any]:
    return {"correlation_id": run or run_id(KEY), "type": kind, "provider_message_id": message}


SHARED = {"message": "emails confirmed", "sent": ["m0", "m1"], "delivered": ["m0"]}


@pytest.mark.parametrize(
    ("lines", "ids"),
    [
        ((), set()),
        ((SHARED,), {"m1"}),
        ((SHARED, SHARED), {"m1"}),
        (({**SHARED, "sent": ["m0"], "delivered": ["m1"]},), set()),
        ((_own("sent", "m1"),), {"m1"}),
        ((SHARED, _own("sent", "m2")), {"m1", "m2"}),
        ((SHARED, _own("delivered", "m2")), {"m1"}),
        ((SHARED, _own("sent", "m2", "ben-daily-1")), {"m1"}),
        ((_own("sent", ""),), set()),
    ],
)
def test_message_ids_are_those_of_sent_events_of_the_run(
    monkeypatch: pytest.MonkeyPatch, lines: tuple[dict[str, Any], ...], ids: set[str]
) -> None:
    logs = _Logs(*lines)
    monkeypatch.setattr(delivery_log, "client", lambda _: logs)
    assert CloudWatchDeliveryLog("prod").message_ids(RUN, NOW) == ids
    assert logs.patterns == ['{ $.correlation_id = "ann-daily-1" }', '"m1"']


def test_run_without_a_message_id_is_not_searched_for_by_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logs = _Logs({"message": "emails confirmed", "sent": [""]})
    monkeypatch.setattr(delivery_log, "client", lambda _: logs)
    run = replace(RUN, message_id="")
    assert CloudWatchDeliveryLog("prod").message_ids(run, NOW) == set()
    assert len(logs.patterns) == 1
