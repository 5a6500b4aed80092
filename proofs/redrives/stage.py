"""A stage on fakes: the functions of the support page, and the functions that drain the queues."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from gazette.adapters.aws.dead_letters import queues, states
from gazette.adapters.aws.queues import (
    decode_followers,
    decode_partition,
    decode_run_key,
    decode_shard,
    was_given_up,
)
from gazette.adapters.contract.decoding import decode
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.bootstrap.console import page, redrive, shared
from gazette.domain.dead_letters import KNOWN, DeadQueue
from gazette.domain.errors import NotYet
from gazette.domain.links import LinkKeys
from gazette.domain.model import RunKey
from gazette.settings.delivery import SupportSettings
from gazette.steps.support.dead_letters import Forecast, forecast

from functions.support.handler import lambda_handler as support
from functions.support_redrive.handler import lambda_handler as support_redrive
from proofs.redrives.letters import Letters
from tests.credentials import set_credentials
from tests.fake_sqs import FakeMessage, FakeSqs, counted
from tests.functions.conftest import QUEUES, Context, every_setting
from tests.unit.console.pages import ARN, Parsed

PREFIX = "gazette-prod-"
DEAD: tuple[DeadQueue, ...] = tuple(dead for dead in KNOWN if dead.source and not dead.is_optional)
"""The queues that a redrive empties, in a stage without a content source."""

_CHANGES = {"SendMessage", "DeleteMessage"}
_TWICE = 0.02
"""The probability that SQS delivers a message twice."""


class KilledError(BaseException):
    """The end of an invocation, which runs no code any more."""


class Stage:
    """The queues and functions of a stage. The next invocation is killed as `kill_at` says."""

    def __init__(self, letters: Letters, random: Random) -> None:
        self.letters, self.world, self.random = letters, letters.world, random
        names = {dead.name for dead in KNOWN} | {dead.source for dead in KNOWN if dead.source}
        self.sqs = FakeSqs(
            self.world.clock,
            random,
            [f"{PREFIX}{name}" for name in sorted({*names, "quarantine"})],
        )
        for name, bodies in letters.by_queue.items():
            for body in bodies:
                self.sqs.send_message(QueueUrl=PREFIX + name, MessageBody=body)
        self.world.clock.pass_time(minutes=5)

        # The number of sends and deletes before the kill; None if the invocation ends by itself.
        self.kill_at: int | None = None
        self.kills_before = True
        self.is_dead = False

        # The sends of the current invocation, and what the functions processed.
        self.moved: Counter[str] = Counter()
        self.deleted = 0
        self.processed: Counter[str] = Counter()

        # The messages that fail until their cause is fixed.
        self.broken: set[str] = set()
        self.returned = 0
        self.sqs.around = self._around

    def invoke(self, function: str, parameters: dict[str, str]) -> Parsed | None:
        """Call a function of the page as the console does. Return None if it was killed."""
        self.moved, self.deleted, self.is_dead = Counter(), 0, False
        handler = support if function == "support" else support_redrive
        context: dict[str, Any] = {"theme": "light", "forms": {"all": {}}, "params": {}}
        try:
            answer = Parsed(handler({**parameters, "widgetContext": context}, Context()))
        except KilledError:
            return None
        finally:
            self.kill_at, self.is_dead = None, False
        assert "h2" in answer.tags, answer.text
        return answer

    def drain(self) -> None:
        """Let the functions process what they can see of their queues."""
        for source in sorted({str(dead.source) for dead in DEAD}):
            name = PREFIX + source
            for message in [*self.sqs.queues[name].values()]:
                self._process(source, name, message)
        self.world.work_off_followers()
        self.world.deliver_queued()

    def dead_messages(self) -> dict[str, int]:
        """Return the number of dead letters by their body."""
        return counted([body for dead in DEAD for body in self.sqs.bodies(PREFIX + dead.name)])

    def dead_ids(self) -> set[str]:
        """Return the ids of the dead letters."""
        return {each for dead in DEAD for each in self.sqs.queues[PREFIX + dead.name]}

    def _process(self, source: str, name: str, message: FakeMessage) -> None:
        if message.body in self.broken:
            dead = "resend-dead" if source == "resend" else f"{source}-dead"
            self.returned += 1
            self.sqs.bring_back(name, PREFIX + dead, message)
            return
        times = 2 if self.random.random() < _TWICE else 1
        try:
            for _ in range(times):
                self._handlers()[source](message.body)
        except NotYet:
            return
        self.processed[message.body] += 1
        del self.sqs.queues[name][message.id]

    def _handlers(self) -> dict[str, Callable[[str], object]]:
        world = self.world
        return {
            "ingest": lambda body: world.ingest(body, decode),
            "followers": lambda body: world.walk_followers(decode_followers(body)),
            "shard": lambda body: world.fan_out_shard(decode_shard(body)),
            "sweep": lambda body: world.sweep_partition(decode_partition(body)),
            "generate": lambda body: world.generate(decode_run_key(body)),
            "immediate": lambda body: world.generate(decode_run_key(body)),
            "resend": lambda body: world.resend(decode_run_key(body), given_up=was_given_up(body)),
            "feedback": self._feedback,
        }

    def _feedback(self, body: str) -> None:
        event = decode_delivery_event(body)
        assert event
        self.world.feedback(event)

    def _around(self, operation: str, request: dict[str, Any], call: Callable[[], Any]) -> Any:
        if self.is_dead:
            raise KilledError
        if operation not in _CHANGES or self.kill_at is None:
            return self._counted(operation, request, call)
        self.kill_at -= 1
        if self.kill_at:
            return self._counted(operation, request, call)
        if not self.kills_before:
            self._counted(operation, request, call)
        self.is_dead = True
        raise KilledError

    def _counted(self, operation: str, request: dict[str, Any], call: Callable[[], Any]) -> Any:
        answer = call()
        self.moved.update([request["MessageBody"]] if operation == "SendMessage" else [])
        self.deleted += operation == "DeleteMessage"
        return answer


@contextmanager
def on_fakes(stage: Stage) -> Iterator[None]:
    """Build the functions of the page on the fakes, without threads."""
    world, keys = stage.world, LinkKeys({"k1": b"k" * 64})

    def in_turn(work: Callable[[Any], object], items: Any) -> None:
        for item in items:
            work(item)

    def forecast_of(key: RunKey, given_up: bool) -> Forecast:
        return forecast(key, given_up=given_up, context=world.dry_run_context())

    secrets = {name: name for name in ("links", "suppressions", "recommendations", "smtp")}
    urls = {name: f"https://sqs.us-east-1.amazonaws.com/1/{name}" for name in QUEUES}
    (settings,) = (
        each for each in every_setting(urls, secrets) if isinstance(each, SupportSettings)
    )
    with pytest.MonkeyPatch.context() as patch:
        set_credentials(patch)
        for variable, value in settings.to_env().items():
            patch.setenv(variable, value)
        patch.setattr(Context, "invoked_function_arn", ARN)
        patch.setattr(queues, "client", lambda _: stage.sqs)
        patch.setattr(states, "side_by_side", in_turn)
        patch.setattr(shared, "side_by_side", in_turn)
        patch.setattr(shared, "read_suppression_key", lambda _: b"")
        patch.setattr(shared, "build_forecast", lambda *_: forecast_of)
        patch.setattr(shared, "build_read_run", lambda _: world.runs.get)
        patch.setattr(page, "build_receipts", lambda *_, **__: None)
        patch.setattr(redrive, "build_due_at", lambda _: lambda key: world.runs.rows[key].due_at)
        patch.setattr(redrive, "cached_keys", lambda *_, **__: _Keys(keys))
        patch.setattr(redrive, "monotonic", lambda: world.clock().timestamp())
        for module in (page, redrive):
            patch.setattr(module, "now", world.clock)
            module.build.cache_clear()
        yield
    page.build.cache_clear()
    redrive.build.cache_clear()


class _Keys:
    def __init__(self, keys: LinkKeys) -> None:
        self._keys = keys

    def get(self) -> LinkKeys:
        return self._keys
