"""The use cases, each with its preparation, its action and the check that it succeeded."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from gazette.domain.commands import (
    ChangeFollow,
    ChoosePreferences,
    Command,
    CreateActivity,
    CreateEvents,
    EraseSubscriber,
    MarkSeen,
)
from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status
from gazette.domain.delivery.streams import Streams
from gazette.domain.identity import shard_of
from gazette.domain.links import DIGESTS, LinkToken
from gazette.domain.model import DAILY, Event, RunKey, Window
from gazette.domain.receipts.receipt import State
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.chain import back_to_end, head_for
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule
from gazette.domain.stored import readable
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequency, frequency_for
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.support.explain import explain
from gazette.steps.support.receipt import ReceiptContext, receipt
from gazette.steps.sweep.sweep import standing
from gazette.steps.time_budget import unlimited

from gazette_cdk import topology
from proofs.history.furnish import DUE
from proofs.history.past import (
    AT_ONCE,
    BUSY,
    CRITICAL,
    EMAIL,
    HOT,
    PASTS,
    READER,
    SOME,
    VAULT,
    Past,
    activities,
    comment,
    just_now,
    pending,
    sent,
    stored,
)
from tests.builders import NOW, RETENTION, a_link, an_activity
from tests.fake_stores import PARTITIONS
from tests.world import World

_SINCE = NOW - timedelta(hours=20, minutes=1)
_BEFORE = NOW - timedelta(minutes=2)
_WAITING = frozenset({"waiting"})
"""Events that wait for a digest and may move after a choice."""
_ANY = frozenset(PASTS)

MOVED = 2_000
"""Events that a choice moves immediately."""


@dataclass(frozen=True)
class Use:
    """One use case."""

    name: str
    act: Callable[[World], object]
    """A function that processes one receive of the message."""

    done: Callable[[World], bool]
    """A check that the case succeeded, for a reader who gets email."""

    prepare: Callable[[Past], Past] = lambda past: past
    """A function that adds the case's own rows to the past."""

    before: Callable[[World], object] = lambda _: None
    """An action that is not counted."""

    paged_in: Collection[str] = frozenset()
    """The pasts that the use case may read page by page."""

    timeout: timedelta = timedelta(seconds=topology.INGEST.timeout)
    """The timeout of the function."""

    longest: timedelta = timedelta(seconds=25)
    """The longest time that a receive may take, at 5 ms per call."""

    @property
    def is_page(self) -> bool:
        """Return True if a reader waits for the response."""
        return self.timeout == _PAGE


def _say(command: Callable[[World], Command]) -> Callable[[World], object]:
    return lambda world: world.say(command(world))


def _events(*events: Event) -> Callable[[World], object]:
    return _say(lambda _: CreateEvents(events))


def _has(*names: str) -> Callable[[World], bool]:
    return lambda world: all(world.events.get(READER, name) for name in names)


def _choose(category: str, often: Frequency, world: World) -> Command:
    return ChoosePreferences(READER, Choice(frequencies=((category, often),)), world.clock())


def _chose(category: str, often: Frequency, world: World) -> bool:
    reader = world.subscribers.get(READER)
    if not isinstance(reader, Subscriber):
        return False
    return frequency_for(category, chosen=reader.chosen, defaults=()) is often


def _follows(world: World) -> bool:
    found = world.follows.get(BUSY, READER)
    return found is not None and found.latest.following


def _has_left(world: World) -> bool:
    reader = world.subscribers.get(READER)
    return isinstance(reader, Subscriber) and reader.has_left


def _is_erased(world: World) -> bool:
    left = [*world.follows.followed_by(READER), *world.schedules.of_user(READER)]
    return not left and not [*world.events.of_user(READER)]


def _missed(past: Past) -> Past:
    """Return a past in which the reader does not follow the entity yet, so the activities are in no
    digest.
    """
    some = past if past.activities else past + activities(3)
    events = tuple(each for each in some.events if not each.event.via)
    return replace(some.without_follow(BUSY), events=events)


def _is_caught_up(world: World) -> bool:
    found = list(readable(world.activities.since(BUSY, _SINCE)))
    return all(world.events.get(READER, each.id) for each in found[::50])


def _one(past: Past) -> Past:
    """Return the past, with an event for the next digest if no event is waiting."""
    return just_now(0 if past.is_armed else 1)


def _due(past: Past) -> Past:
    return replace(past + _one(past), is_due=True)


def _next(past: Past) -> Past:
    """Return the past with a daily digest that has been started."""
    run = replace(pending(DAILY, past.sequence, DUE), created_at=DUE)
    return past + _one(past) + Past((_behind(past, run),))


