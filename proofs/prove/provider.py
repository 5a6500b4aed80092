"""The mail provider: what it accepts is what counts, whatever it answers and reports."""

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
    """What becomes of one call. `LOST`: accepted, and the answer is lost; `NEITHER`: neither."""

    ACCEPTS = "accepts"
    REFUSES_NOW = "refuses_now"
    REFUSES_FOR_GOOD = "refuses_for_good"
    REFUSES_ACCOUNT = "refuses_account"
    LOST = "lost"
    NEITHER = "neither"


class Evidence(StrEnum):
    """When delivery events of what was accepted come in.

    `DURING`: before the answer of the call. `LATE`: when the grace period is over; `LATER`: when
    the policy has spoken; `NEXT_DAY`: after the next digest; `NEVER`: no delivery event of an
    email, yet of a canary; `SILENT`: of nothing.
    """

    SOON = "soon"
    DURING = "during"
    TWICE = "twice"
    LATE = "late"
    LATER = "later"
    NEXT_DAY = "next_day"
    NEVER = "never"
    SILENT = "silent"


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
    """An email that was accepted, by which call of which claim, and after which last look.

    `version`: of the templates that made it.
    """

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
        """The ids of the events in it."""
        return {line.partition("\t")[0] for line in self.lines}

    @property
    def says(self) -> dict[str, str]:
        """The texts of the events that it does not only name, by their ids."""
        parts = (line.partition("\t") for line in self.lines)
        return {event: text for event, is_there, text in parts if is_there}


@dataclass
class Provider:
    """Answers as it is told, one call after the other; then it accepts.

    Until `refused_at_once` it refuses all that goes out at once, which uses up none of its answers.
    `later(delay, delivery_event)` brings a delivery event to the feedback queue, and
    `now(delivery_event)` at once to whoever takes note of it. `where()` says at which call we are,
    and at which the claim and the last look were. `tried`: the versions of the templates in all
    calls for a run.
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
        """One call, with the tags and the text of the email; `forced` comes before the script."""
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
        """An email to nobody; its delivery event comes if any comes."""
        if self.evidence is not Evidence.SILENT:
            delivery_event = DeliveryEvent(
                DeliveryEventType.SENT, None, None, "canary", self.clock()
            )
            self.later(timedelta(seconds=5), delivery_event)


def _version_of(text: str) -> int:
    """The version of the templates that made an email: it stands behind the reader's name."""
    return int(text.partition("\n")[0].partition(" v")[2] or 0)
