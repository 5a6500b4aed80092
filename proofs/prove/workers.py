"""The functions' message handlers, on the ports of a land."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from gazette.domain.delivery.run import Run
from gazette.domain.feedback.delivery_events import DeliveryEvent
from gazette.domain.ports.queues import Shard

from proofs.prove.queues import Message
from proofs.prove.strikes import Calls
from tests.world import World

Done = Run | None
"""The run of a message, as its worker left it."""


class Workers:
    """The workers, with one method for each function."""

    def __init__(self, world: World, calls: Calls) -> None:
        self._world = world
        self._calls = calls
        world.time_left = self._time_left

    def _time_left(self) -> timedelta:
        """Return the time left in the current invocation."""
        worker = self._calls.worker
        if worker is None:
            return timedelta(minutes=2)
        now = self._calls.clock()
        worker.require_time(now)
        return worker.ends_at - now

    def ingest(self, messages: Sequence[Message]) -> list[Exception | None]:
        """Process decoded commands. Each can fail without affecting the others."""
        done = self._world.say_together(*map(_body, messages))
        return [each if isinstance(each, Exception) else None for each in done]

    def followers(self, message: Message) -> Done:
        self._world.walk_followers(_body(message))
        return None

    def tick(self, at: datetime) -> None:
        """Handle the clock's own message, which is not stored."""
        self._world.tick(at)

    def fanout(self, message: Message) -> Done:
        shard = _body(message)
        assert isinstance(shard, Shard)
        self._world.fan_out_shard(shard)
        return None

    def content(self, message: Message) -> Done:
        self._world.fetch(_body(message))
        return None

    def generate(self, message: Message) -> Done:
        return self._world.generate(_body(message))

    def resend(self, message: Message) -> Done:
        """Process a message. Hiding it counts as a call."""
        world = self._world

        def hide(pause: timedelta) -> None:
            message.visible_at = world.clock() + pause

        return world.resend(
            _body(message),
            given_up=message.given_up,
            hide=lambda pause: self._call("message.hide", lambda: hide(pause)),
        )

    def feedback(self, message: Message) -> Done:
        delivery_event = _body(message)
        assert isinstance(delivery_event, DeliveryEvent)
        return self._world.feedback(delivery_event)

    def begin_sweep(self, at: datetime) -> None:
        """Handle the clock's own message, which is not stored."""
        self._world.begin_sweep(at)

    def sweep(self, message: Message) -> Done:
        self._world.sweep_partition(_body(message))
        return None

    def _call(self, name: str, call: Callable[[], object]) -> None:
        self._calls.around(name, call)


def _body(message: Message) -> Any:
    return message.body
