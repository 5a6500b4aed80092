"""What the ports of the queues promise, held against our fakes and against SQS on moto."""

import json
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from gazette.adapters.aws.intake import SqsIntake
from gazette.adapters.aws.queues import (
    SqsQuarantine,
    SqsQueue,
    SqsReceived,
    decode_followers,
    decode_partition,
    decode_run_key,
    decode_shard,
    decode_tick,
    encode_failed_run,
    encode_followers,
    encode_partition,
    encode_run,
    encode_shard,
    was_given_up,
)
from gazette.domain.errors import InvalidEvent, Unavailable
from gazette.domain.model import RunKey
from gazette.domain.ports.queues import FollowerPage, QueuedRun, Shard, Walk

from tests.builders import KEY, NOW
from tests.fakes import FakeIntake, FakeQuarantine, FakeQueue

WALK = Walk("post#Größe \u202e#1\ufffe", 'a "1"', "post#p1")
PAGE = FollowerPage("post#p1", "a1", "post#p1", after="", through="~!\\")


@dataclass(frozen=True)
class Queue:
    """A queue of SQS on moto."""

    client: Any
    url: str

    def taken(self) -> list[dict[str, Any]]:
        """What can be received now."""
        taken: list[dict[str, Any]] = []
        while messages := self.client.receive_message(
            QueueUrl=self.url, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
        ).get("Messages"):
            taken += messages
        return taken


@pytest.fixture
def queue(engine: str) -> Queue | None:
    """None where our fake is tested."""
    if engine != "moto":
        return None
    client = boto3.client("sqs")
    return Queue(client, client.create_queue(QueueName="queue")["QueueUrl"])


def test_walks_and_follower_pages_are_received_as_sent(queue: Queue | None) -> None:
    sent: list[Walk | FollowerPage] = [WALK, PAGE, Walk("post#p1", "a1", "post#p1", after="z")]
    fake = FakeQueue[Walk | FollowerPage]()
    port = SqsQueue(queue.client, queue.url, encode_followers) if queue else fake
    port.send(sent)
    taken = [decode_followers(each["Body"]) for each in queue.taken()] if queue else fake.sent
    assert taken == sent


def test_runs_are_received_as_sent(queue: Queue | None) -> None:
    sent = [QueuedRun(KEY, timedelta(0)), QueuedRun(RunKey("~!", "weekly", 2), timedelta(0))]
    fake = FakeQueue[QueuedRun]()
    port = SqsQueue(queue.client, queue.url, encode_run) if queue else fake
    port.send(sent)
    taken = [decode_run_key(each["Body"]) for each in queue.taken()] if queue else []
    assert (taken or [run.key for run in fake.sent]) == [run.key for run in sent]


@pytest.mark.parametrize(("number", "calls"), [(0, 0), (1, 1), (10, 1), (11, 2)])
def test_ten_messages_take_a_single_call(queue: Queue | None, number: int, calls: int) -> None:
    sent = [QueuedRun(RunKey(f"user{each}", "daily", 1), timedelta(0)) for each in range(number)]
    if queue is None:
        fake = FakeQueue[QueuedRun]()
        fake.send(sent)
        assert (len(fake.sent), fake.calls) == (number, calls)
    else:
        SqsQueue(queue.client, queue.url, encode_run).send(sent)
        assert len(queue.taken()) == number


def test_ten_of_the_longest_messages_fit_a_call(queue: Queue | None) -> None:
    """Ids of 128 characters, each of which takes twelve bytes as JSON; a call has a limit too."""
    entity = f"{'t' * 32}#{'😀' * 128}"
    longest = FollowerPage(entity, "😀" * 128, entity, "~" * 64, "~" * 64)
    if queue:
        SqsQueue(queue.client, queue.url, encode_followers).send([longest] * 10)
        assert len(queue.taken()) == 10


def test_any_number_of_shards_is_received_as_sent(queue: Queue | None) -> None:
    sent = [Shard(number, NOW - timedelta(minutes=10), NOW) for number in range(23)]
    fake = FakeQueue[Shard]()
    port = SqsQueue(queue.client, queue.url, encode_shard) if queue else fake
    port.send(shard for shard in sent)
    taken = [decode_shard(each["Body"]) for each in queue.taken()] if queue else fake.sent
    assert sorted(taken, key=lambda shard: shard.number) == sent


@pytest.mark.parametrize(
    "reason", ["detail.user_id: missing", "Größe \ud800\x00 \u202e", "x" * 9000]
)
def test_quarantined_message_is_stored_with_its_reason(queue: Queue | None, reason: str) -> None:
    if queue is None:
        fake = FakeQuarantine()
        fake.keep("the body", reason)
        assert fake.kept == [("the body", reason)]
        return
    SqsQuarantine(queue.client, queue.url).keep("the body", reason)
    (kept,) = queue.taken()
    assert kept["Body"] == "the body"
    told = kept["MessageAttributes"]["reason"]["StringValue"]
    assert told[:6] == reason[:6]
    assert len(told) == min(len(reason), 1000)


def test_submitted_message_is_received_as_sent(queue: Queue | None) -> None:
    fake = FakeIntake()
    port = SqsIntake(queue.client, queue.url) if queue else fake
    assert port.put("the body")
    taken = [each["Body"] for each in queue.taken()] if queue else fake.taken
    assert taken == ["the body"]