def _immediate(schedule: str, category: str, on: str, past: Past) -> Past:
    at = _BEFORE
    run = pending(schedule, int(at.timestamp()), at + timedelta(seconds=20))
    event = stored(comment("new", at, category=category, on=on), schedule, at)
    return past + Past((_behind(past, run),), (event,))


def _behind(past: Past, run: Run) -> Run:
    """Return the run as if it was created after the other runs of its schedule."""
    older = [each for each in past.runs if each.key.schedule == run.key.schedule]
    chain = back_to_end(reversed(older), of=run.key)
    return replace(run, head=head_for(chain, run.created_at or run.due_at))


def _newest(schedule: str, world: World) -> Run:
    return world.runs.chain(RunKey(READER, schedule, 9_999_999_999))[0]


def _generate(schedule: str, world: World) -> object:
    sequence = int(_BEFORE.timestamp())
    key = RunKey(READER, schedule, sequence)
    return world.generate(_newest(DAILY, world).key if schedule == DAILY else key)


def _is_sent(schedule: str, world: World) -> bool:
    return _newest(schedule, world).status is Status.SENT


def _failed(run: Run, until: Window) -> Run:
    return replace(
        sent(run, until),
        status=Status.FAILED,
        reason=Reason.ATTEMPTS_EXHAUSTED,
        refusals=6,
        sent_at=None,
        message_id="",
    )


def _failed_last(past: Past) -> Past:
    run = _failed(pending(DAILY, past.sequence, DUE), Window(NOW - timedelta(days=1), DUE))
    return past + _one(past) + Past((_behind(past, run),))


def _failed_first(past: Past) -> Past:
    """Return a past with a failed digest before all others."""
    later = tuple(
        replace(run, key=replace(run.key, sequence=run.key.sequence + 1))
        if run.key.schedule == DAILY
        else run
        for run in past.runs
    )
    at = NOW - timedelta(days=31)
    return replace(past, runs=(_failed(pending(DAILY, 1, at), Window(BEGINNING, at)), *later))


def _redrive(sequence: Callable[[World], int], world: World) -> object:
    failed = world.runs.get(RunKey(READER, DAILY, sequence(world)))
    assert failed is not None
    return world.redrive(failed)


def _last_failed(world: World) -> int:
    schedule = world.schedules.get(READER, DAILY)
    assert schedule is not None
    return schedule.sequence - 1


def _overdue(past: Past) -> Past:
    run = pending(DAILY, past.sequence, NOW - timedelta(hours=21))
    return past + Past((_behind(past, run),))


def _sweep(world: World) -> None:
    partition = shard_of(READER, PARTITIONS)
    world.sweep_partition(partition)
    gauges = Streams(digest=world.rate_limiter, immediate=world.immediate_rate_limiter)
    standing(partition, runs=world.runs, gauges=gauges, clock=world.clock, time_left=unlimited)


def _receipt(world: World) -> None:
    """Ask what became of an event that waits for the next digest."""
    answer = receipt(
        READER,
        "new0",
        context=ReceiptContext(
            events=world.events,
            runs=world.runs,
            engagements=world.engagements,
            schedules=world.schedules,
            subscribers=world.subscribers,
            follows=world.follows,
            held_categories=lambda: (),
            withdrawals=lambda: (),
            clock=world.clock,
            retention=RETENTION,
            defaults=(),
            critical={CRITICAL},
            sunset=None,
        ),
    )
    if answer.state is not State.WAITING:
        raise AssertionError(answer.state)


def _explain(world: World) -> None:
    explain(
        READER,
        None,
        subscribers=world.subscribers,
        suppressions=world.suppressions,
        follows=world.follows,
        schedules=world.schedules,
        runs=world.runs,
        events=world.events,
        held_categories=lambda: (),
        withdrawals=lambda: (),
        clock=world.clock,
        defaults=(),
        sunset=None,
        critical={CRITICAL},
    )


def _has_seen(world: World) -> bool:
    return HOT in world.seen_marks.of(READER, {HOT})


def _has_muted(world: World) -> bool:
    return bool(world.muted(HOT, READER))


def _link() -> LinkToken:
    return replace(a_link(RunKey(READER, DAILY, 1)), scope=DIGESTS)


_PAGE = timedelta(seconds=topology.PREFERENCES.timeout)
_WORKER = timedelta(seconds=topology.GENERATE.timeout)
_SWEEP = timedelta(seconds=topology.SWEEP.timeout)
_HOT = immediate_schedule(HOT)
_CRITICAL = critical_schedule(VAULT)

_A_LIST = (
    *(comment(f"new{each}", NOW, on=f"post#new{each}") for each in range(4)),
    *(comment(f"new{each}", NOW, category=AT_ONCE, on=HOT) for each in range(4, 8)),
    *(comment(f"new{each}", NOW, category=CRITICAL, on=VAULT) for each in range(8, 10)),
)


