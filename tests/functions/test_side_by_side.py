"""The messages of one invocation in threads: each succeeds or fails by itself."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Barrier, Event, Thread
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ReadTimeoutError
from gazette.adapters.aws.queues import encode_failed_run, encode_run_key
from gazette.adapters.cached import Coalescer, once
from gazette.adapters.dynamodb.feedback.statistics import DynamoCategoryStats
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.mail.ses import SesMailer
from gazette.bootstrap.parts import sending
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.delivery.signals import Accepted
from gazette.domain.errors import NotYet
from gazette.domain.feedback.reputation import SPAN, CategoryCounts
from gazette.domain.model import DAILY, RunKey
from gazette.observability import Message, TimeLeft, count, each_message, metrics, observed

from tests.builders import KEY, a_mail
from tests.functions.conftest import Cloud, Context, fan_out
from tests.functions.messages import complaint, delivery_event, event, profile, records

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

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
        failures = each_message(
            TEN, Context(), handle, come_back=no_sooner, run_all=Coalescer().side_by_side
        )
    return [each["itemIdentifier"] for each in failures["batchItemFailures"]]


def no_sooner(_messages: Sequence[Message], _time_left: TimeLeft) -> None:
    """They come back after the visibility time-out."""


def counted(name: str, printed: str) -> int:
    """The sum of a metric over all that was written."""
    written = [json.loads(line) for line in printed.splitlines() if "_aws" in line]
    return sum(sum(metric.get(name, ())) for metric in written)


def test_all_messages_of_a_batch_are_processed_concurrently() -> None:
    everybody = Barrier(10)

    def handle(_message: Message, _: TimeLeft) -> None:
        everybody.wait(WAIT)

    assert answer(handle) == []


def test_failing_message_does_not_affect_the_rest_of_the_batch(
    capsys: pytest.CaptureFixture[str],
) -> None:
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
def test_message_is_retried_if_its_thread_ended_without_a_result() -> None:
    def handle(message: Message, _: TimeLeft) -> None:
        if message.body == "7":
            sys.exit()

    assert answer(handle) == ["m7"]


def test_duplicate_message_fails_if_either_copy_fails() -> None:
    """SQS may deliver a message twice, also to one invocation. Both have the same id."""
    twice = {"Records": [TEN["Records"][0], TEN["Records"][0]]}
    calls = iter((True, False))

    def handle(_message: Message, _: TimeLeft) -> None:
        if next(calls):
            raise ValueError("the first")

    with observed(Context()):
        failures = each_message(
            twice, Context(), handle, come_back=no_sooner, run_all=Coalescer().side_by_side
        )
    assert failures == {"batchItemFailures": [{"itemIdentifier": "m0"}]}


@pytest.mark.usefixtures("eager")
def test_concurrent_counting_loses_no_values(
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
def test_concurrent_threads_build_an_object_once() -> None:
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


def test_failed_build_is_retried_at_the_next_call() -> None:
    tries = iter((ValueError("the first time"), None))

    @once
    def build() -> str:
        if error := next(tries):
            raise error
        return "built"

    with pytest.raises(ValueError, match="the first time"):
        build()
    assert build() == "built"


def ten_that_are_due(cloud: Cloud) -> list[str]:
    """The messages of ten readers who each have a digest; generate is warm."""
    readers = [f"reader{number}" for number in range(10)]
    for user_id in readers:
        cloud.say("subscriber.changed", profile(user_id))
        cloud.say("event.created", event(1, user_id=user_id))
    for user_id in readers:
        fan_out(cloud, user_id)
    cloud.warm_up("generate")
    return [encode_run_key(RunKey(user_id, DAILY, 1)) for user_id in readers]


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("table", ["subscribers", "suppressions"])
def test_unprocessed_key_fails_only_its_own_message(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    messages = ten_that_are_due(cloud)
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]
    hot: list[object] = []

    def throttled(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        asked = request.get("RequestItems", {}).get(table)
        if operation != "BatchGetItem" or not asked:
            return real(client, operation, request)
        hot[:] = hot or asked["Keys"][:1]
        others = [key for key in asked["Keys"] if key not in hot]
        if not others:
            return {"Responses": {}, "UnprocessedKeys": {table: asked}}
        items = request["RequestItems"] | {table: asked | {"Keys": others}}
        answer = real(client, operation, {"RequestItems": items})
        return answer | {"UnprocessedKeys": {table: asked | {"Keys": [*hot]}}}

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", throttled)
        failures = cloud.invoke("generate", records(*messages))["batchItemFailures"]
    assert len(failures) == 1
    assert len(cloud.sent()) == 9
    cloud.work("generate", *messages)
    assert len(cloud.sent()) == 10


@pytest.mark.parametrize(
    ("milliseconds", "is_waited_for"), [(1000, False), (26, False), (25, True)]
)
def test_thread_waiting_for_a_permit_does_not_block_coalescing(
    monkeypatch: pytest.MonkeyPatch, milliseconds: int, is_waited_for: bool
) -> None:
    """Or emails whose permits are spaced would go out together."""
    sending.coalescer.cache_clear()
    coalescer = sending.coalescer()
    monkeypatch.setattr(coalescer, "_patience", 3 * WAIT)
    answered, rounds = Event(), []
    within = 0.2 if is_waited_for else WAIT
    monkeypatch.setattr("time.sleep", lambda _: answered.wait(within))

    def answer(asked: Sequence[int]) -> Sequence[int]:
        rounds.append(sorted(asked))
        return asked

    def work(number: int) -> None:
        if number == 0:
            sending._sleep(timedelta(milliseconds=milliseconds))
        coalescer.ask(answer, number)
        answered.set()

    coalescer.side_by_side(work, range(2))
    assert rounds == ([[0, 1]] if is_waited_for else [[1], [0]])


def test_thread_waiting_for_the_provider_does_not_block_coalescing() -> None:
    coalescer, answered = Coalescer(patience=3 * WAIT), Event()

    class Slow:
        def send_email(self, **_: object) -> dict[str, str]:
            assert answered.wait(WAIT), "the others wait for this email"
            return {"MessageId": "m1"}

    mailer = SesMailer(
        cast("SESV2Client", Slow()),
        sender="digest@example.com",
        configuration_set="digest",
        waiting=coalescer.aside,
    )
    outcomes = []

    def work(number: int) -> None:
        if number == 0:
            outcomes.append(mailer.send(a_mail(), 1))
        coalescer.ask(lambda asked: asked, number)
        answered.set()

    coalescer.side_by_side(work, range(2))
    assert outcomes == [Accepted(1, "m1")]


def test_mailers_of_both_streams_do_not_block_coalescing(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    monkeypatch.setattr(sending, "SesMailer", lambda *_, **named: made.append(named["waiting"]))
    cloud.warm_up("generate")
    assert made == [sending.coalescer().aside] * 2


@pytest.mark.usefixtures("later")
def test_busy_count_row_does_not_block_remaining_categories(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A complaint counts when it is first heard of, or never."""
    for user_id, category in (("ann", "comment"), ("bo", "like")):
        cloud.say("subscriber.changed", profile(user_id))
        cloud.say("event.created", event(1, user_id=user_id) | {"category": category})
    cloud.work("generate", *fan_out(cloud))
    cloud.work("feedback", delivery_event("Sent", "ann-daily-1", record="sent"))
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def busy(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if request.get("Key", {}).get("category") == {"S": "like"}:
            raise ReadTimeoutError(endpoint_url="dynamodb")
        return real(client, operation, request)

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", busy)
        cloud.work(
            "feedback",
            delivery_event("Sent", "bo-daily-1", record="sent"),
            complaint("ann-daily-1"),
        )
    found = DynamoCategoryStats("category_stats").since("comment", datetime.now(UTC) - SPAN)
    assert found == CategoryCounts(1, 0, 1)


@pytest.mark.parametrize("step", ["generate", "resend"])
def test_concurrent_message_processing_binds_no_table(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Adapters are bound when a process starts, and never while it processes messages."""
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    (message,) = fan_out(cloud)
    cloud.warm_up(step)
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    (run,) = runs.chain(KEY)
    failed = replace(run, status=Status.FAILED, reason=Reason.ATTEMPTS_EXHAUSTED, attempt=1)
    runs.swap(run, failed)
    bound: list[object] = []
    for name in ("schedules", "control.batches", "runs", "subscribers"):
        monkeypatch.setattr(f"gazette.adapters.dynamodb.{name}.bind", bound.append)
    given_up = encode_failed_run(KEY).body if step == "resend" else message
    cloud.work(step, given_up)
    assert bound == []
    if step == "resend":
        assert cloud.queued("resend"), "it was redriven"
