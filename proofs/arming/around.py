"""Delivery, which sends the events of a window, and time: index, settle lag and calendar."""

from collections.abc import Iterator

from gazette.domain.delivery.run import Reason, Status
from gazette.domain.delivery.signals import (
    Accepted,
    Cancel,
    Carry,
    Claim,
    DeadlinePassed,
    GiveUp,
    GraceOver,
    Policy,
    RefusedForGood,
    Signal,
    Skip,
)

from proofs.arming.fanout import is_due, is_found
from proofs.arming.numbered import (
    NO_RUN,
    given_up_to,
    instant_of,
    is_to_be_delivered,
    listed_at,
    moved,
    occurrence_of_run,
    run_of,
    settled_up_to,
    window,
)
from proofs.arming.state import (
    At,
    Event,
    Kind,
    Place,
    Rule,
    Setup,
    State,
    Step,
    Worker,
    begun,
    gone,
    with_event,
    with_run,
    workers_of,
)

_TWICE = "G2: an event is in two emails"


def messages_of_runs(state: State, setup: Setup) -> Iterator[Step]:
    """Yield the start of delivery for a run, by its message or by the sweep."""
    if workers_of(state, Kind.DELIVERY) >= setup.deliveries:
        return
    taken = {each.number for each in state.workers if each.kind is Kind.DELIVERY}
    for number, run in enumerate(state.runs):
        if run != NO_RUN and run_of(run).status is Status.PENDING and number not in taken:
            yield from _prepare(state, number)


def _prepare(state: State, number: int) -> Iterator[Step]:
    """Settle the older runs, then read the window (rules 2 and 3)."""
    older = [run for run in state.runs[:number] if run != NO_RUN]
    if any(run_of(run).status is Status.SENDING for run in older):
        return
    for earlier, run in enumerate(state.runs[:number]):
        if run != NO_RUN and run_of(run).status is Status.PENDING:
            state = with_run(state, earlier, _moved(run, Cancel(Reason.SUPERSEDED)))
    since = settled_up_to(tuple(older))
    until = max(since, state.settled)
    events = sum(
        1 << bit
        for bit, event in enumerate(state.events)
        if event.place is Place.HERE and since < event.stamp <= until
    )
    worker = Worker(Kind.DELIVERY, At.CLAIM, number, since=since, stamp=until, events=events)
    if state.is_dormant:
        worker = worker._replace(at=At.CLAIM, events=-1)
    yield ("delivery reads the events of run {}", number), begun(state, worker)


def _moved(run: int, signal: Signal) -> int:
    after = moved(run, signal)
    assert after is not None
    return after


