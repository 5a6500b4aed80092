"""Gazette on fakes: the real steps on ports in memory."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from gazette.domain.commands import (
    ChangeFollow,
    ChangeSubscriber,
    Command,
    CreateEvents,
    EraseSubscriber,
    MarkSeen,
)
from gazette.domain.content.asking import ContentPlan, ContentSources
from gazette.domain.content.ports import Fetch, QueuedFetch
from gazette.domain.delivery.arrangement import DEFAULT
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.delivery.redrive import Redriven
from gazette.domain.delivery.run import Run, Status
from gazette.domain.delivery.signals import Policy
from gazette.domain.delivery.streams import Streams
from gazette.domain.errors import InvalidEvent, NotYet, Unavailable
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.feedback.reputation import CategoryHold
from gazette.domain.identity import address_hash, shard_of
from gazette.domain.links import LinkToken
from gazette.domain.model import DAILY, Event, RunKey, StageHeaders, StoredEvent
from gazette.domain.muting.mutes import Mutes, in_force, mute_now
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.control import CurrentWithdrawals, HeldCategories
from gazette.domain.ports.queues import FollowerPage, QueuedRun, Shard, Walk
from gazette.domain.ports.rendering import Renderer, VersionTemplates
from gazette.domain.ports.stores import DeferredEvents
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.cap import ImmediateLimit
from gazette.domain.scheduling.lifetime import withdrawn_for
from gazette.domain.scheduling.limits import (
    DeliveryLimits,
    FanoutLimits,
    RoutingLimits,
    SweepLimits,
)
from gazette.domain.scheduling.quiet import QuietHours
from gazette.domain.subscribers.addresses import EVERYONE, AllowedRecipients
from gazette.domain.subscribers.choices import NOTHING, Choice
from gazette.domain.subscribers.consent import Consent
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequencies, Frequency
from gazette.domain.subscribers.leaving import LeaveAct, Leaving, Undone
from gazette.domain.subscribers.overview import Notice, Overview
from gazette.domain.subscribers.preference_form import Act, Fields, Submission
from gazette.domain.subscribers.subscriber import Reader, Subscriber
from gazette.domain.subscribers.suppression import SoftLimit
from gazette.domain.templates.ports import Decisions
from gazette.domain.templates.settings import SourcePolicy
from gazette.domain.templates.versions import version_for
from gazette.domain.window.worth import Worth
from gazette.domain.withdrawing.withdrawals import Withdrawal, WithdrawalKind
from gazette.steps.content.ahead import look_ahead
from gazette.steps.content.ask import AskContext, ProcessHealth
from gazette.steps.content.fetch import FetchContext, FetchResult, fetch
from gazette.steps.context import RoutingContext
from gazette.steps.delivery.content import ContentContext
from gazette.steps.delivery.context import DeliveryContext, EditionContext
from gazette.steps.delivery.deliver import deliver
from gazette.steps.delivery.generate import generate
from gazette.steps.delivery.pacing import Pacing, StreamPacing, postponed_until
from gazette.steps.delivery.resend import resend
from gazette.steps.delivery.types import Delivery, Postponed
from gazette.steps.delivery.versions import RunTemplates
from gazette.steps.fanout.fanout import FannedOut, fan_out, tick
from gazette.steps.feedback.bounces import SuppressionContext
from gazette.steps.feedback.feedback import (
    CategoryStatsContext,
    Feedback,
    FeedbackContext,
    Result,
    process_delivery_events,
)
from gazette.steps.ingest.followers import walk_followers
from gazette.steps.ingest.ingest import RunAll, ingest
from gazette.steps.ingest.order import Part
from gazette.steps.occurrences.asking import AskingContext
from gazette.steps.occurrences.context import FanoutContext
from gazette.steps.occurrences.redrive import RedriveContext, redrive
from gazette.steps.preferences.leaving import leave_by, look, take_back
from gazette.steps.preferences.page import perform, read_overview, save
from gazette.steps.preferences.requests import PageContext, Shown, leave, submit
from gazette.steps.routing.happening import leave_out_bodies
from gazette.steps.routing.reroute import route_again
from gazette.steps.routing.route import Routed
from gazette.steps.subscribers.mute import Muting, change_mutes
from gazette.steps.subscribers.resubscribe import resubscribe
from gazette.steps.subscribers.return_reader import Returned, return_reader
from gazette.steps.subscribers.suppress import stop_if_suppressed
from gazette.steps.subscribers.unsubscribe import record_unsubscribed, unsubscribe
from gazette.steps.support.dry_run import DryRunContext
from gazette.steps.sweep.sweep import begin_sweep, sweep
from gazette.steps.sweep.unknown import SweepContext, Swept
from gazette.steps.time_budget import unlimited

from gazette_support.steps.withdrawals import WithdrawalContext, add_withdrawal
from tests.builders import RETENTION, SettableClock, a_subscriber
from tests.fake_stores import (
    PARTITIONS,
    FakeActivities,
    FakeBatches,
    FakeBounces,
    FakeCategoryHolds,
    FakeCategoryStats,
    FakeEngagements,
    FakeEvents,
    FakeFollows,
    FakeImmediateUsage,
    FakeRateLimiter,
    FakeRuns,
    FakeSchedules,
    FakeSeenMarks,
    FakeSubscribers,
    FakeSuppressions,
    FakeWithdrawals,
)
from tests.fake_templates import FakeLibrary, FakeTemplateVersions
from tests.fakes import (
    FakeBacklog,
    FakeBus,
    FakeCanary,
    FakeEvidenceLog,
    FakeExperiments,
    FakeLinks,
    FakeMailer,
    FakeQuarantine,
    FakeQueue,
    FakeRenderer,
    FakeSource,
)

SETTLE_LAG = timedelta(seconds=15)
COLLAPSE = timedelta(seconds=20)
ROUTING = RoutingLimits(
    settle_lag=SETTLE_LAG,
    clock_skew=timedelta(seconds=5),
    check_after=timedelta(hours=1),
    collapse=COLLAPSE,
)
HOLD, WRITE_BOUND = ROUTING.hold, ROUTING.write_bound

GRACE = timedelta(minutes=15)

LOOKBACK = 1
"""Slots that a tick reads again."""

SOFT_LIMIT = SoftLimit(bounces=5, span=timedelta(days=14))

FANOUT = FanoutLimits(
    max_lateness=timedelta(days=60),
    spread=timedelta(0),
    check_after=timedelta(hours=1),
)

_ROUNDS = 3


def _a_minute() -> timedelta:
    return timedelta(minutes=1)


def in_turn(apply: Callable[[Sequence[Part]], object], all_parts: Sequence[Sequence[Part]]) -> None:
    """The commands of one reader after those of another, so that a history can be repeated."""
    for parts in all_parts:
        apply(parts)


PORTS = (
    "subscribers",
    "schedules",
    "follows",
    "activities",
    "suppressions",
    "bounces",
    "runs",
    "events",
    "batches",
    "quarantine",
    "generate_queue",
    "resend_queue",
    "failed_runs",
    "evidence_log",
    "engagements",
    "category_stats",
    "category_holds",
    "backlog",
    "canary",
    "deferred_events",
    "seen_marks",
    "immediate_usage",
    "shard_queue",
    "followers_queue",
    "sweep_queue",
    "bus",
    "mailer",
    "rate_limiter",
    "immediate_rate_limiter",
    "fetch_queue",
    "source",
    "source_permits",
)

Around = Callable[[str, Callable[[], object]], object]
"""Gets the name of a port's method, such as `events.store`, and the call; returns its answer."""


