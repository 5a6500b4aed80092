"""What support runs from a shell, joined. No function imports this."""

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial

from gazette.adapters.aws.link_keys import SecretKeyStore
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds, held_categories
from gazette.adapters.dynamodb.control.experiments import DynamoExperiments
from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.dynamodb.feedback.bounces import DynamoBounces
from gazette.adapters.dynamodb.feedback.category_stats import DynamoCategoryStats
from gazette.adapters.dynamodb.feedback.engagement import DynamoEngagements
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.sending import delivery_limits, rate_limiters
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.run import Run, Status
from gazette.domain.delivery.streams import Streams
from gazette.domain.explanation import Explanation
from gazette.domain.feedback.experiment import Course, Experiment, experiment
from gazette.domain.feedback.reputation import CategoryHold, category_hold
from gazette.domain.links import LinkKeys
from gazette.domain.model import RunKey
from gazette.domain.scheduling.lifetime import longest_life
from gazette.domain.stored import readable
from gazette.domain.subscribers.frequency import frequencies
from gazette.domain.subscribers.suppression import Cause, Suppression
from gazette.settings import (
    FanoutSettings,
    FeedbackSettings,
    GenerateSettings,
    IngestSettings,
    PacingSettings,
    PreferencesSettings,
    SendingSettings,
)
from gazette.steps.fanout.fanout import shards_in_use
from gazette.steps.support.batches import BatchView, ForEach, cancel_batch, view_batch
from gazette.steps.support.dead_letters import Foreseen, foresee
from gazette.steps.support.dry_run import DryRunContext
from gazette.steps.support.explain import explain
from gazette.steps.support.link_keys import refuse_to_retire, retire, rotate
from gazette.steps.support.pending import Waiting, look_at_waiting
from gazette.steps.support.statistics import ForEach as ForEachSlot
from gazette.steps.support.statistics import Report, report


@dataclass(frozen=True, slots=True)
class BatchDesk:
    """`latest`: the last so many batches; `look`: the one of a slot; `cancel`: as the step does."""

    latest: Callable[[int], Sequence[BatchView]]
    look: Callable[[datetime], BatchView]
    cancel: Callable[[datetime, ForEach], Iterator[Run]]


def build_batches(settings: FanoutSettings) -> BatchDesk:
    """What the commands on batches need, from the settings of fan-out."""
    retention = timedelta(days=settings.run_retention_days)
    batches = DynamoBatches(settings.control_table, retention=retention, clock=now)
    runs = DynamoRuns(settings.runs_table, retention=retention)
    view = partial(
        view_batch,
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        runs=runs,
        shards=range(shards_in_use(settings.shards, batches.checkpoints(), batches.announced())),
        clock=now,
    )
    return BatchDesk(
        latest=lambda number: [view(batch) for batch in batches.latest(number)],
        look=lambda slot: view(batches.get(slot)),
        cancel=lambda slot, each: cancel_batch(slot, batches=batches, runs=runs, each=each),
    )


def build_pace(settings: PacingSettings) -> Callable[[], PaceReading]:
    """How fast digests go out now."""
    gauge = rate_limiters(settings).digest
    return lambda: gauge.read(now())


@dataclass(frozen=True, slots=True)
class BrakeDesk:
    """`look`: at each stream; `pull` all by hand, for a reason; `release` all by hand.

    `categories`: those that are on hold; `hold_category` by hand, for a reason, says whether it was
    not on hold before.
    """

    look: Callable[[], Streams[PaceReading]]
    pull: Callable[[str], None]
    release: Callable[[], None]
    categories: Callable[[], Sequence[CategoryHold]]
    hold_category: Callable[[str, str], bool]


def build_brake(settings: SendingSettings) -> BrakeDesk:
    """What the commands on the brake need, from the settings of generate."""
    breakers = rate_limiters(settings)
    holds = DynamoCategoryHolds(settings.control_table)

    def look() -> Streams[PaceReading]:
        at = now()
        return Streams(digest=breakers.digest.read(at), immediate=breakers.immediate.read(at))

    def pull(why: str) -> None:
        at = now()
        breakers.digest.open_by_hand(why, at)
        breakers.immediate.open_by_hand(why, at)

    def release() -> None:
        breakers.digest.close_by_hand()
        breakers.immediate.close_by_hand()

    return BrakeDesk(
        look=look,
        pull=pull,
        release=release,
        categories=holds.active,
        hold_category=lambda category, why: holds.add(
            category_hold(category, why, now(), by_hand=True)
        ),
    )


def build_release(settings: FeedbackSettings) -> Callable[[str], bool]:
    """Releases a category, from the settings of feedback; says whether it was on hold.

    What was counted is forgotten first: else the next complaint would brake it at once. Of one that
    is not on hold it stays.
    """
    category_stats = DynamoCategoryStats(settings.category_stats_table)
    holds = DynamoCategoryHolds(settings.control_table)

    def release(category: str) -> bool:
        if category not in {hold.category for hold in holds.active()}:
            return False
        category_stats.forget(category)
        return holds.release(category)

    return release


@dataclass(frozen=True, slots=True)
class ExperimentDesk:
    """`look`: the one that runs, or None; `start` one, which raises InvalidExperiment; `stop`."""

    look: Callable[[], Experiment | None]
    start: Callable[[str, Mapping[int, int]], Experiment]
    stop: Callable[[], None]


def build_experiments(settings: SendingSettings) -> ExperimentDesk:
    """What the commands on experiments need, from the settings of generate."""
    experiments = DynamoExperiments(settings.control_table)

    def start(name: str, weights: Mapping[int, int]) -> Experiment:
        running = experiments.running()
        since = running.since if running and running.name == name else now()
        wanted = experiment(name, weights, since)
        experiments.start(wanted)
        return wanted

    return ExperimentDesk(
        look=experiments.running, start=start, stop=lambda: experiments.stop(now())
    )


