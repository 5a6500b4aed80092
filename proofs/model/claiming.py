"""The claim of a run, in one write or in one transaction with the runs that it takes over."""

from collections.abc import Iterator

from gazette.domain.delivery.run import Status
from gazette.domain.delivery.signals import Carry, Claim
from gazette.domain.model import Window

from proofs.model.numbered import (
    INSTANTS,
    applied,
    is_as_read,
    is_to_be_carried,
    moved,
    number_of,
    run_of,
)
from proofs.model.reading import Step, idle, with_worker
from proofs.model.state import (
    ACKNOWLEDGED,
    BATCH,
    RETRACTED,
    At,
    Halt,
    Rule,
    Setup,
    State,
    Worker,
    replaced,
)

TOGETHER = "together"
"""The outcome of a claim in one transaction with the closing of other runs."""

_LOST = "lost"
"""The nonce of the one claim whose answer is lost. The model ignores all other nonces."""


def claiming(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Yield every next step of worker `w` at its claim."""
    match state.workers[w].at:
        case At.CLOSE:
            yield _close(state, w)
        case At.CLAIM:
            yield from _claim(state, w, setup)
        case At.RECLAIM:
            yield _repeat_claim(state, w, setup)


def _close(state: State, w: int) -> Step:
    """Close the older runs by separate writes, as without rule 5."""
    worker = state.workers[w]
    runs, chain = list(state.runs), list(worker.chain)
    first = worker.run - len(chain) + 1
    for position, read in enumerate(worker.chain[:-1]):
        if is_to_be_carried(read, worker.since):
            runs[first + position], chain[position] = applied(read, runs[first + position], Carry())
    worker = worker._replace(at=At.CLAIM, chain=tuple(chain))
    after = with_worker(state, w, worker)._replace(runs=tuple(runs))
    return ("worker {} closes what run {} carries", w, worker.run), after


def _claim(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Claim in one write or none, conditional on all rows that were read (rules 4 and 5)."""
    worker = state.workers[w]
    index = worker.run
    runs = _claimed(state, worker, setup, nonce="")
    if runs is None:
        yield ("worker {} is overtaken before its claim of run {}", w, index), idle(state, w)
        return
    unknown = sum(
        1 << number
        for number, email in enumerate(state.emails)
        if email.is_unknown and not email.is_told
    )
    own = runs[index]
    claimed = Worker(
        _next(setup),
        index,
        (own,),
        events=worker.events,
        unknown=unknown,
        seen=worker.seen,
        is_spared=worker.is_spared,
        is_after_stop=is_forbidden(state, worker, setup),
    )
    yield ("worker {} claims run {}", w, index), with_worker(state, w, claimed)._replace(runs=runs)
    if state.losses:
        runs = _claimed(state, worker, setup, nonce=_LOST)
        assert runs is not None
        is_together = any(is_to_be_carried(read, worker.since) for read in worker.chain[:-1])
        outcome = TOGETHER if is_together and setup.holds(Rule.ONE_TRANSACTION) else ""
        unheard = claimed._replace(at=At.RECLAIM, chain=(runs[index],), outcome=outcome)
        after = with_worker(state, w, unheard)._replace(runs=runs, losses=state.losses - 1)
        yield ("worker {} claims run {}, and the answer is lost", w, index), after


def _claimed(state: State, worker: Worker, setup: Setup, *, nonce: str) -> tuple[int, ...] | None:
    """Return the runs after the claim, or None if one of its conditions fails."""
    first = worker.run - len(worker.chain) + 1
    runs = list(state.runs)
    if setup.holds(Rule.ONE_TRANSACTION):
        for position, read in enumerate(worker.chain[:-1]):
            if not is_to_be_carried(read, worker.since):
                continue
            closed = moved(read, Carry())
            if closed is None and not setup.holds(Rule.CARRIED_IS_CHECKED):
                continue
            if not is_as_read(read, runs[first + position]):
                return None
            runs[first + position] = read if closed is None else closed
    own = worker.chain[-1]
    if setup.holds(Rule.CLAIM_CONDITION) and not is_as_read(own, runs[worker.run]):
        return None
    until = worker.until if setup.holds(Rule.UNTIL_BEFORE_READ) else state.stored
    window = Window(INSTANTS[worker.since], INSTANTS[until])
    after = moved(own, Claim(window, INSTANTS[-1], nonce))
    assert after is not None
    return replaced(tuple(runs), worker.run, after)


def _repeat_claim(state: State, w: int, setup: Setup) -> Step:
    """Retry a claim whose answer was lost. If the condition fails, the stored row shows whether the
    claim is this worker's own (rule 4).
    """
    worker = state.workers[w]
    stored, mine = run_of(state.runs[worker.run]), run_of(worker.chain[0])
    is_mine = stored.status is Status.SENDING and stored.nonce == mine.nonce
    if not setup.holds(Rule.NONCE_ALONE):
        is_mine = stored == mine
    if is_mine and setup.holds(Rule.NONCE):
        worker = worker._replace(at=_next(setup), chain=(number_of(stored),), outcome="")
        label = ("worker {} recognises its claim of run {}", w, worker.run)
    else:
        label = ("worker {} finds run {} claimed by another worker, and gives up", w, worker.run)
        return label, idle(state, w)
    return label, with_worker(state, w, worker)


def _next(setup: Setup) -> At:
    """Return the call after a claim. Skip the last look if there is no stop that it could see."""
    return At.LOOK if setup.is_of_the_reader else At.CALL


def is_forbidden(state: State, worker: Worker, setup: Setup) -> bool:
    """Return True if an acknowledged stop forbids this email."""
    if state.stop != ACKNOWLEDGED:
        return False
    match setup.halt:
        case Halt.SUBSCRIBER:
            return True
        case Halt.BATCH:
            return worker.run == BATCH
        case Halt.EVENT | Halt.CHOICE:
            return bool(worker.events & RETRACTED) and not worker.is_spared
        case Halt.NOTHING:
            return False
