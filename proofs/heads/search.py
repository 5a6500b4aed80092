"""Every step around one thread, and the search through all states."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from gazette.domain.delivery.lifecycle import Ignored, transition
from gazette.domain.delivery.run import (
    Reason,
    Run,
    Status,
    given_up_until,
    settled_until,
)
from gazette.domain.delivery.signals import (
    Accepted,
    Cancel,
    Claim,
    Evidence,
    GiveUp,
    GraceOver,
    RefusedForGood,
    Signal,
    Skip,
    Uncertain,
)
from gazette.domain.identity import LAST_SEQUENCE
from gazette.domain.model import Window
from gazette.steps.delivery.predecessors import chain_of, gives_way, settle_older, window_of
from gazette.steps.occurrences.next_run import next_run
from gazette.steps.routing.immediate import collecting
from gazette.steps.runs import Changes

from proofs.breadth_first import Found, Model, explore
from proofs.heads.state import (
    DAY,
    HOUR,
    Mail,
    Rows,
    Rule,
    Setup,
    State,
    Step,
    Worker,
    beginning,
    canonical,
    created,
    instant,
    key_of,
    with_run,
    without,
)

_MOST = 3
_NOT_ITS_END = {Reason.EMPTY, Reason.SUPERSEDED}
_FAR = instant(10**8)


def search(setup: Setup) -> Found:
    """Search every state within the bounds of a setup."""
    return explore(
        Model(
            beginning=beginning(setup),
            steps=partial(steps, setup=setup),
            canonical=canonical,
            broken=broken,
            is_at_rest=is_at_rest,
            stuck="G3: from here on no step leads to an end",
        )
    )


def steps(state: State, setup: Setup) -> Iterator[Step]:
    """Yield every step that is possible in a state, and the state after it."""
    yield from _events(state)
    yield from _time(state)
    for worker in state.workers:
        if worker.event >= 0:
            yield _create(state, worker)
        elif worker.is_sending:
            yield from _send(state, worker)
        else:
            yield _claim(state, worker)
    if len(state.workers) < _MOST - 1:
        for event in state.messages:
            yield _read_to_create(state, event, setup)
        for run in state.runs:
            if all(each.run is None or each.run.key != run.key for each in state.workers):
                yield from _read_to_send(state, run, setup)
    for run in state.runs:
        if run.status is Status.UNKNOWN and run.reason is not Reason.CARRIED:
            yield _decide(state, run)
    yield from _evidence(state)


def is_at_rest(state: State) -> bool:
    """Return True if all runs have ended."""
    carried = {Reason.CARRIED}
    return not (
        state.workers
        or state.messages
        or any(not run.status.is_final for run in state.runs if run.reason not in carried)
    )


def broken(state: State) -> str | None:
    """Return the promise that a state breaks."""
    if state.fault:
        return state.fault
    for event, stamp in enumerate(state.stamps):
        shown = sum(event in mail.shown for mail in state.mails)
        if shown >= _MOST and not any(mail.is_lie for mail in state.mails):
            return "G2: an event is in three emails"
        if is_at_rest(state) and not shown and not _is_accounted_for(stamp, state):
            return "G1: an event is lost"
    return None


def _is_accounted_for(stamp: int, state: State) -> bool:
    at = instant(stamp)
    refused = (run for run in state.runs if run.status is Status.FAILED and run.window)
    return at <= settled_until(state.runs) or any(
        run.window is not None and run.window.holds(at) for run in refused
    )


def _events(state: State) -> Iterator[Step]:
    left = state.left
    if left.events:
        event = len(state.stamps)
        stored = state._replace(
            now=state.now + 1,
            stamps=(*state.stamps, state.now + 1),
            messages=state.messages | {event},
            left=left._replace(events=left.events - 1),
        )
        yield ("event {} is stored", event), stored
    for event in range(len(state.stamps)):
        if left.repeats and event not in state.messages:
            again = state._replace(
                messages=state.messages | {event}, left=left._replace(repeats=left.repeats - 1)
            )
            yield ("the message of event {} comes again", event), again
        sequence = state.stamps[event]
        if left.strays and not state.workers and Rows(state).get(key_of(sequence)) is None:
            late = created(sequence, state, [], left)
            after = with_run(state, late)._replace(left=left._replace(strays=left.strays - 1))
            yield ("who slept stores the run of event {}", event), after


def _time(state: State) -> Iterator[Step]:
    """Yield the passage of time. No creator or claim lasts as long as an hour."""
    left = state.left
    if state.workers:
        return
    if left.hours:
        later = left._replace(hours=left.hours - 1)
        yield ("an hour passes",), state._replace(now=state.now + HOUR, left=later)
    if left.days:
        later = left._replace(days=left.days - 1)
        yield ("a day passes",), state._replace(now=state.now + DAY, left=later)


def _read_to_create(state: State, event: int, setup: Setup) -> Step:
    """Run `start_immediate` up to its write."""
    label = ("a creator reads the chain for event {}", event)
    done = state._replace(messages=state.messages - {event})
    stamp, chain = state.stamps[event], Rows(state).chain(key_of(LAST_SEQUENCE))
    at = instant(stamp)
    if at <= settled_until(chain) or collecting(chain, at):
        return label, done
    sequence = stamp
    if chain and chain[0].key.sequence >= stamp:
        own = next((run for run in chain if run.key.sequence == stamp), None)
        if own and any(run.due_at >= at and run.reason not in _NOT_ITS_END for run in chain):
            return label, done
        sequence = max(state.now, chain[0].key.sequence + 1)
    worker = Worker(event, created(sequence, state, chain, setup))
    return label, done._replace(workers=(*state.workers, worker))


def _create(state: State, worker: Worker) -> Step:
    label = ("a creator stores the run for event {}", worker.event)
    after, run = without(state, worker), worker.run
    assert run
    found = Rows(state).get(run.key)
    if found is None:
        return label, with_run(after, run)
    if found.due_at >= instant(state.stamps[worker.event]) and found.reason not in _NOT_ITS_END:
        return label, after
    return label, after._replace(messages=after.messages | {worker.event})


def _read_to_send(state: State, run: Run, setup: Setup) -> Iterator[Step]:
    """Run `deliver` up to its claim."""
    rows: Any = Rows(state)
    chain = chain_of(run.key, runs=rows)
    if run.status not in {Status.PENDING, Status.RETRYING} or chain is None:
        return
    changes, now = Changes(), instant(state.now)
    as_if = run
    if not setup.holds(Rule.BEHIND_GIVES_WAY):
        as_if = replace(run, key=key_of(LAST_SEQUENCE))
    if run.is_unclaimed and gives_way(as_if, chain.newer, changes):
        label = ("run {} gives way", run.key.sequence)
        after = _with(state, changes)
        newest = chain.newer[0]
        if not newest.is_unclaimed:
            behind = next_run(newest, now=now, check_after=now - now)
            key = key_of(max(newest.key.sequence + 1, state.now))
            after = with_run(after, replace(behind, key=key))
        yield label, with_run(after, _moved(run, Cancel(Reason.SUPERSEDED)))
        return
    settled = settle_older(run, chain, changes, now=now, evidence_grace=now - now)
    if isinstance(settled, Run):
        return
    after = _with(state, changes)
    window = window_of(run, settled.since, until=now)
    shown = _in(window, state)
    if not shown:
        for each, _ in settled.carried:
            after = with_run(after, _moved(each, GiveUp()))
        yield (
            ("run {} has nothing to send", run.key.sequence),
            with_run(after, _moved(run, Skip(Reason.EMPTY))),
        )
        return
    known = {event for mail in state.mails if _is_known(mail, state) for event in mail.shown}
    if shown & known:
        after = after._replace(fault="G2: a run shows what is known to have been sent")
    worker = Worker(run=run, carried=settled.carried, window=window, shown=shown)
    yield (
        ("a worker reads run {}", run.key.sequence),
        after._replace(workers=(*after.workers, worker)),
    )


def _claim(state: State, worker: Worker) -> Step:
    run, after = worker.run, without(state, worker)
    assert run
    assert worker.window
    label = ("run {} is claimed", run.key.sequence)
    rows = Rows(state)
    if any(rows.get(each.key) != each for each in (run, *(one for one, _ in worker.carried))):
        return label, after
    for _, carried in worker.carried:
        after = with_run(after, carried)
    claim = Claim(worker.window, _FAR, "", at=instant(state.now))
    claimed = _moved(run, claim)
    sending = Worker(run=claimed, shown=worker.shown, is_sending=True)
    return label, with_run(after, claimed)._replace(workers=(*after.workers, sending))


def _send(state: State, worker: Worker) -> Iterator[Step]:
    run, left, after = worker.run, state.left, without(state, worker)
    assert run
    number, attempt = run.key.sequence, run.attempt
    mail = Mail(number, attempt, worker.shown, state.now, is_lie=False)
    sent = after._replace(mails=(*after.mails, mail))
    yield ("run {} is accepted", number), with_run(sent, _moved(run, Accepted(attempt, "")))
    if left.refusals:
        fewer = after._replace(left=left._replace(refusals=left.refusals - 1))
        yield (
            ("run {} is refused for good", number),
            with_run(fewer, _moved(run, RefusedForGood(attempt))),
        )
    if left.lies:
        lied = after._replace(
            mails=(*after.mails, mail._replace(is_lie=True)),
            left=left._replace(lies=left.lies - 1),
        )
        yield (
            ("run {} is accepted, and the answer is that it is refused", number),
            with_run(lied, _moved(run, RefusedForGood(attempt))),
        )
    if left.unknowns:
        unknown = _moved(run, Uncertain(attempt))
        rest = left._replace(unknowns=left.unknowns - 1)
        yield (
            ("run {} is accepted, and no answer comes", number),
            with_run(sent._replace(left=rest), unknown),
        )
        yield (
            ("run {} is not accepted, and no answer comes", number),
            with_run(after._replace(left=rest), unknown),
        )


def _decide(state: State, run: Run) -> Step:
    """Run `unknown.decide`."""
    label = ("the policy decides on run {}", run.key.sequence)
    rows = Rows(state)
    older = rows.chain(run.key)[1:]
    decided = _moved(run, GraceOver(state.left.policy))
    if decided.reason is Reason.CARRIED:
        if run.window and run.window.until <= given_up_until((run, *older)):
            return label, with_run(state, _moved(run, GiveUp()))
        newest = rows.chain(key_of(LAST_SEQUENCE))[0]
        if newest.key == run.key or newest.status.is_final:
            behind = max(newest.key.sequence + 1, state.now)
            now = instant(state.now)
            state = with_run(state, Run(key_of(behind), now, now, created_at=now))
    return label, with_run(state, decided)


def _evidence(state: State) -> Iterator[Step]:
    for mail in state.mails:
        run = Rows(state).get(key_of(mail.sequence))
        is_late = mail.is_lie and state.now - mail.at > DAY - HOUR
        is_open = any(each.is_sending and each.run == run for each in state.workers)
        if run and run.status is not Status.SENT and not is_late and not is_open:
            known = _moved(run, Evidence(mail.attempt, ""))
            yield ("a delivery event comes for run {}", mail.sequence), with_run(state, known)


def _with(state: State, changes: Changes) -> State:
    for _, after in changes.decided:
        state = with_run(state, after)
    return state


def _moved(run: Run, signal: Signal) -> Run:
    after = transition(run, signal)
    return run if isinstance(after, Ignored) else after


def _in(window: Window, state: State) -> frozenset[int]:
    return frozenset(
        event for event, stamp in enumerate(state.stamps) if window.holds(instant(stamp))
    )


def _is_known(mail: Mail, state: State) -> bool:
    run = Rows(state).get(key_of(mail.sequence))
    return run is not None and run.status is Status.SENT