def answer_of(status: int, *, repetitions: int = 0) -> ClientError:
    about = {"HTTPStatusCode": status, "RetryAttempts": repetitions}
    return ClientError({"Error": {"Code": "x"}, "ResponseMetadata": about}, "SendMessage")  # type: ignore[typeddict-item]


class Failing:
    """A client of SQS whose calls fail."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def send_message(self, **_: str) -> None:
        raise self._error


def test_message_that_sqs_rejects_at_once_is_certainly_not_queued() -> None:
    failing: Any = Failing(answer_of(403))
    assert not SqsIntake(failing, "url").put("the body")


@pytest.mark.parametrize(
    "error",
    [
        answer_of(500),
        answer_of(403, repetitions=1),
        ClientError({}, "SendMessage"),
        ReadTimeoutError(endpoint_url="https://sqs.us-east-1.amazonaws.com"),
    ],
    ids=["server error", "after a repetition", "without a status", "no answer"],
)
def test_message_without_a_certain_answer_may_be_queued(error: Exception) -> None:
    failing: Any = Failing(error)
    with pytest.raises(Unavailable):
        SqsIntake(failing, "url").put("the body")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        '"text"',
        json.dumps({"entity": "post#p1"}),
        json.dumps({"entity": "e", "activity_id": "a", "side": "s", "before": ""}),
        json.dumps({"entity": "e", "activity_id": "a", "through": "z"}),
    ],
)
def test_invalid_followers_message_is_described(body: str) -> None:
    with pytest.raises(InvalidEvent, match="followers queue must be a JSON object"):
        decode_followers(body)


def test_partitions_are_received_as_sent(queue: Queue | None) -> None:
    fake = FakeQueue[int]()
    port = SqsQueue(queue.client, queue.url, encode_partition) if queue else fake
    port.send(range(16))
    found = fake.sent
    if queue:
        found = [decode_partition(message["Body"]) for message in queue.taken()]
    assert sorted(found) == list(range(16))


def test_sweep_tick_is_received_as_sent(
    queue: Queue | None,
) -> None:
    body = encode_partition(3, tick=NOW).body
    if queue:
        SqsQueue(queue.client, queue.url, partial(encode_partition, tick=NOW)).send([3])
        (message,) = queue.taken()
        body = message["Body"]
    assert (decode_partition(body), decode_tick(body)) == (3, NOW)
    assert json.loads(body)["partition"] == 3


def test_sweep_message_of_the_previous_version_has_no_tick() -> None:
    assert decode_tick('{"partition": 3}') is None


@pytest.mark.parametrize("tick", ["5", '"soon"', "[]", "true", '"0001-01-01T00:00:00+14:00"'])
def test_invalid_sweep_tick_is_rejected(tick: str) -> None:
    with pytest.raises(InvalidEvent, match="`tick`"):
        decode_tick(f'{{"partition": 3, "tick": {tick}}}')


@pytest.mark.parametrize("body", ["", "{}", '{"partition": "all"}', "[]"])
def test_sweep_message_without_a_partition_is_rejected(body: str) -> None:
    with pytest.raises(InvalidEvent, match="sweep queue"):
        decode_partition(body)


def test_dead_letter_names_its_run_and_is_marked_as_given_up(queue: Queue | None) -> None:
    fake = FakeQueue[RunKey]()
    port = SqsQueue(queue.client, queue.url, encode_failed_run) if queue else fake
    port.send([KEY])
    if queue:
        (message,) = queue.taken()
        assert decode_run_key(message["Body"]) == KEY
        assert was_given_up(message["Body"])
    else:
        assert fake.sent == [KEY]


def test_run_message_is_not_marked_as_given_up(queue: Queue | None) -> None:
    if queue:
        SqsQueue(queue.client, queue.url, encode_run).send([QueuedRun(KEY, timedelta(0))])
        (message,) = queue.taken()
        assert not was_given_up(message["Body"])


def test_message_can_be_hidden_beyond_the_visibility_timeout(queue: Queue | None) -> None:
    if queue:
        SqsQueue(queue.client, queue.url, encode_run).send([QueuedRun(KEY, timedelta(0))])
        (message,) = queue.taken()
        received = SqsReceived(queue.client, queue.url, message["ReceiptHandle"])
        received.hide(timedelta(0))
        (again,) = queue.taken()
        received = SqsReceived(queue.client, queue.url, again["ReceiptHandle"])
        received.hide(timedelta(hours=8))
        assert queue.taken() == []
        received.hide(timedelta(0))
        assert len(queue.taken()) == 1


def test_failure_to_hide_or_send_a_message_is_unavailable(queue: Queue | None) -> None:
    if queue:
        queue.client.delete_queue(QueueUrl=queue.url)
        with pytest.raises(Unavailable):
            SqsReceived(queue.client, queue.url, "handle").hide(timedelta(minutes=1))
        with pytest.raises(Unavailable):
            SqsQueue(queue.client, queue.url, encode_failed_run).send([KEY])
        with pytest.raises(Unavailable):
            SqsQueue(queue.client, queue.url, encode_partition).send(range(2))