def uses(moved: int) -> tuple[Use, ...]:
    """Return all use cases. `moved` is the number of additional events that a choice moves
    immediately.
    """
    return (
        Use(
            "publish immediate", _events(comment("new", NOW, category=AT_ONCE, on=HOT)), _has("new")
        ),
        Use("publish for the digest", _events(comment("new", NOW)), _has("new")),
        Use(
            "publish critical",
            _events(comment("new", NOW, category=CRITICAL, on=VAULT)),
            _has("new"),
        ),
        Use("publish a list of ten", _events(*_A_LIST), _has("new0", "new9")),
        Use(
            "publish an activity",
            _say(lambda _: CreateActivity(an_activity("new", category=SOME, entity_id="busy"))),
            _has("new"),
        ),
        Use(
            "choose",
            _say(partial(_choose, "note", Frequency.NEVER)),
            partial(_chose, "note", Frequency.NEVER),
            paged_in=_WAITING,
        ),
        Use(
            "choose and move",
            _say(partial(_choose, SOME, Frequency.WEEKLY)),
            partial(_chose, SOME, Frequency.WEEKLY),
            prepare=lambda past: past if past.is_armed else past + just_now(moved),
            paged_in=_WAITING,
        ),
        Use(
            "unfollow",
            _say(lambda world: ChangeFollow(READER, BUSY, FollowState(False), world.clock())),
            lambda world: not _follows(world),
            paged_in=_WAITING,
        ),
        Use(
            "follow late",
            _say(lambda _: ChangeFollow(READER, BUSY, FollowState(True), _SINCE)),
            _is_caught_up,
            prepare=_missed,
            paged_in={"activities"},
        ),
        Use("visit", _say(lambda world: MarkSeen(READER, HOT, world.clock())), _has_seen),
        Use("mute", lambda world: world.mute(HOT, READER), _has_muted, timeout=_PAGE),
        Use(
            "leave",
            lambda world: world.unsubscribe(READER, EMAIL),
            _has_left,
            timeout=_PAGE,
        ),
        Use(
            "leave the digests",
            lambda world: world.leave_by(_link()),
            partial(_chose, SOME, Frequency.NEVER),
            paged_in=_WAITING | {"follows"},
            timeout=_PAGE,
        ),
        Use(
            "return",
            lambda world: world.resubscribe(READER, EMAIL),
            lambda world: not _has_left(world),
            before=lambda world: world.unsubscribe(READER, EMAIL),
            timeout=_PAGE,
        ),
        Use(
            "erase",
            _say(lambda world: EraseSubscriber(READER, world.clock())),
            _is_erased,
            paged_in=_ANY,
        ),
        Use(
            "fan out",
            lambda world: world.fan_out(slot_of(DUE)),
            lambda world: _newest(DAILY, world).due_at == DUE,
            prepare=_due,
            timeout=_WORKER,
        ),
        Use(
            "generate a digest",
            partial(_generate, DAILY),
            partial(_is_sent, DAILY),
            prepare=_next,
            timeout=_WORKER,
        ),
        Use(
            "generate immediate",
            partial(_generate, _HOT),
            partial(_is_sent, _HOT),
            prepare=partial(_immediate, _HOT, AT_ONCE, HOT),
            paged_in={"paused"},
            timeout=_WORKER,
        ),
        Use(
            "generate critical",
            partial(_generate, _CRITICAL),
            partial(_is_sent, _CRITICAL),
            prepare=partial(_immediate, _CRITICAL, CRITICAL, VAULT),
            timeout=_WORKER,
        ),
        Use(
            "sweep",
            _sweep,
            lambda world: _newest(DAILY, world).check_at > world.clock(),
            prepare=_overdue,
            timeout=_SWEEP,
            longest=_SWEEP,  # it starts no run in its last 45 seconds
        ),
        Use(
            "redrive the last",
            partial(_redrive, _last_failed),
            lambda world: _newest(DAILY, world).is_open,
            prepare=_failed_last,
            timeout=_WORKER,
        ),
        Use(
            "redrive the first",
            partial(_redrive, lambda _: 1),
            lambda _: True,
            prepare=_failed_first,
            timeout=_WORKER,
        ),
        Use("explain", _explain, lambda _: True, paged_in=_ANY),
        Use("receipt", _receipt, lambda _: True, prepare=lambda past: past + just_now(1)),
        Use(
            "preference page",
            lambda world: world.read_overview(READER),
            lambda _: True,
            paged_in=_ANY,
            timeout=_PAGE,
        ),
    )
