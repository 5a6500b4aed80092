"""Fakes of the ports. tests/contract runs the same tests on the real adapters."""

import html
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Generic, TypeVar

from gazette.domain.content.items import Answer
from gazette.domain.content.ports import Question
from gazette.domain.delivery.arrangement import Arrangement, Ranking
from gazette.domain.delivery.compose import Digest
from gazette.domain.delivery.pace import Quota
from gazette.domain.delivery.signals import Accepted, SendOutcome
from gazette.domain.errors import GazetteError, SourceFailed, Unavailable
from gazette.domain.events_out.events import EventOut
from gazette.domain.feedback.experiment import Experiment, ExperimentPeriod
from gazette.domain.links import LinkKeys, LinkToken
from gazette.domain.model import Edition, Mail
from gazette.domain.ports.bus import BusCommand
from gazette.domain.ports.queues import LONGEST_DELAY, MESSAGES_A_CALL
from gazette.domain.ports.rendering import Links
from gazette.domain.subscribers.subscriber import Subscriber

MessageT = TypeVar("MessageT")


@dataclass
class FakeQueue(Generic[MessageT]):
    """The port `Queue`; `calls` as SQS would count them."""

    sent: list[MessageT] = field(default_factory=list)
    calls: int = 0

    def send(self, messages: Iterable[MessageT]) -> None:
        sent = list(messages)
        delays = [getattr(message, "delay", None) or timedelta(0) for message in sent]
        assert all(timedelta(0) <= delay <= LONGEST_DELAY for delay in delays), "SQS rejects it"
        self.calls += ceil(len(sent) / MESSAGES_A_CALL)
        self.sent.extend(sent)


@dataclass
class FakeEvidenceLog:
    """The port `EvidenceLog`."""

    proven_until: datetime | None = None

    def record(self, sent_at: datetime) -> None:
        self.proven_until = max(sent_at, self.proven_until or sent_at)

    def latest(self) -> datetime | None:
        return self.proven_until


@dataclass
class FakeBacklog:
    """The port `EvidenceBacklog`."""

    clear: bool = True

    def is_clear(self, grace: timedelta) -> bool:
        return self.clear


@dataclass
class FakeCanary:
    """The port `Canary`: counts the canaries; raises unless it is `working`."""

    sent: int = 0
    working: bool = True

    def send(self) -> None:
        if not self.working:
            raise Unavailable("The provider did not answer.")
        self.sent += 1


@dataclass
class FakeBus:
    """The port `Bus`: keeps its commands. `answers`: False or an error, for the next calls."""

    taken: list[BusCommand] = field(default_factory=list)
    answers: deque[bool | Exception] = field(default_factory=deque)

    def put(self, said: Sequence[BusCommand]) -> bool:
        answer = self.answers.popleft() if self.answers else True
        if isinstance(answer, Exception):
            raise answer
        if answer:
            self.taken.extend(said)
        return answer


@dataclass
class FakeIntake:
    """The port `Intake`: keeps its messages. `answers`: False or an error, for the next calls."""

    taken: list[str] = field(default_factory=list)
    answers: deque[bool | Exception] = field(default_factory=deque)

    def put(self, body: str) -> bool:
        answer = self.answers.popleft() if self.answers else True
        if isinstance(answer, Exception):
            raise answer
        if answer:
            self.taken.append(body)
        return answer


@dataclass
class FakeEventsOut:
    """The port `EventsOut`: keeps its events. `answers`: how many of the events of the next calls
    the bus takes before it fails; it takes all where there is no answer.
    """

    taken: list[EventOut] = field(default_factory=list)
    answers: deque[int] = field(default_factory=deque)

    def publish(self, events: Sequence[EventOut]) -> None:
        if self.answers:
            self.taken.extend(events[: self.answers.popleft()])
            raise Unavailable("The bus rejected some of the entries.")
        self.taken.extend(events)


@dataclass
class FakeQuarantine:
    """The port `Quarantine`."""

    kept: list[tuple[str, str]] = field(default_factory=list)

    def keep(self, body: str, reason: str) -> None:
        self.kept.append((body, reason))


@dataclass
@dataclass
class FakeSecret:
    """The secret that several stores share; `refusal`: the error that it raises instead."""

    keys: LinkKeys
    refusal: GazetteError | None = None
    reads: int = 0