@dataclass(frozen=True, slots=True)
class ReportDesk:
    """`read` slots, of one experiment or (empty) of all emails; `courses`: of experiments by name;
    `digests_sent` of the batch of a slot, whether anything was reported of them or not."""

    read: Callable[[Iterable[datetime], str, ForEachSlot], Report]
    courses: Callable[[], Mapping[str, Course]]
    digests_sent: Callable[[datetime], int]


def build_report(settings: FeedbackSettings, *, at_once: int) -> ReportDesk:
    """For `gazette statistics`, which reads `at_once` slots; from the settings of feedback."""
    retention = timedelta(days=settings.run_retention_days)
    engagements = DynamoEngagements(
        settings.engagement_table, retention=retention, connections=at_once
    )
    runs = DynamoRuns(settings.runs_table, retention=retention)
    return ReportDesk(
        read=lambda slots, name, each: report(
            slots, engagements=engagements, experiment=name, each=each
        ),
        courses=DynamoExperiments(settings.control_table).courses,
        digests_sent=lambda slot: sum(
            each.status is Status.SENT for each in readable(runs.of_batch(slot))
        ),
    )


@dataclass(frozen=True, slots=True)
class LinksDesk:
    """`look`: the keys; `rotate`: add one; `check` raises where `retire` of a key would."""

    look: Callable[[], LinkKeys]
    rotate: Callable[[], LinkKeys]
    check: Callable[[str], None]
    retire: Callable[[str], LinkKeys]


def build_links(settings: PreferencesSettings) -> LinksDesk:
    """What the commands on the keys of the links need, from the settings of preferences."""
    store = SecretKeyStore(settings.links_secret)
    return LinksDesk(
        look=store.read,
        rotate=partial(rotate, store=store, draw_key=lambda: secrets.token_urlsafe(48)),
        check=lambda key_id: refuse_to_retire(key_id, store.read()),
        retire=partial(retire, store=store),
    )


@dataclass(frozen=True, slots=True)
class SuppressionDesk:
    """`add` says whether anything changed; `remove` takes out what was found, if it is still so,
    and with it the soft bounces that were counted."""

    each: Callable[[], Iterator[Suppression]]
    get: Callable[[str], Suppression | None]
    add: Callable[[str, Cause, datetime], bool]
    remove: Callable[[Suppression], None]


def build_suppression(settings: FeedbackSettings) -> SuppressionDesk:
    """What the commands on suppressed addresses need, from the settings of feedback."""
    suppressions = DynamoSuppressions(settings.suppressions_table, clock=now)
    span = timedelta(days=settings.soft_bounce_days)
    bounces = DynamoBounces(settings.bounces_table, retention=2 * span, clock=now)

    def remove(found: Suppression) -> None:
        bounces.forget(found.address)
        suppressions.lift(found.address, found.cause)

    return SuppressionDesk(
        each=lambda: readable(suppressions.each()),
        get=suppressions.get,
        add=suppressions.add,
        remove=remove,
    )


def build_foresee(settings: GenerateSettings) -> Callable[[RunKey, bool], Foreseen]:
    """Takes the run that a dead letter names, and whether it was given up, from the settings of
    generate. Reads only."""
    retention = timedelta(days=settings.run_retention_days)
    by = DryRunContext(
        runs=DynamoRuns(settings.runs_table, retention=retention),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        subscribers=DynamoSubscribers(settings.subscribers_table),
        suppressions=DynamoSuppressions(settings.suppressions_table, clock=now),
        events=DynamoEventReader(settings.events_table, clock=now),
        held_categories=held_categories(settings.control_table, clock=now),
        batches=DynamoBatches(settings.control_table, retention=retention, clock=now),
        gauges=rate_limiters(settings),
        clock=now,
        limits=delivery_limits(settings),
    )
    return lambda key, given_up: foresee(key, given_up=given_up, by=by)


def build_due_at(settings: GenerateSettings) -> Callable[[RunKey], datetime | None]:
    """When a run was due, or None where there is no such run, from the settings of generate."""
    runs = DynamoRuns(settings.runs_table, retention=timedelta(days=settings.run_retention_days))

    def due_at(key: RunKey) -> datetime | None:
        run = runs.get(key)
        return run.due_at if run else None

    return due_at


def build_waiting(settings: SendingSettings) -> Callable[[str], Waiting | None]:
    """Takes a user id, from the settings of generate. Reads only."""
    return partial(
        look_at_waiting,
        subscribers=DynamoSubscribers(settings.subscribers_table),
        runs=DynamoRuns(settings.runs_table, retention=timedelta(days=settings.run_retention_days)),
        events=DynamoEventReader(settings.events_table, clock=now),
        clock=now,
    )


def build_explain(settings: IngestSettings) -> Callable[[str, date | None], Explanation]:
    """Takes a user id and a date of the reader's own calendar, or None for now."""
    retention = longest_life(timedelta(days=settings.event_retention_days))
    return partial(
        explain,
        subscribers=DynamoSubscribers(settings.subscribers_table),
        suppressions=DynamoSuppressions(settings.suppressions_table, clock=now),
        follows=DynamoFollows(settings.follows_table, retention=retention, clock=now),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        runs=DynamoRuns(settings.runs_table, retention=timedelta(days=settings.run_retention_days)),
        events=DynamoEventReader(settings.events_table, clock=now),
        held_categories=held_categories(settings.control_table, clock=now),
        clock=now,
        defaults=frequencies(json.loads(settings.default_frequencies)),
    )
