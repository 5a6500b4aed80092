"""The messages of one invocation in threads: each succeeds or fails by itself."""

import json
import sys
from collections.abc import Callable, Iterator
from threading import Barrier, Thread

import pytest
from gazette.adapters.cached import Coalescer, once
from gazette.domain.errors import NotYet
from gazette.observability import Message, TimeLeft, count, each_message, metrics, observed

from tests.functions.conftest import Context
from tests.functions.messages import records

TEN = records(*(str(number) for number in range(10)))
WAIT = 10
"""Seconds until a thread gives up on the others."""


@pytest.fixture
def eager() -> Iterator[None]:
    """Threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def answer(handle: Callable[[Message, TimeLeft], None]) -> list[str]:
    """The ids of the messages that come again."""
    with observed(Context()):
        failures = each_message(TEN, Context(), handle, run_all=Coalescer().side_by_side)
    return [each["itemIdentifier"] for each in failures["batchItemFailures"]]


def counted(name: str, printed: str) -> int:
    """The sum of a metric over all that was written."""
    written = [json.loads(line) for line in printed.splitlines() if "_aws" in line]
    return sum(sum(metric.get(name, ())) for metric in written)


def test_all_messages_are_worked_off_at_the_same_time() -> None:
    everybody = Barrier(10)

    def handle(_message: Message, _: TimeLeft) -> None:
        everybody.wait(WAIT)

    assert answer(handle) == []


def test_a_message_that_fails_leaves_the_others_alone(capsys: pytest.CaptureFixture[str]) -> None:
    done = []

    def handle(message: Message, _: TimeLeft) -> None:
        if message.body == "3":
            raise ValueError("three")
        if message.body == "5":
            raise NotYet("five")
        done.append(message.body)

    assert answer(handle) == ["m3", "m5"]
    assert sorted(done) == ["0", "1", "2", "4", "6", "7", "8", "9"]
    printed = capsys.readouterr().out
    assert (counted("failed", printed), counted("returned_to_queue", printed)) == (1, 1)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_message_whose_thread_ended_without_an_answer_comes_again() -> None:
    def handle(message: Message, _: TimeLeft) -> None:
        if message.body == "7":
            sys.exit()

    assert answer(handle) == ["m7"]


def test_of_two_copies_of_a_message_one_that_fails_is_enough() -> None:
    """SQS may deliver a message twice, also to one invocation. Both have the same id."""
    twice = {"Records": [TEN["Records"][0], TEN["Records"][0]]}
    calls = iter((True, False))

    def handle(_message: Message, _: TimeLeft) -> None:
        if next(calls):
            raise ValueError("the first")

    with observed(Context()):
        failures = each_message(twice, Context(), handle, run_all=Coalescer().side_by_side)
    assert failures == {"batchItemFailures": [{"itemIdentifier": "m0"}]}


@pytest.mark.usefixtures("eager")
def test_threads_that_count_at_the_same_time_lose_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Powertools writes and clears a metric that has a hundred values, again and again here."""

    def handle(_message: Message, _: TimeLeft) -> None:
        for _each in range(1000):
            count("counted")

    metrics().clear_metrics()
    assert answer(handle) == []
    assert counted("counted", capsys.readouterr().out) == 10 * 1000


@pytest.mark.usefixtures("eager")
def test_what_many_threads_ask_for_is_built_once() -> None:
    built = []
    everybody = Barrier(10)

    @once
    def build() -> int:
        built.append(1)
        return len(built)

    def ask() -> None:
        everybody.wait(WAIT)
        assert build() == 1

    threads = [Thread(target=ask) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [1]


def test_what_could_not_be_built_is_built_at_the_next_call() -> None:
    tries = iter((ValueError("the first time"), None))

    @once
    def build() -> str:
        if error := next(tries):
            raise error
        return "built"

    with pytest.raises(ValueError, match="the first time"):
        build()
    assert build() == "built"
