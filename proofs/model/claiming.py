"""A worker claims its run: one write, or one transaction with the runs that it carries."""

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
"""What is said of a claim that was one transaction with the closing of others."""

_LOST = "lost"
"""The nonce of the one claim whose answer is lost; nobody looks at any other."""


def claiming(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Every next step of worker `w` at its claim."""
    match state.workers[w].at:
        case At.CLOSE:
            yield _close(state, w)
        case At.CLAIM:
            yield from _claim(state, w, setup)
        case At.RECLAIM:
            yield _repeat_claim(state, w, setup)


def _close(state: State, w: int) -> Step:
    """Without rule 5: the older runs are closed by writes of their own."""
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
    """Rules 4 and 5: one write or none, under conditions on all that was read."""
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
    """The runs after the claim, or None where one of its conditions fails."""
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
    """Rule 4: the condition fails, and what is stored shows whether the claim is this one's."""
    worker = state.workers[w]
    stored, mine = run_of(state.runs[worker.run]), run_of(worker.chain[0])
    is_mine = stored.status is Status.SENDING and stored.nonce == mine.nonce
    if not setup.holds(Rule.NONCE_ALONE):
        is_mine = stored == mine
    if is_mine and setup.holds(Rule.NONCE):
        worker = worker._replace(at=_next(setup), chain=(number_of(stored),), outcome="")
        label = ("worker {} recognises its claim of run {}", w, worker.run)
    else:
        label = ("worker {} finds run {} claimed by somebody, and gives up", w, worker.run)
        return label, idle(state, w)
    return label, with_worker(state, w, worker)


def _next(setup: Setup) -> At:
    """What follows a claim. The last look is left out where it has nothing to see."""
    return At.LOOK if setup.is_of_the_reader else At.CALL


def is_forbidden(state: State, worker: Worker, setup: Setup) -> bool:
    """Whether a stop that was acknowledged forbids this email."""
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
