"""What threads ask at the same time is asked once, after everybody has asked."""

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from threading import Barrier, Event, Thread, current_thread

import pytest
from gazette.adapters.cached import Coalescer

LONG = 30.0
"""Seconds of patience that no test waits for."""

WITHIN = 10
"""Seconds until a test counts as stuck."""


class Source:
    """Doubles what it is asked, and remembers who asked together."""

    def __init__(self) -> None:
        self.rounds: list[list[int]] = []
        self.error: BaseException | None = None

    def answer(self, asked: Sequence[int]) -> Sequence[int]:
        self.rounds.append(sorted(asked))
        if self.error:
            raise self.error
        return [2 * each for each in asked]


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def eager() -> Iterator[None]:
    """Threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run(work: Callable[[int], object], number: int, coalescer: Coalescer) -> None:
    """Work on so many items side by side; fail if that does not end."""
    numbers = range(number)
    whole = Thread(target=coalescer.side_by_side, args=(work, numbers), daemon=True)
    whole.start()
    whole.join(WITHIN)
    assert not whole.is_alive(), "somebody waits for ever"


def test_simultaneous_requests_are_coalesced(source: Source) -> None:
    coalescer = Coalescer(patience=LONG)
    answers = {}

    def work(number: int) -> None:
        answers[number] = coalescer.ask(source.answer, number)
        answers[number] += coalescer.ask(source.answer, 100 + number)

    run(work, 10, coalescer)
    assert answers == {number: 2 * number + 2 * (100 + number) for number in range(10)}
    assert source.rounds == [list(range(10)), list(range(100, 110))]


def test_requests_to_different_sources_do_not_block_each_other(source: Source) -> None:
    coalescer, other = Coalescer(patience=LONG), Source()

    def work(number: int) -> None:
        coalescer.ask(source.answer if number % 2 else other.answer, number)

    run(work, 6, coalescer)
    assert (source.rounds, other.rounds) == ([[1, 3, 5]], [[0, 2, 4]])


def test_coalescer_does_not_wait_for_finished_thread(source: Source) -> None:
    """Also if everybody else asked before: the last to end makes their request."""
    coalescer, asked = Coalescer(patience=LONG), Event()

    def work(number: int) -> None:
        if number == 0:
            asked.wait(WITHIN)
            return
        if number == 2:
            asked.set()
        coalescer.ask(source.answer, number)

    run(work, 3, coalescer)
    assert source.rounds == [[1, 2]]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_coalescer_does_not_wait_for_failed_thread(source: Source) -> None:
    coalescer = Coalescer(patience=LONG)

    def work(number: int) -> None:
        if number == 1:
            raise ValueError("one")
        coalescer.ask(source.answer, number)

    run(work, 3, coalescer)
    assert source.rounds == [[0, 2]]


def test_wait_for_delayed_thread_is_limited(source: Source) -> None:
    coalescer, others_answered = Coalescer(patience=0.01), Barrier(3)

    def work(number: int) -> None:
        if number == 0:
            others_answered.wait(WITHIN)
        coalescer.ask(source.answer, number)
        if number != 0:
            others_answered.wait(WITHIN)

    run(work, 3, coalescer)
    assert Counter(each for together in source.rounds for each in together) == Counter(range(3))
    assert source.rounds[-1] == [0]


def test_coalescer_does_not_wait_for_thread_that_stepped_aside(source: Source) -> None:
    coalescer, answered = Coalescer(patience=LONG), Event()

    def work(number: int) -> None:
        if number == 0:
            with coalescer.aside():
                assert answered.wait(WITHIN)
            coalescer.ask(source.answer, number)
            return
        coalescer.ask(source.answer, number)
        answered.set()

    run(work, 3, coalescer)
    assert source.rounds == [[1, 2], [0]]


def test_thread_that_stepped_aside_makes_no_coalesced_request() -> None:
    """They would come too late for what they wait for: a permit, or the end of the invocation."""
    coalescer, asked, answered = Coalescer(patience=LONG), Event(), Event()
    threads: dict[str, Thread] = {}

    def answer(questions: Sequence[int]) -> Sequence[int]:
        threads["answered"] = current_thread()
        answered.set()
        return questions

    def work(number: int) -> None:
        if number == 0:
            threads["aside"] = current_thread()
            asked.wait(WITHIN)
            with coalescer.aside():
                answered.wait(WITHIN)
            return
        asked.set()
        coalescer.ask(answer, number)

    run(work, 2, coalescer)
    assert threads["answered"] is not threads["aside"]


def test_step_aside_has_no_effect_outside_thread_pool(source: Source) -> None:
    coalescer = Coalescer(patience=LONG)
    with coalescer.aside():
        assert coalescer.ask(source.answer, 3) == 6
    run(lambda number: coalescer.ask(source.answer, number), 2, coalescer)
    assert source.rounds == [[3], [0, 1]]


def test_error_response_is_raised_in_requesting_thread() -> None:
    coalescer = Coalescer(patience=LONG)
    raised, answers = [], {}

    def odd_ones_fail(asked: Sequence[int]) -> Sequence[int | Exception]:
        return [ValueError(each) if each % 2 else each for each in asked]

    def work(number: int) -> None:
        try:
            answers[number] = coalescer.ask(odd_ones_fail, number)
        except ValueError:
            raised.append(number)

    run(work, 4, coalescer)
    assert (answers, sorted(raised)) == ({0: 0, 2: 2}, [1, 3])


def test_work_completes_if_no_thread_can_start(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And none is left behind that would go on after the invocation has ended."""
    coalescer = Coalescer(patience=0.01)
    done: list[int] = []
    real = Thread.start

    def start(thread: Thread) -> None:
        if len(done) < 2:
            raise RuntimeError("can't start new thread")
        real(thread)

    def work(number: int) -> None:
        coalescer.ask(source.answer, number)
        done.append(number)

    monkeypatch.setattr(Thread, "start", start)
    coalescer.side_by_side(work, range(4))
    assert sorted(done) == [0, 1, 2, 3]
    assert coalescer.ask(source.answer, 7) == 14, "nobody is waited for that never began"


