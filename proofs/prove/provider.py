"""The mail provider. The emails that it accepts count, whatever it answers and reports."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

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
from gazette.domain.model import RunKey

from tests.builders import SettableClock

_TIMEOUT = timedelta(seconds=10)


class Answer(StrEnum):
    """The provider's reaction to one call."""

    ACCEPTS = "accepts"
    REFUSES_NOW = "refuses_now"
    REFUSES_FOR_GOOD = "refuses_for_good"
    REFUSES_ACCOUNT = "refuses_account"
    LOST = "lost"
    """The email is accepted, but the answer is lost."""

    NEITHER = "neither"
    """The email is not accepted, and there is no answer."""


class Evidence(StrEnum):
    """The arrival time of delivery events for accepted emails."""

    SOON = "soon"
    DURING = "during"
    """Before the answer to the call."""

    TWICE = "twice"
    LATE = "late"
    """After the grace period."""

    LATER = "later"
    """After the policy has decided."""

    NEXT_DAY = "next_day"
    """After the next digest."""

    NEVER = "never"
    """Never for an email, but on time for a canary."""

    SILENT = "silent"
    """Never, for emails and canaries."""


_AFTER: dict[Evidence, tuple[timedelta, ...]] = {
    Evidence.SOON: (timedelta(seconds=10),),
    Evidence.DURING: (timedelta(minutes=1),),
    Evidence.TWICE: (timedelta(seconds=10), timedelta(seconds=20), timedelta(hours=26)),
    Evidence.LATE: (timedelta(minutes=22),),
    Evidence.LATER: (timedelta(minutes=31),),
    Evidence.NEXT_DAY: (timedelta(hours=26),),
    Evidence.NEVER: (),
    Evidence.SILENT: (),
}


@dataclass(frozen=True)
class Taken:
    """An accepted email, with the positions of its call, its claim and its last look."""

    key: RunKey
    attempt: int
    at: datetime
    call: int
    claim_call: int
    look_call: int
    lines: tuple[str, ...]
    version: int

    @property
    def shows(self) -> set[str]:
        """Return the ids of the events in the email."""
        return {line.partition("\t")[0] for line in self.lines}

    @property
    def says(self) -> dict[str, str]:
        """Return the texts of the events that the email shows in full, by event id."""
        parts = (line.partition("\t") for line in self.lines)
        return {event: text for event, is_there, text in parts if is_there}


@dataclass
class Provider:
    """A provider that follows a script of answers, then accepts all further calls.

    Until `refused_at_once` it rejects all immediate email, without using up answers. `later(delay,
    delivery_event)` delivers a delivery event to the feedback queue, and `now(delivery_event)`
    passes it on immediately. `where()` returns the positions of the current call, the claim and the
    last look. `tried` holds the template versions of all calls for a run.
    """

    clock: SettableClock
    answers: list[Answer]
    evidence: Evidence
    later: Callable[[timedelta, DeliveryEvent], None]
    now: Callable[[DeliveryEvent], None]
    where: Callable[[], tuple[int, int, int]]
    refused_at_once: datetime | None = None
    taken: list[Taken] = field(default_factory=list)
    tried: dict[RunKey, set[int]] = field(default_factory=dict)
    forced: Answer | None = None

    def take(self, run: str, attempt: int, text: str) -> SendOutcome:
        """Handle one call, given the email's tags and text; `forced` takes precedence over the
        script.
        """
        self.tried.setdefault(parse_run_id(run), set()).add(_version_of(text))
        if self._refuses_stream(parse_run_id(run)):
            self.forced = None
            return RefusedAccount(attempt, "NotFoundException")
        answer, self.forced = self.forced, None
        if answer is None:
            answer = self.answers.pop(0) if self.answers else Answer.ACCEPTS
        match answer:
            case Answer.REFUSES_NOW:
                return RefusedForNow(attempt, "Throttling")
            case Answer.REFUSES_FOR_GOOD:
                return RefusedForGood(attempt, "MessageRejected")
            case Answer.REFUSES_ACCOUNT:
                return RefusedAccount(attempt, "SendingPausedException", every_stream=True)
        if answer is not Answer.NEITHER:
            self._accept(run, attempt, text)
        if answer is Answer.ACCEPTS:
            return Accepted(attempt, f"m{len(self.taken)}")
        self.clock.sleep(_TIMEOUT)
        return Uncertain(attempt, "ReadTimeoutError")

    def _refuses_stream(self, key: RunKey) -> bool:
        until = self.refused_at_once
        return until is not None and key.is_immediate and self.clock() < until

    def _accept(self, run: str, attempt: int, text: str) -> None:
        call, claim_call, look_call = self.where()
        key, at = parse_run_id(run), self.clock()
        _, *lines, _, _ = text.split("\n")
        version = _version_of(text)
        self.taken.append(
            Taken(key, attempt, at, call, claim_call, look_call, tuple(lines), version)
        )
        delivery_event = DeliveryEvent(
            DeliveryEventType.SENT, key, attempt, f"m{len(self.taken)}", at
        )
        if self.evidence is Evidence.DURING:
            self.now(delivery_event)
        for delay in _AFTER[self.evidence]:
            self.later(delay, delivery_event)

    def take_canary(self) -> None:
        """Accept a canary, which has no recipient; its delivery event follows the script."""
        if self.evidence is not Evidence.SILENT:
            delivery_event = DeliveryEvent(
                DeliveryEventType.SENT, None, None, "canary", self.clock()
            )
            self.later(timedelta(seconds=5), delivery_event)


def _version_of(text: str) -> int:
    """Return the version of the templates that made an email, which follows the reader's name."""
    return int(text.partition("\n")[0].partition(" v")[2] or 0)
