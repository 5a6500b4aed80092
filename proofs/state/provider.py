"""Simulated SES, which may accept and hang, reject, or report late, twice or never."""

from collections import deque
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import NamedTuple

from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import (
    Accepted,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    SendOutcome,
    Uncertain,
)
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.identity import parse_run_id
from gazette.domain.model import Mail, RunKey
from gazette.domain.ports.clock import Clock

from tests.fake_stores import FakeRuns
from tests.fakes import FakeCanary, FakeMailer


class Behaviour(Enum):
    """The provider's reaction to the next call."""

    ACCEPT = auto()
    ACCEPT_AND_HANG = auto()
    LOSE = auto()
    REFUSE_FOR_NOW = auto()
    REFUSE_FOR_GOOD = auto()
    REFUSE_ACCOUNT = auto()


class Taken(NamedTuple):
    """An accepted email. `at` is the number of run writes before it."""

    key: RunKey
    attempt: int
    at: int
    shown: frozenset[str]


@dataclass
class NotingRuns(FakeRuns):
    """The port `Runs`, which also records every write in order."""

    history: list[Run] = field(default_factory=list)

    def create(self, run: Run) -> Run:
        if run.key not in self.rows:
            self.history.append(run)
        return super().create(run)

    def swap(self, before: Run, after: Run) -> Run:
        was = self.rows.get(after.key)
        stored = super().swap(before, after)
        if self.rows[after.key] is not was:
            self.history.append(stored)
        return stored

    def swap_together(self, pairs: tuple[tuple[Run, Run], ...]) -> bool:  # type: ignore[override]
        was = dict(self.rows)
        done = super().swap_together(pairs)
        self.history += [
            after
            for before, after in pairs
            if before != after and self.rows[after.key] is not was.get(after.key)
        ]
        return done


@dataclass
class Provider(FakeMailer):
    """The port `Mailer`. `delivery_events` holds those that are still pending."""

    clock: Clock = field(kw_only=True)
    runs: NotingRuns = field(kw_only=True)
    plan: deque[Behaviour] = field(default_factory=deque)
    taken: list[Taken] = field(default_factory=list)
    delivery_events: list[DeliveryEvent] = field(default_factory=list)

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        self.calls += 1
        match self.plan.popleft() if self.plan else Behaviour.ACCEPT:
            case Behaviour.ACCEPT:
                return Accepted(attempt, self._take(mail, attempt))
            case Behaviour.ACCEPT_AND_HANG:
                self._take(mail, attempt)
                return Uncertain(attempt, "ReadTimeoutError")
            case Behaviour.LOSE:
                return Uncertain(attempt, "500 InternalFailure")
            case Behaviour.REFUSE_FOR_NOW:
                return RefusedForNow(attempt, "TooManyRequestsException")
            case Behaviour.REFUSE_FOR_GOOD:
                return RefusedForGood(attempt, "MessageRejected")
            case Behaviour.REFUSE_ACCOUNT:
                return RefusedAccount(attempt, "AccountSuspendedException")

    def _take(self, mail: Mail, attempt: int) -> str:
        self.accepted.append((mail, attempt))
        message_id = f"message{len(self.accepted)}"
        key = parse_run_id(dict(mail.tags)["run"])
        shown = {line[:-3] for line in mail.edition.text.split("\n") if line.endswith(": 1")}
        self.taken.append(Taken(key, attempt, len(self.runs.history), frozenset(shown)))
        sent = DeliveryEvent(DeliveryEventType.SENT, key, attempt, message_id, self.clock())
        self.delivery_events += [sent, replace(sent, type=DeliveryEventType.DELIVERED)]
        return message_id


@dataclass
class HeardCanary(FakeCanary):
    """The port `Canary`, for which the provider reports like for any email."""

    provider: Provider = field(kw_only=True)

    def send(self) -> None:
        super().send()
        at = self.provider.clock()
        delivery_event = DeliveryEvent(DeliveryEventType.SENT, None, None, f"canary{self.sent}", at)
        self.provider.delivery_events.append(delivery_event)