class Watched:
    """A port of which every call goes through `around`."""

    def __init__(self, name: str, port: object, around: Around) -> None:
        self._name = name
        self._port = port
        self._around = around

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(self._port, attribute)
        if not callable(found):
            return found
        return lambda *args, **named: self._around(
            f"{self._name}.{attribute}", lambda: found(*args, **named)
        )


class Email(NamedTuple):
    """What one email says: whose it is, of which schedule, and `post1: 3` for each group."""

    user_id: str
    schedule: str
    lines: tuple[str, ...]


def events_in(lines: Iterable[str]) -> int:
    """How many events these lines of emails tell of."""
    return sum(int(line.split(": ")[1]) for line in lines)


@dataclass
class World:
    """Every port as a fake, and the steps as methods.

    `rate_limiter` is that of digests. Where `immediate_rate_limiter` is the same one, both streams
    share a row, as nothing that is deployed lets them: for proofs that this would be found.
    `waiting_runs`: how many digests SQS says wait for a permit. `content`: the content sources;
    fan-out and delivery ask them if it is a plan.
    """

    clock: SettableClock = field(default_factory=SettableClock)
    defaults: Frequencies = ()
    critical: frozenset[str] = frozenset()
    content: ContentSources | None = None
    sunset: timedelta | None = None
    max_lateness: timedelta = FANOUT.max_lateness
    allowed: AllowedRecipients = EVERYONE
    spread: timedelta = FANOUT.spread
    worth: Worth | None = None
    quiet_hours: QuietHours | None = None
    limit: ImmediateLimit | None = None
    subscribers: FakeSubscribers = field(default_factory=FakeSubscribers)
    schedules: FakeSchedules = field(default_factory=FakeSchedules)
    follows: FakeFollows = field(default_factory=FakeFollows)
    activities: FakeActivities = field(default_factory=FakeActivities)
    suppressions: FakeSuppressions = field(default_factory=FakeSuppressions)
    bounces: FakeBounces = field(default_factory=FakeBounces)
    runs: FakeRuns = field(default_factory=FakeRuns)
    quarantine: FakeQuarantine = field(default_factory=FakeQuarantine)
    generate_queue: FakeQueue[QueuedRun] = field(default_factory=FakeQueue[QueuedRun])
    resend_queue: FakeQueue[QueuedRun] = field(default_factory=FakeQueue[QueuedRun])
    failed_runs: FakeQueue[RunKey] = field(default_factory=FakeQueue[RunKey])
    evidence_log: FakeEvidenceLog = field(default_factory=FakeEvidenceLog)
    engagements: FakeEngagements = field(default_factory=FakeEngagements)
    category_stats: FakeCategoryStats = field(default_factory=FakeCategoryStats)
    category_holds: FakeCategoryHolds = field(default_factory=FakeCategoryHolds)
    withdrawals: FakeWithdrawals = field(default_factory=FakeWithdrawals)
    told_held: list[CategoryHold] = field(default_factory=list)
    signs_of_life: frozenset[DeliveryEventType] = frozenset({DeliveryEventType.CLICKED})
    experiments: FakeExperiments = field(default_factory=FakeExperiments)
    backlog: FakeBacklog = field(default_factory=FakeBacklog)
    canary: FakeCanary = field(default_factory=FakeCanary)
    policy: Policy = Policy.RESEND
    waiting_runs: int = 0
    fetch_queue: FakeQueue[QueuedFetch] = field(default_factory=FakeQueue[QueuedFetch])
    source: FakeSource = field(default_factory=FakeSource)
    source_permits: FakeRateLimiter = field(
        default_factory=lambda: FakeRateLimiter(PacePlan(rate=500))
    )
    source_health: ProcessHealth = field(default_factory=ProcessHealth)
    source_policy: SourcePolicy = SourcePolicy.WITHOUT
    patience: timedelta = timedelta(minutes=10)
    bus: FakeBus = field(default_factory=FakeBus)
    followers_queue: FakeQueue[Walk | FollowerPage] = field(
        default_factory=FakeQueue[Walk | FollowerPage]
    )
    shard_queue: FakeQueue[Shard] = field(default_factory=FakeQueue[Shard])
    sweep_queue: FakeQueue[int] = field(default_factory=FakeQueue[int])
    mailer: FakeMailer = field(default_factory=FakeMailer)
    renderer: Renderer = field(default_factory=FakeRenderer)
    template_versions: FakeTemplateVersions = field(default_factory=FakeTemplateVersions)
    pushed: dict[int, VersionTemplates] = field(default_factory=dict)
    broken_versions: dict[int, Exception] = field(default_factory=dict)
    unusable: list[int] = field(default_factory=list)
    rate_limiter: FakeRateLimiter = field(
        default_factory=lambda: FakeRateLimiter(PacePlan(rate=500))
    )
    immediate_rate_limiter: FakeRateLimiter = field(
        default_factory=lambda: FakeRateLimiter(PacePlan(rate=500))
    )
    nonces: Iterator[int] = field(default_factory=count)
    time_left: TimeLeft = _a_minute
    run_all: RunAll = in_turn
    drawn: float = 1.0
    kind_of_events: type[FakeEvents] = FakeEvents

    def __post_init__(self) -> None:
        self.events = self.kind_of_events(self.clock, self.runs, self.schedules)
        self.deferred_events: DeferredEvents = self.events
        self.seen_marks = FakeSeenMarks(self.events)
        self.immediate_usage = FakeImmediateUsage(self.events)
        self.held_categories: HeldCategories = lambda: [
            hold.category for hold in self.category_holds.active()
        ]
        self.current_withdrawals: CurrentWithdrawals = self.withdrawals.current
        self.batches = FakeBatches(self.clock)
        self.context = RoutingContext(
            subscribers=self.subscribers,
            follows=self.follows,
            events=self.events,
            schedules=self.schedules,
            runs=self.runs,
            generate_queue=self.generate_queue,
            clock=self.clock,
            defaults=self.defaults,
            quiet_hours=self.quiet_hours,
            settings_for=lambda user_id: (
                version_for(user_id, self.template_versions.in_force()).settings
            ),
            limits=ROUTING,
            sunset=self.sunset,
            critical=self.critical,
            suppressions=self.suppressions,
            content=self.content,
            immediate_limit=self.limit,
            immediate_usage=self.immediate_usage,
        )

    def say(self, command: Command | InvalidEvent, body: str = "the body") -> list[Outcome]:
        """One message on the ingest queue, already decoded."""

        def decode(_: str) -> Command:
            if isinstance(command, InvalidEvent):
                raise command
            return command

        return self.ingest(body, decode)

    def say_together(self, *commands: Command | InvalidEvent) -> list[Routed]:
        """Several messages of one invocation, already decoded; their bodies are `0`, `1`, …"""

        def decode(body: str) -> Command:
            command = commands[int(body)]
            if isinstance(command, InvalidEvent):
                raise command
            return command

        return self.ingest_all([str(number) for number in range(len(commands))], decode)

    def ingest(self, body: str, decode: Callable[[str], Command]) -> list[Outcome]:
        """One message on the ingest queue."""
        (done,) = self.ingest_all([body], decode)
        if isinstance(done, Exception):
            raise done
        return done

    def ingest_all(self, bodies: Sequence[str], decode: Callable[[str], Command]) -> list[Routed]:
        """The messages of one invocation of ingest."""
        return ingest(
            bodies,
            lambda: self.time_left(),
            decode=decode,
            activities=self.activities,
            suppressions=self.suppressions,
            seen_marks=self.seen_marks,
            followers_queue=self.followers_queue,
            quarantine=self.quarantine,
            context=self.context,
            oldest=RETENTION,
            run_all=self.run_all,
        )

    def choose(
        self, user_id: str = "ann", *, at: datetime | None = None, **chosen: Frequency
    ) -> Outcome:
        """A reader registers, or changes what was chosen: now, unless `at` says when."""
        subscriber = a_subscriber(
            user_id,
            changed_at=at or self.clock(),
            email=f"{user_id}@example.com",
            times=None,
            **chosen,
        )
        return self.say(ChangeSubscriber(subscriber))[0]

    def create(self, *events: Event) -> list[Outcome]:
        """Events, each for one reader."""
        return self.say(CreateEvents(events))

    def see(
        self, entity: str = "post#post1", *, at: datetime | None = None, user_id: str = "ann"
    ) -> Outcome:
        """A service says that a reader has seen a thing, at `at` or now."""
        (outcome,) = self.say(MarkSeen(user_id, entity, at or self.clock()))
        return outcome

    def withdraw(self, *, actor: str = "", entity: str = "") -> Withdrawal:
        """An operator withdraws everything by an actor or on an entity, up to now."""
        kind = WithdrawalKind.ACTOR if actor else WithdrawalKind.ENTITY
        context = WithdrawalContext(
            store=self.withdrawals, applies_for=withdrawn_for(RETENTION), clock=self.clock
        )
        return add_withdrawal(kind, actor or entity, context=context)[0]

    def follow(
        self,
        user_id: str = "ann",
        entity: str = "post#post1",
        *,
        at: datetime | None = None,
        following: bool = True,
        often: Frequency | None = None,
    ) -> Outcome:
        """A follow begins, changes or, where not `following`, ends."""
        state = FollowState(following, often)
        return self.say(ChangeFollow(user_id, entity, state, at or self.clock()))[0]

    def erase(self, user_id: str = "ann", *, at: datetime | None = None) -> Outcome:
        """A reader is erased: now, unless `at` says when."""
        return self.say(EraseSubscriber(user_id, at or self.clock()))[0]

    def work_off_followers(self) -> int:
        """Process the followers queue until it is empty; returns the messages.

        A message stays there until it was worked off.
        """
        done = 0
        queue = self.followers_queue.sent
        while queue:
            message = queue[0]
            self.walk_followers(message)
            if message in queue:
                queue.remove(message)
            done += 1
        return done

    def walk_followers(self, message: Walk | FollowerPage) -> int:
        """One message on the followers queue; returns how many followers it concerned."""
        return walk_followers(
            "the body",
            lambda: self.time_left(),
            decode=lambda _: message,
            activities=self.activities,
            followers_queue=self.followers_queue,
            context=self.context,
        )

    def last_look(
        self, user_id: str, address_hash: str, *, critical: bool = False
    ) -> tuple[Reader, bool]:
        """The port `LastLook`: two reads here, between which something may happen."""
        reader = self.subscribers.get(user_id)
        return reader, self.suppressions.holds(address_hash, critical=critical)

    def decisions(self) -> Decisions:
        """The port `CurrentDecisions`, without a cache."""
        return Decisions(
            self.experiments.running(),
            self.template_versions.in_force(),
            self.current_withdrawals(),
        )

    def run_templates(self) -> RunTemplates:
        """What chooses the version of each run, in one process."""
        return RunTemplates(
            library=FakeLibrary(
                VersionTemplates(0, self.renderer), self.pushed, self.broken_versions
            ),
            decisions=self.decisions,
            unusable=lambda number, _: self.unusable.append(number),
        )

    def delivery_context(self) -> DeliveryContext:
        """The context of a worker that sends."""
        return DeliveryContext(
            runs=self.runs,
            subscribers=self.subscribers,
            last_look=self.last_look,
            route_again=partial(route_again, context=self.context),
            events=self.events,
            seen=self.seen_marks,
            held_categories=self.held_categories,
            decisions=self.decisions,
            batches=self.batches,
            editing=EditionContext(
                templates=self.run_templates(),
                unusable=lambda number, _: self.unusable.append(number),
                decisions=self.decisions,
                link_maker=FakeLinks(),
                deferred_events=self.deferred_events,
                leave_out_bodies=partial(leave_out_bodies, context=self.context),
                max_blocks=20,
                arrangement=DEFAULT,
                sunset=self.sunset,
            ),
            mailers=Streams(digest=self.mailer, immediate=self.mailer),
            pacing=Pacing(
                streams=Streams(
                    digest=StreamPacing(
                        rate_limiter=self.rate_limiter,
                        breaker=self.rate_limiter,
                        waiting=lambda: self.waiting_runs,
                    ),
                    immediate=StreamPacing(
                        rate_limiter=self.immediate_rate_limiter,
                        breaker=self.immediate_rate_limiter,
                        waiting=None,
                    ),
                ),
                clock=self.clock,
                sleep=self.clock.sleep,
                random=lambda: 0.5,
            ),
            clock=self.clock,
            draw_nonce=lambda: f"nonce{next(self.nonces)}",
            random=lambda: 0.0,
            headers=StageHeaders("digest.example.com", installation="here"),
            limits=self._delivery_limits(),
            allowed=self.allowed,
            content=self._awaited_content(),
            worth=self.worth,
            quiet_hours=self.quiet_hours,
        )

    def _delivery_limits(self) -> DeliveryLimits:
        return DeliveryLimits(
            settle_lag=SETTLE_LAG,
            send_timeout=timedelta(seconds=10),
            clock_skew=timedelta(seconds=5),
            evidence_grace=GRACE,
            max_lateness=self.max_lateness,
        )

    def _awaited_content(self) -> ContentContext | None:
        if not isinstance(self.content, ContentPlan):
            return None
        return ContentContext(
            schedules=self.schedules,
            fetch_queue=self.fetch_queue,
            policy_of=lambda _: self.source_policy,
            fresh_for=self.content.fresh_for,
            patience=self.patience,
        )

    def asking(self) -> AskingContext | None:
        """How fan-out asks content sources."""
        if not isinstance(self.content, ContentPlan):
            return None
        return AskingContext(plan=self.content, fetch_queue=self.fetch_queue, shards=1)

    def fetch(self, wanted: Fetch) -> FetchResult:
        """One message on the content queue."""
        assert isinstance(self.content, ContentPlan)
        return fetch(
            "the body",
            lambda: self.time_left(),
            decode=lambda _: wanted,
            context=FetchContext(
                routing=self.context,
                asking=AskContext(
                    source=self.source,
                    rate_limiter=self.source_permits,
                    breaker=self.source_permits,
                    health=self.source_health,
                    waiting=lambda: 0,
                    clock=self.clock,
                    sleep=self.clock.sleep,
                    random=lambda: 0.5,
                ),
                queue=self.fetch_queue,
                plan=self.content,
                limit=3,
                policy_of=lambda _: self.source_policy,
                useful_for=self.max_lateness,
                max_lateness=self.max_lateness,
                longest=timedelta(seconds=21),
            ),
        )

    def fetch_queued(self) -> list[FetchResult]:
        """Everything on the content queue, whose delays pass; what it requeues stays there."""
        queued, self.fetch_queue.sent = self.fetch_queue.sent, []
        self.clock.now += max((each.delay for each in queued), default=timedelta(0))
        return [self.fetch(each.fetch) for each in queued]

    def look_ahead(self, shard: Shard) -> FannedOut:
        """One message `ahead` on the queue of fan-out."""
        return fan_out(
            "the body",
            lambda: self.time_left(),
            decode=lambda _: replace(shard, ahead=True),
            context=self.fanout_context(),
            shard_queue=self.shard_queue,
            look_ahead=self._look_ahead,
        )

    def _look_ahead(self, shard: Shard, time_left: TimeLeft) -> FannedOut:
        content = self.asking()
        assert content
        return look_ahead(
            shard,
            time_left,
            schedules=self.schedules,
            content=content,
            shard_queue=self.shard_queue,
            clock=self.clock,
            random=lambda: self.drawn,
        )

    def dry_run_context(self) -> DryRunContext:
        """The context of the forecast of a redrive."""
        return DryRunContext(
            runs=self.runs,
            schedules=self.schedules,
            subscribers=self.subscribers,
            suppressions=self.suppressions,
            events=self.events,
            seen=self.seen_marks,
            held_categories=self.held_categories,
            decisions=self.decisions,
            batches=self.batches,
            gauges=Streams(digest=self.rate_limiter, immediate=self.immediate_rate_limiter),
            clock=self.clock,
            random=lambda: 0.0,
            limits=self._delivery_limits(),
            worth=self.worth,
            quiet_hours=self.quiet_hours,
            allowed=self.allowed,
        )

    def deliver(self, key: RunKey) -> Delivery | None:
        """Deliver a run."""
        return deliver(key, lambda: self.time_left(), context=self.delivery_context())

    def generate(self, key: RunKey) -> Run | None:
        """One message on the generate queue."""
        done = generate(
            "the body",
            lambda: self.time_left(),
            decode=lambda _: key,
            postponed_until=lambda found: postponed_until(
                found, pacing=self.delivery_context().pacing
            ),
            deliver=lambda found, left: deliver(found, left, context=self.delivery_context()),
            stop_suppressed=self.stop_if_suppressed,
            generate_queue=self.generate_queue,
            resend_queue=self.resend_queue,
            clock=self.clock,
        )
        if isinstance(done, Postponed):
            return self.runs.rows.get(done.key)
        return done.run if done else None

    def stop_if_suppressed(self, user_id: str = "ann") -> bool:
        """Stop a reader whose address is suppressed."""
        return stop_if_suppressed(
            self.subscribers.get(user_id),
            suppressions=self.suppressions,
            subscribers=self.subscribers,
            schedules=self.schedules,
        )

    def resend(
        self,
        key: RunKey,
        *,
        given_up: bool = False,
        hide: Callable[[timedelta], None] = lambda _: None,
    ) -> Run | None:
        """One message on the resend queue."""
        done = self.resend_message(key, given_up=given_up, hide=hide)
        return done.run if done else None

    def resend_message(
        self, key: RunKey, *, given_up: bool, hide: Callable[[timedelta], None] = lambda _: None
    ) -> Delivery | Redriven | None:
        """Everything that the step returns."""
        return resend(
            key,
            was_given_up=given_up,
            hide=hide,
            deliver=self.deliver,
            redrive=self.redrive,
            resend_queue=self.resend_queue,
            failed_runs=self.failed_runs,
            clock=self.clock,
        )

    def redrive(self, failed: Run) -> Redriven:
        """Redrive a failed run."""
        return redrive(
            failed,
            context=RedriveContext(
                runs=self.runs,
                schedules=self.schedules,
                subscribers=self.subscribers,
                suppressions=self.suppressions,
                queue=self.resend_queue,
                clock=self.clock,
                check_after=timedelta(hours=1),
            ),
        )

    def sweep(self, *user_ids: str) -> Counter[Swept]:
        """The sweep of the partitions of these readers; of all where none is named."""
        partitions = {shard_of(user_id, PARTITIONS) for user_id in user_ids}
        done: Counter[Swept] = Counter()
        for partition in sorted(partitions) or range(PARTITIONS):
            done.update(self.sweep_partition(partition))
        return done

    def sweep_partition(self, partition: int) -> Counter[Swept]:
        """One message on the sweep queue."""
        swept = sweep(partition, context=self.sweeping(), time_left=lambda: self.time_left())
        return Counter(what for _, what in swept)

    def begin_sweep(self, at: datetime) -> None:
        """Start the sweep, as its clock does."""
        begin_sweep(
            at,
            partitions=PARTITIONS,
            sweep_queue=self.sweep_queue,
            batches=self.batches,
            shard_queue=self.shard_queue,
            shards=1,
            lookback=LOOKBACK,
        )

    def tick(self, at: datetime) -> None:
        """Start fan-out, as its clock does."""
        tick(at, batches=self.batches, shard_queue=self.shard_queue, shards=1, lookback=LOOKBACK)

    def sweeping(self) -> SweepContext:
        """The context of the sweep."""
        return SweepContext(
            runs=self.runs,
            generate_queue=self.generate_queue,
            resend_queue=self.resend_queue,
            evidence_log=self.evidence_log,
            backlog=self.backlog,
            canary=self.canary,
            policy=self.policy,
            clock=self.clock,
            random=lambda: 0.0,
            limits=SweepLimits(
                evidence_grace=GRACE,
                longest_unknown=timedelta(hours=6),
                check_after=timedelta(hours=1),
            ),
        )

    def feedback(self, event: DeliveryEvent) -> Run | None:
        """One delivery event of the provider."""
        done = self.processed("the delivery event", decode=lambda _: event)
        return done.recorded.run if isinstance(done, Feedback) else None

    def processed(self, body: str, *, decode: Callable[[str], DeliveryEvent | None]) -> Result:
        """The result of one message of the feedback queue. Raises its error."""
        (done,) = process_delivery_events(
            [body], unlimited, decode=decode, context=self.feedback_context()
        )
        if isinstance(done, Exception):
            raise done
        return done

    def feedback_context(self) -> FeedbackContext:
        """The context of feedback."""
        return FeedbackContext(
            runs=self.runs,
            evidence_log=self.evidence_log,
            engagements=self.engagements,
            quarantine=self.quarantine,
            bus=self.bus,
            signs_of_life=self.signs_of_life,
            category_stats=CategoryStatsContext(
                category_stats=self.category_stats,
                holds=self.category_holds,
                tell=self.told_held.append,
                clock=self.clock,
            ),
            suppression=SuppressionContext(
                suppressions=self.suppressions,
                bounces=self.bounces,
                subscribers=self.subscribers,
                schedules=self.schedules,
                runs=self.runs,
                soft_limit=SOFT_LIMIT,
            ),
        )

    def deliver_queued(self) -> list[Run | None]:
        """Let the delays pass, then everything that is queued to be sent; NotYet stays queued."""
        queued, self.generate_queue.sent = self.generate_queue.sent, []
        again, self.resend_queue.sent = self.resend_queue.sent, []
        delays = [message.delay for message in (*queued, *again)]
        self.clock.now += max(delays, default=timedelta(0))
        done: list[Run | None] = []
        for message in queued:
            try:
                done.append(self.generate(message.key))
            except NotYet:
                self.generate_queue.sent.append(message)
        for message in again:
            done += self._resend_queued(message.key)
        return done

    def _resend_queued(self, key: RunKey) -> list[Run | None]:
        """One message on the resend queue, which comes again where it is hidden."""

        def hide(pause: timedelta) -> None:
            self.resend_queue.sent.append(QueuedRun(key, pause))

        try:
            return [self.resend(key, hide=hide)]
        except NotYet:
            return []

    def fan_out(self, slot: datetime) -> FannedOut:
        """Fan a slot out now."""
        return self.fan_out_shard(Shard(0, slot, slot))

    def fan_out_shard(self, shard: Shard) -> FannedOut:
        """One message on the queue of fan-out."""
        return fan_out(
            "the body",
            lambda: self.time_left(),
            decode=lambda _: shard,
            context=self.fanout_context(),
            shard_queue=self.shard_queue,
        )

    def fanout_context(self) -> FanoutContext:
        """The context of fan-out."""
        return FanoutContext(
            subscribers=self.subscribers,
            schedules=self.schedules,
            runs=self.runs,
            events=self.events,
            batches=self.batches,
            generate_queue=self.generate_queue,
            clock=self.clock,
            random=lambda: self.drawn,
            limits=replace(FANOUT, max_lateness=self.max_lateness, spread=self.spread),
            sunset=self.sunset,
            content=self.asking(),
        )

    def arm(self) -> None:
        """Arm what is idle, as an event does: one that was taken back since."""
        for key, schedule in self.schedules.rows.items():
            if schedule.is_idle:
                due = schedule.due_after(self.clock())
                self.schedules.rows[key] = schedule.armed(due)

    def send_digest(self, name: str = DAILY, user_id: str = "ann") -> None:
        """Let a schedule come due, fan its slot out, and deliver everything that is queued."""
        schedule = self.schedules.rows[user_id, name]
        self.clock.now = max(self.clock.now, schedule.next_due_at) + 2 * SETTLE_LAG
        self.fan_out(slot_of(schedule.next_due_at))
        self.deliver_queued()

    def collect_everything(self) -> None:
        """Let the runs that have no message while they collect be found by the sweep."""
        while collecting := [
            run.check_at
            for run in self.runs.rows.values()
            if run.is_queued_by_sweep and run.status is Status.PENDING
        ]:
            self.clock.now = max(self.clock.now, min(collecting))
            self.sweep()

    def recover(self) -> None:
        """Deliver messages again, and sweep every ten minutes, for a day."""
        for _ in range(6 * 24):
            self.clock.pass_time(minutes=10)
            self.evidence_log.record(self.clock())
            self.deliver_queued()
            self.sweep("ann")
        self.send_everything()

    def send_everything(self) -> None:
        """Bring what is queued to its readers, and then every schedule that is in the due index."""
        self.work_off_followers()
        for _ in range(_ROUNDS):
            self.collect_everything()
            self.deliver_queued()
        listed = [key for key, schedule in self.schedules.rows.items() if schedule.listed]
        for user_id, name in sorted(listed):
            self.send_digest(name, user_id)

    def unsubscribe(self, user_id: str = "ann", email: str = "") -> bool:
        """A reader leaves, at the address that `a_subscriber` has where none is given."""
        left = unsubscribe(
            user_id,
            address_hash(email or a_subscriber(user_id).email),
            subscribers=self.subscribers,
            suppressions=self.suppressions,
            schedules=self.schedules,
            at=self.clock(),
        )
        return left is not None

    def record_unsubscribed(self, email: RunKey) -> None:
        """The reader left by a link of this email."""
        record_unsubscribed(email, runs=self.runs, engagements=self.engagements, clock=self.clock)

    def page_context(self) -> PageContext:
        """The context of the preference page."""
        return PageContext(
            routing=self.context,
            suppressions=self.suppressions,
            engagements=self.engagements,
            bus=self.bus,
            announce=lambda: None,
            categories=lambda _: ("comment", "like"),
            zones=lambda: ("Europe/Berlin", "Asia/Kolkata"),
        )

    def leave(self, link: LinkToken) -> bool:
        """The unsubscribe link of an email is followed."""
        return leave(link, context=self.page_context()) is not None

    def look(self, link: LinkToken) -> Leaving:
        """The unsubscribe link of an email is opened."""
        return look(link, context=self.page_context())

    def leave_by(self, link: LinkToken, act: LeaveAct = LeaveAct.LEAVE) -> Leaving:
        """A button of its page is pressed, by default that of what the link is about."""
        return leave_by(link, act, context=self.page_context(), time_left=lambda: self.time_left())

    def take_back(self, link: LinkToken, left: Leaving) -> Leaving:
        """The button on the page after it is pressed, which takes it back."""
        assert left.act
        assert left.left_at
        return take_back(
            link,
            Undone(left.act, left.left_at),
            context=self.page_context(),
            time_left=lambda: self.time_left(),
        )

    def submit(self, link: LinkToken, form: Fields, *, follows_after: str = "") -> Shown:
        """The form of the preference page is sent."""
        return submit(
            link,
            lambda: form,
            context=self.page_context(),
            time_left=lambda: self.time_left(),
            follows_after=follows_after,
        )

    def mute(self, entity: str = "post#post1", user_id: str = "ann") -> Muting:
        """A reader mutes a thing by the link in an email."""
        now = self.clock()
        return change_mutes(
            user_id, lambda mutes: [mute_now(entity, "", mutes, now)], context=self.context
        )

    def unmute(self, entity: str = "post#post1", user_id: str = "ann") -> Muting:
        """A reader unmutes a thing on the preference page, as it is shown now."""
        return self.end_mutes(self.muted(entity, user_id), user_id)

    def muted(self, entity: str = "post#post1", user_id: str = "ann") -> Mutes:
        """The mute of a thing that the preference page shows."""
        reader = self.subscribers.get(user_id)
        mutes = in_force(reader.mutes) if isinstance(reader, Subscriber) else ()
        return tuple(mute for mute in mutes if mute.entity == entity)

    def end_mutes(self, shown: Mutes, user_id: str = "ann") -> Muting:
        """A reader unmutes on the preference page the things that it showed as muted."""
        ends = [mute.ended for mute in shown]
        return change_mutes(user_id, lambda _: ends, context=self.context)

    def resubscribe(
        self,
        user_id: str = "ann",
        email: str = "",
        *,
        is_meant: Callable[[Subscriber], bool] = lambda _: True,
    ) -> bool:
        """A reader who left starts again, at the address of `a_subscriber` where none is given.

        By default, whichever unsubscription is stored is meant.
        """
        return resubscribe(
            user_id,
            address_hash(email or a_subscriber(user_id).email),
            suppressions=self.suppressions,
            context=self.context,
            is_meant=is_meant,
        )

    def return_reader(
        self, consented_at: datetime, user_id: str = "ann", email: str = ""
    ) -> Returned:
        """A service states a consent, to the address of `a_subscriber` where none is given."""
        consent = Consent(
            user_id=user_id,
            email=email or a_subscriber(user_id).email,
            stated_at=consented_at,
            arrived_at=self.clock(),
        )
        return return_reader(consent, suppressions=self.suppressions, context=self.context)

    def read_overview(self, user_id: str = "ann") -> Overview | None:
        """What the preference page shows."""
        return read_overview(user_id, context=self.context)

    def save(
        self, choice: Choice = NOTHING, *follows: tuple[str, FollowState], user_id: str = "ann"
    ) -> bool:
        """Save a choice on the preference page."""
        return save(
            user_id,
            choice,
            follows,
            bus=self.bus,
            context=self.context,
            time_left=lambda: self.time_left(),
        )

    def press(
        self, choice: Choice = NOTHING, *follows: tuple[str, FollowState], user_id: str = "ann"
    ) -> Notice:
        """Save a choice, and return the notice of the page."""
        return perform(
            user_id,
            address_hash(a_subscriber(user_id).email),
            Submission(Act.SAVE, choice, follows),
            bus=self.bus,
            suppressions=self.suppressions,
            context=self.context,
            time_left=lambda: self.time_left(),
        )

    def work_off_bus(self) -> None:
        """Everything that was put on the bus here reaches ingest."""
        while self.bus.taken:
            self.say(self.bus.taken.pop(0))

    def emails(self, user_id: str | None = None) -> list[Email]:
        """The accepted emails, as the FakeRenderer wrote them."""
        found = []
        for mail, _ in self.mailer.accepted:
            _, *lines, schedule, link = mail.edition.text.split("\n")
            found.append(Email(link.rpartition("/")[2], schedule, tuple(lines)))
        return [email for email in found if user_id in {None, email.user_id}]

    def waiting(self, user_id: str = "ann") -> dict[str, str]:
        """The schedule of each event that is stored for a reader."""
        return {
            event_id: stored.schedule
            for (owner, event_id), stored in self.events.rows.items()
            if owner == user_id and isinstance(stored, StoredEvent)
        }

    @contextmanager
    def watched(self, around: Around) -> Iterator[None]:
        """Let every call of a port go through `around`; calls that it makes itself do not."""
        ports: dict[str, Any] = {name: getattr(self, name) for name in PORTS}
        context = self.context
        inside = False

        def once(name: str, call: Callable[[], object]) -> object:
            nonlocal inside
            if inside:
                return call()
            inside = True
            try:
                return around(name, call)
            finally:
                inside = False

        wrapped: dict[str, Any] = {name: Watched(name, port, once) for name, port in ports.items()}
        shared = {one.name for one in fields(RoutingContext)}
        self.context = replace(
            context, **{name: port for name, port in wrapped.items() if name in shared}
        )
        for name, port in wrapped.items():
            setattr(self, name, port)
        try:
            yield
        finally:
            self.context = context
            for name, port in ports.items():
                setattr(self, name, port)

    def seen_through(self, around: Around) -> "World":
        """The same world for one worker: every call of a port that it makes goes through `around`.

        Unlike `watched`, for several at once, each of which may stand in the middle of a call.
        """
        other = copy(self)
        wrapped: dict[str, Any] = {
            name: Watched(name, getattr(self, name), around) for name in PORTS
        }
        shared = {one.name for one in fields(RoutingContext)}
        other.context = replace(
            self.context, **{name: port for name, port in wrapped.items() if name in shared}
        )
        for name, port in wrapped.items():
            setattr(other, name, port)
        return other

    @contextmanager
    def calls(self) -> Iterator[list[str]]:
        """The names of the ports' methods that are called, in order."""
        called: list[str] = []

        def around(name: str, call: Callable[[], object]) -> object:
            called.append(name)
            return call()

        with self.watched(around):
            yield called

    @contextmanager
    def meanwhile(
        self, method: str, act: Callable[[], object], *, before: bool = False, times: int = 1
    ) -> Iterator[None]:
        """Let somebody else `act` right after, or before, the first `times` calls of a method."""
        left = times

        def around(name: str, call: Callable[[], object]) -> object:
            nonlocal left
            if name != method or not left:
                return call()
            left -= 1
            if before:
                act()
            answer = call()
            if not before:
                act()
            return answer

        with self.watched(around):
            yield
        assert left == 0, f"{method} was called {times - left} times"