def test_error_is_raised_in_all_threads_and_next_request_succeeds(
    source: Source,
) -> None:
    coalescer = Coalescer(patience=LONG)
    raised = []
    source.error = ValueError("no answer")

    def work(number: int) -> None:
        try:
            coalescer.ask(source.answer, number)
        except ValueError:
            raised.append(number)
        source.error = None
        coalescer.ask(source.answer, number)

    run(work, 4, coalescer)
    assert sorted(raised) == [0, 1, 2, 3]
    assert source.rounds == [[0, 1, 2, 3]] * 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_threads_stop_waiting_if_requesting_thread_exits(source: Source) -> None:
    coalescer = Coalescer(patience=LONG)
    source.error = SystemExit()
    run(lambda number: coalescer.ask(source.answer, number), 4, coalescer)
    assert source.rounds == [[0, 1, 2, 3]]


def test_too_few_responses_raise_error_in_all_threads() -> None:
    coalescer = Coalescer(patience=LONG)
    raised = []

    def too_few(asked: Sequence[int]) -> Sequence[int]:
        return asked[1:]

    def work(number: int) -> None:
        try:
            coalescer.ask(too_few, number)
        except ValueError:
            raised.append(number)

    run(work, 3, coalescer)
    assert sorted(raised) == [0, 1, 2]


def test_requests_outside_thread_pool_are_not_coalesced(source: Source) -> None:
    coalescer = Coalescer(patience=LONG)
    assert coalescer.ask(source.answer, 3) == 6
    run(lambda number: coalescer.ask(source.answer, number), 1, coalescer)
    assert source.rounds == [[3], [0]]


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("seed", range(20))
def test_response_is_never_older_than_request(seed: int) -> None:
    """Each question has a number that rises; so has each moment at which the source is read."""
    clock = count()
    chosen = random.Random(seed)
    coalescer = Coalescer(patience=chosen.choice([0.0001, LONG]))
    sources = [lambda asked: [(each, next(clock)) for each in asked] for _ in range(2)]
    plans = [[chosen.choice(sources) for _ in range(chosen.randrange(6))] for _ in range(8)]
    wrong: list[object] = []
    done: list[int] = []

    def work(number: int) -> None:
        for source in plans[number]:
            asked_at = next(clock)
            asked, read_at = coalescer.ask(source, (number, asked_at))
            if asked != (number, asked_at) or read_at < asked_at:
                wrong.append((number, asked_at, asked, read_at))
        done.append(number)

    run(work, len(plans), coalescer)
    assert (wrong, sorted(done)) == ([], list(range(8)))
