"""Each event is in one email, however preferences, events, ticks and deliveries overlap."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from gazette.domain.commands import ChangeSubscriber, CreateEvents
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.subscribers.frequency import Frequency
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW, RETENTION, a_subscriber, an_event
from tests.interruptions import Moments, die
from tests.world import World

HEARD = [frequency for frequency in Frequency if frequency is not Frequency.NEVER]
Act = Callable[[World], object]


def choose(frequency: Frequency) -> Act:
    """The reader wants all comments in another way from now on."""

    def act(world: World) -> None:
        world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), comment=frequency)))

    return act


def put(number: int) -> Act:
    """An event on an entity of its own, so that an email shows whether it is in it."""

    def act(world: World) -> None:
        event = an_event(f"e{number}", entity_id=f"e{number}", occurred_at=world.clock())
        world.say(CreateEvents((event,)))

    return act


def due_next(world: World) -> datetime | None:
    """When the next schedules are due; None if none is."""
    rows = world.schedules.rows.values()
    return min((schedule.next_due_at for schedule in rows if schedule.listed), default=None)


def tick(world: World) -> None:
    """The schedules that are due next become due, and their runs are queued."""
    if due := due_next(world):
        world.clock.now = max(world.clock.now, due)
        world.fan_out(slot_of(due))


def tick_in_time(world: World) -> None:
    """Not once what was put first would be deleted before the next digest is sent."""
    due = due_next(world)
    if due and due < NOW + RETENTION - timedelta(weeks=2):
        tick(world)


def generate(world: World) -> None:
    """The oldest message on the generate queue; one that cannot be worked off yet comes back."""
    if not world.generate_queue.sent:
        return
    message = world.generate_queue.sent.pop(0)
    run = world.runs.rows[message.key]
    if message.key.is_immediate:
        world.clock.now = max(world.clock.now, run.due_at + timedelta(seconds=21))
    try:
        world.deliver(message.key)
    except (NotYet, Unavailable):
        world.generate_queue.sent.append(message)
        raise


def again(world: World) -> None:
    """A message on the generate queue comes twice."""
    world.deliver(RunKey("ann", "daily", 1))


DELIVERIES = {generate, again}
"""A worker that dies here leaves a run whose outcome somebody else has to settle."""

acts = st.one_of(
    st.sampled_from(HEARD).map(choose),
    st.integers(1, 6).map(put),
    st.integers(1, 6).map(put),
    st.just(tick_in_time),
    st.just(generate),
    st.just(generate),
    st.just(again),
)


def quietly(act: Act, world: World) -> None:
    """Ignore what another worker does, or what is retried later."""
    with suppress(NotYet, Unavailable):
        act(world)


def shown(world: World) -> Counter[str]:
    """How often each event is in an email, from what was accepted."""
    return Counter(
        line.partition(":")[0]
        for mail, _ in world.mailer.accepted
        for line in mail.edition.text.splitlines()
        if line.endswith(": 1")
    )


@settings(max_examples=75, deadline=None)
@given(st.lists(st.tuples(acts, st.integers(0, 30), st.booleans()), min_size=2, max_size=16))
def test_each_event_is_emailed_exactly_once(said: list[tuple[Act, int, bool]]) -> None:
    world = World()
    choose(Frequency.DAILY)(world)
    remaining = list(said)
    while remaining:
        act, at, dies = remaining.pop(0)
        world.clock.pass_time(seconds=1)
        after: Callable[[], object] = partial(quietly, tick_in_time, world)
        if dies and act not in DELIVERIES:
            after = die
        elif remaining:
            after = partial(quietly, remaining.pop(0)[0], world)
        moments = Moments(at, after)
        with world.watched(moments.around):
            quietly(act, world)
        if moments.at > 0 and after is not die:
            after()
        if after is die:
            quietly(act, world)
    for number in range(1, 7):
        put(number)(world)
    world.clock.pass_time(minutes=2)
    for _ in range(60):
        tick(world)
        world.clock.pass_time(minutes=20)
        for _ in range(len(world.generate_queue.sent)):
            quietly(generate, world)
    assert shown(world) == Counter({f"e{number}": 1 for number in range(1, 7)})