def interleavings(
    make: Callable[[], World],
    act: Callable[[World], object],
    other: Callable[[World], object],
) -> Iterator[tuple[World, str]]:
    """For each call of a port in `act`: a world in which `other` was done before it, and where.

    What raises NotYet is done again, as its message is delivered again.
    """
    for number in count():
        world = make()
        where = _interrupt(world, act, number, partial(other, world))
        if where is None:
            return
        yield world, f"before {where}, call {number}"


def _interrupt(
    world: World, act: Callable[[World], object], number: int, other: Callable[[], object]
) -> str | None:
    calls = count()
    where = None

    def around(name: str, call: Callable[[], object]) -> object:
        nonlocal where
        if next(calls) == number:
            where = name
            other()
        return call()

    with world.watched(around), suppress(NotYet):
        act(world)
        return where
    act(world)
    return where


def crashes(
    make: Callable[[], World], act: Callable[[World], object]
) -> Iterator[tuple[World, str]]:
    """For each call of a port in `act`: a world in which it broke off there, and where.

    Both before the call and after what it does was done.
    """
    for number in count():
        for done in (False, True):
            world = make()
            where = _crash(world, act, number, done)
            if where is None:
                return
            yield world, f"{'after' if done else 'before'} {where}, call {number}"


def _crash(world: World, act: Callable[[World], object], number: int, done: bool) -> str | None:
    calls = count()
    where = None

    def around(name: str, call: Callable[[], object]) -> object:
        nonlocal where
        if next(calls) != number:
            return call()
        where = name
        if done:
            call()
        raise Unavailable(f"{name} did not answer.")

    with world.watched(around):
        try:
            act(world)
        except Unavailable:
            if where is None:
                raise
    return where