@dataclass
class FakeKeyStore:
    """The port `KeyStore`."""

    secret: FakeSecret
    _read: LinkKeys | None = None

    def read(self) -> LinkKeys:
        self.secret.reads += 1
        if self.secret.refusal:
            raise self.secret.refusal
        self._read = self.secret.keys
        return self.secret.keys

    def replace(self, keys: LinkKeys) -> bool:
        if self._read != self.secret.keys:
            return False
        self.secret.keys = keys
        return True


class FakeLinks:
    """The port `LinkMaker`."""

    def links(self, link: LinkToken) -> Links:
        key = link.run
        site, run = "https://example.com", f"{key.user_id}/{key.schedule}/{key.sequence}"
        return Links(
            unsubscribe=f"{site}/unsubscribe/{key.user_id}",
            preferences=f"{site}/preferences/{key.user_id}",
            email=f"{site}/email/{run}",
            updates=f"{site}/updates/{run}",
            leave=lambda scope: "/".join(
                [f"{site}/unsubscribe/{key.user_id}", scope.kind, *scope.names]
            ),
        )


@dataclass
class FakeExperiments:
    """The port `Experiments`."""

    current: Experiment | None = None
    known: dict[str, ExperimentPeriod] = field(default_factory=dict)

    def running(self) -> Experiment | None:
        return self.current

    def start(self, wanted: Experiment) -> None:
        before = self.known.get(wanted.name, ExperimentPeriod(wanted.since, None))
        self.stop(wanted.since)
        self.known[wanted.name] = ExperimentPeriod(min(before.since, wanted.since), None)
        self.current = wanted

    def stop(self, at: datetime) -> None:
        for name, period in self.known.items():
            self.known[name] = replace(period, until=period.until or at)
        self.current = None

    def periods(self) -> Mapping[str, ExperimentPeriod]:
        return self.known


@dataclass
class FakeRenderer:
    """The port `Renderer`: names every group with its count. `mark`: in each part of its emails."""

    mark: str = field(default="", kw_only=True)

    def arrangement(self, variation: int, of_stage: Arrangement) -> Arrangement:
        return replace(of_stage, ranking=Ranking.LATEST) if variation == 2 else of_stage

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: Links,
        schedule: str,
        *,
        variation: int = 1,
        due_at: datetime | None = None,
        is_first: bool = False,
    ) -> Edition:
        lines = [f"{group.latest.entity.id}: {group.count}" for group in digest.groups]
        text = "\n".join([subscriber.name, *lines, schedule, links.unsubscribe]) + self.mark
        subject = f"{digest.events} updates{self.mark}"
        return Edition(subject, html.escape(text), text, digest.categories)

    def said(
        self, digest: Digest, subscriber: Subscriber, *, variation: int = 1
    ) -> Sequence[Sequence[str]]:
        return [
            [f"{group.latest.entity.id}: {group.count}{self.mark}" for group in block.groups]
            for block in digest.blocks
        ]

    def buttons(
        self, digest: Digest, subscriber: Subscriber, *, variation: int = 1
    ) -> Sequence[str]:
        return [f"Open{self.mark}" for _ in digest.blocks]


@dataclass
class FakeMailer:
    """The port `Mailer`: keeps the emails it accepted, or returns the scripted outcomes."""

    accepted: list[tuple[Mail, int]] = field(default_factory=list)
    script: deque[SendOutcome] = field(default_factory=deque)
    calls: int = 0

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        self.calls += 1
        if self.script:
            return self.script.popleft()
        self.accepted.append((mail, attempt))
        return Accepted(attempt, f"message{len(self.accepted)}")


@dataclass
class FakeAccount:
    """The port `Account`; without a quota it raises."""

    told: Quota | None

    def quota(self) -> Quota:
        if self.told is None:
            raise Unavailable("The provider did not answer.")
        return self.told


@dataclass
class FakeSource:
    """The port `ContentSource`: answers in turn, then with nothing new; raises what is an error."""

    answers: deque[Answer | SourceFailed] = field(default_factory=deque)
    asked: list[Question] = field(default_factory=list)

    def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        answer = self.answers.popleft() if self.answers else Answer()
        if isinstance(answer, SourceFailed):
            raise answer
        return answer
