"""A redrive on the support page that is killed at any call, and the real handlers after it.

`proofs/redrives` does the same on fakes, with thousands of messages.
"""

from collections import Counter
from random import Random
from typing import Any

import pytest
from botocore.client import BaseClient
from gazette.adapters.aws.dead_letters import queues as sqs_queues
from gazette.adapters.aws.queues import encode_failed_run
from gazette.domain.dead_letters import KNOWN

from tests.functions.cli.test_dead_letters import Sqs
from tests.functions.conftest import Cloud, Context
from tests.functions.failing import refused_to_the_end
from tests.functions.messages import envelope, event, profile
from tests.functions.supporting import Widget, a_message, button, put, stage_queues
from tests.moto_tables import moto_backend
from tests.unit.console.pages import ARN, Parsed

FUNCTIONS = {
    "ingest": "ingest",
    "generate": "generate",
    "immediate": "generate",
    "resend": "resend",
}
"""The function of each source queue in this test."""


class KilledError(BaseException):
    """The end of an invocation, which runs no code any more."""


class Killer:
    """A kill before or after one of the sends and deletes of an invocation."""

    def __init__(self, random: Random, monkeypatch: pytest.MonkeyPatch) -> None:
        self.random = random
        self.left = 0
        self.kills: Counter[str] = Counter()
        self._is_dead = False
        real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

        def call(client: BaseClient, name: str, request: dict[str, Any]) -> Any:
            if self._is_dead:
                raise KilledError
            if not self.left or name not in {"SendMessage", "DeleteMessage"}:
                return real(client, name, request)
            self.left -= 1
            if self.left:
                return real(client, name, request)
            self._is_dead = True
            if is_after := self.random.random() < 0.5:
                real(client, name, request)
            self.kills[f"{'after' if is_after else 'before'} {name}"] += 1
            raise KilledError

        monkeypatch.setattr(BaseClient, "_make_api_call", call)

    def press(self, widget: Widget, order: Any, *, calls: int) -> Parsed | None:
        """Press a button whose function is killed at the send or delete with this number."""
        self.left = calls
        try:
            return widget.press(order)
        except KilledError:
            return None
        finally:
            self.left, self._is_dead = 0, False


def two_minutes_pass() -> None:
    """Let the messages that a killed function held be visible again."""
    for queue in moto_backend("sqs").queues.values():
        for message in queue._messages:
            message.visible_at = 0


def drain(cloud: Cloud) -> None:
    """Process the messages of the source queues by the real handlers, each message twice."""
    for name, function in FUNCTIONS.items():
        messages = moto_backend("sqs").queues[f"gazette-prod-{name}"]._messages
        bodies = [message.body for message in messages]
        messages.clear()
        for body in bodies:
            cloud.work(function, body)
            cloud.work(function, body)
    for name in ("generate", "resend"):
        for message in cloud.take(name):
            cloud.work(name, message["Body"])


def put_dead_letters(cloud: Cloud, sqs: Sqs) -> Counter[str]:
    """Put dead letters into the queues, and return the number of due emails by address."""
    due: Counter[str] = Counter()
    for number in range(16):
        user = f"u{number}"
        message = a_message(cloud, user)
        queue = ("generate-dead", "immediate-dead", "resend-dead")[number % 3]
        if number % 8 == 0:
            cloud.work("generate", message)
        elif number % 8 == 1:
            body = encode_failed_run(refused_to_the_end(message).key).body
            put(cloud, sqs, "failed", body)
            due[f"{user}@example.com"] = 1
            continue
        elif number % 8 == 2:
            cloud.say(
                "subscriber.deleted", {"user_id": user, "deleted_at": event(1)["occurred_at"]}
            )
        else:
            due[f"{user}@example.com"] = 1
        put(cloud, sqs, queue, message, *[message] * (number % 2))
    cloud.say("subscriber.changed", profile("zoe"))
    put(
        *(cloud, sqs, "ingest-dead"),
        *(envelope("event.created", event(number, user_id="zoe")) for number in range(8)),
    )
    cloud.meter.clear()
    return due


def redrive_all(cloud: Cloud, widget: Widget, killer: Killer) -> None:
    """Redrive until all queues are empty. Press each button again after a kill, and at the end."""
    for _ in range(30):
        if widget.refresh().texts[0] == "All queues are empty":
            break
        order = button(widget.plan(queue="all"), do="redrive")
        while (answer := killer.press(widget, order, calls=killer.random.randint(1, 25))) is None:
            drain(cloud)
            if killer.random.random() < 0.5:
                two_minutes_pass()
            widget.refresh()
        assert " moved." in answer.text
        assert "0 of " in widget.press(order).text
        drain(cloud)
        two_minutes_pass()


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_redrive_that_is_killed_sends_each_email_once(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(Context, "invoked_function_arn", ARN)
    monkeypatch.setattr(sqs_queues, "POLL", 0)
    sqs, widget, random = stage_queues(cloud), Widget(cloud), Random(seed)
    due = put_dead_letters(cloud, sqs)
    with pytest.MonkeyPatch.context() as patch:
        killer = Killer(random, patch)
        redrive_all(cloud, widget, killer)
    assert Counter(cloud.recipients()) == due
    assert {row["event_id"] for row in cloud.rows("events") if row["user_id"] == "zoe"} == {
        f"e{number}" for number in range(8)
    }
    assert not [body for dead in KNOWN for body in sqs.bodies(dead.name)]
    assert len(killer.kills) >= 3