def delivering(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Yield every next step of a delivery worker."""
    worker = state.workers[w]
    if worker.kind is not Kind.DELIVERY:
        return
    if worker.at is At.CLAIM:
        yield _claim(state, w)
        return
    number = worker.number
    run = state.runs[number]
    accepted = with_run(gone(state, w), number, _moved(run, Accepted(1, "m")))
    yield ("the provider takes the email of run {}", number), accepted
    unsent = _unmailed(gone(state, w), worker)
    if state.refusals:
        refused = with_run(unsent, number, _moved(run, RefusedForGood(1)))
        label = ("the provider refuses the email of run {} for good", number)
        yield label, refused._replace(refusals=state.refusals - 1)
    if state.deaths:
        carried = _moved(_moved(run, DeadlinePassed(1)), GraceOver(Policy.CARRY_OVER))
        label = ("delivery dies before the call for run {}, which the next run will carry", number)
        yield label, with_run(unsent, number, carried)._replace(deaths=state.deaths - 1)


def _unmailed(state: State, worker: Worker) -> State:
    """Return the events to waiting, from zero, because fan-out did not cause their wait."""
    for bit, event in enumerate(state.events):
        if worker.events >> bit & 1:
            state = with_event(state, bit, event._replace(mails=event.mails & 2, waited=0))
    return state


def _claim(state: State, w: int) -> Step:
    """Claim the run (rules 4 and 5). A worker that lost to a raised epoch was already removed."""
    worker = state.workers[w]
    number = worker.number
    run = state.runs[number]
    after = gone(state, w)
    if run_of(run).status is not Status.PENDING:
        return ("delivery is overtaken before its claim of run {}", number), after
    if worker.events <= 0:
        reason = Reason.EMPTY if not worker.events else Reason.DORMANT
        after = with_run(after, number, _moved(run, Skip(reason)))
        if not worker.events:
            after = _handed_on(after, number, GiveUp())
        return (f"delivery ends run {{}}: {reason}", number), after
    fault = ""
    for bit, event in enumerate(state.events):
        if worker.events >> bit & 1:
            fault = _TWICE if event.mails else fault
            after = with_event(after, bit, event._replace(mails=event.mails | 1))
    if any(
        other != NO_RUN
        and run_of(other).status in {Status.SENT, Status.SENDING}
        and occurrence_of_run(other) == occurrence_of_run(run)
        for other in state.runs
    ):
        fault = fault or "rule 18: an occurrence has two digests"
    claim = Claim(window(worker.since, worker.stamp), instant_of(0), "nonce")
    after = with_run(_handed_on(after, number, Carry()), number, _moved(run, claim))
    calling = Worker(Kind.DELIVERY, At.CALL, number, events=worker.events)
    label = ("delivery claims run {}", number)
    return label, begun(after._replace(fault=fault), calling)


def _handed_on(state: State, number: int, signal: Signal) -> State:
    """Close the older runs that this run takes over."""
    for earlier, run in enumerate(state.runs[:number]):
        if run != NO_RUN and run_of(run).reason is Reason.CARRIED:
            state = with_run(state, earlier, _moved(run, signal))
    return state


def is_quiet(state: State, setup: Setup) -> bool:
    """Return True if all workers are done, so that only time changes the state."""
    return (
        not state.workers
        and state.settled == state.stamp
        and state.shown == listed_at(state.row)
        and not any(event.is_asked or _is_wanted(event.to, event.place) for event in state.events)
        and not is_to_be_delivered(state.runs)
        and not (is_due(state) and is_found(state, setup))
    )


def _is_read(state: State) -> bool:
    """Return True if a tick has read the index entry of the last slot, if any is due."""
    is_at_work = any(worker.kind is Kind.FANOUT for worker in state.workers)
    return is_at_work or state.shown != state.now or not is_due(state)


def _is_wanted(to: Place, place: Place) -> bool:
    return to is not Place.NOWHERE and place is not Place.NOWHERE


def is_waiting(event: Event, state: State) -> bool:
    """Return True if an event must still be sent here. Events given up by rule 9 do not count."""
    is_unsent = event.place is Place.HERE and not event.mails and not state.is_dormant
    return is_unsent and event.stamp > given_up_to(state.runs)


def time_passes(state: State, setup: Setup) -> Iterator[Step]:
    """Yield the steps of time: the index, the settle lag, an occurrence, and the other schedule."""
    if state.shown != listed_at(state.row):
        yield ("the index catches up",), state._replace(shown=listed_at(state.row))
    unwritten = [each.stamp for each in state.workers if each.at is At.STORE]
    settled = min(unwritten) - 1 if unwritten else state.stamp
    if settled > state.settled:
        yield ("the settle lag passes",), state._replace(settled=settled)
    if state.late and settled < state.stamp:
        late = state._replace(settled=state.stamp, late=state.late - 1)
        yield ("the settle lag passes while an event is still being written",), late
    for number, event in enumerate(state.events):
        if event.place is Place.AWAY and not event.mails & 2:
            fault = _TWICE if event.mails else state.fault
            after = with_event(state, number, event._replace(mails=event.mails | 2))
            label = ("the other schedule sends event {}", number)
            yield label, after._replace(fault=fault)
    if not setup.holds(Rule.LOOK_BACK) and not state.is_behind and state.now and _is_read(state):
        yield ("the slot is behind the look-back",), state._replace(is_behind=True)
    if state.now < setup.hasty and (setup.holds(Rule.LOOK_BACK) or _is_read(state)):
        come = state._replace(now=state.now + 1, is_behind=False)
        yield ("occurrence {} comes", state.now), come
    elif state.now < setup.occurrences and is_quiet(state, setup):
        events = tuple(
            event._replace(waited=event.waited + 1) if is_waiting(event, state) else event
            for event in state.events
        )
        come = state._replace(now=state.now + 1, is_behind=False, events=events)
        yield ("everybody has done their work, and occurrence {} comes", state.now), come
