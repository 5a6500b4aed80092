"""Messages between steps are read back as written; anything else is refused."""

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest
from gazette.adapters.aws.queues import (
    SqsQuarantine,
    SqsQueue,
    SqsStreamQueues,
    decode_followers,
    decode_run_key,
    decode_shard,
    encode_followers,
    encode_run,
    encode_run_key,
    encode_shard,
)
from gazette.domain.errors import InvalidEvent, Unavailable
from gazette.domain.model import RunKey
from gazette.domain.ports.queues import FollowerPage, QueuedRun, Shard, Walk
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.scheduling.kinds import immediate_schedule
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import KEY, NOW

AT_ONCE = immediate_schedule("post#p1")

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class RecordingSqs:
    """Stands where boto3's client would: keeps the calls, and refuses what it is told to."""

    def __init__(self, *, refused: int = 0) -> None:
        self.batches: list[list[dict[str, Any]]] = []
        self.urls: list[str] = []
        self.messages: list[dict[str, Any]] = []
        self._refused = refused

    def send_message_batch(self, *, QueueUrl: str, Entries: Any) -> Any:  # noqa: N803
        self.batches.append(Entries)
        self.urls.append(QueueUrl)
        return {"Failed": [{"Message": "slow down"}] * self._refused}

    def send_message(self, **message: Any) -> None:
        self.messages.append(message)

    @property
    def client(self) -> "SQSClient":
        """Typed as what the queues take."""
        return cast("SQSClient", self)

    def bodies(self) -> list[str]:
        return [entry["MessageBody"] for batch in self.batches for entry in batch]


names = st.text(min_size=1, max_size=30)
user_ids = st.text([chr(code) for code in range(0x21, 0x7F)], max_size=64)
messages = st.one_of(
    st.builds(Walk, names, names, names, user_ids),
    st.builds(FollowerPage, names, names, names, user_ids, user_ids),
)


@given(st.lists(messages, min_size=1, max_size=10))
@settings(max_examples=60, deadline=None)
def test_followers_queue_message_round_trips(
    sent: list[Walk | FollowerPage],
) -> None:
    sqs = RecordingSqs()
    SqsQueue(sqs.client, "url", encode_followers).send(sent)
    assert [decode_followers(body) for body in sqs.bodies()] == sent
    assert len({entry["Id"] for entry in sqs.batches[0]}) == len(sent)


@given(st.lists(st.sampled_from(("daily", "weekly", "custom", AT_ONCE)), max_size=25))
@settings(max_examples=60, deadline=None)
def test_each_run_is_queued_once_on_queue_of_its_stream(
    schedules: list[str],
) -> None:
    sqs = RecordingSqs()
    runs = [
        QueuedRun(RunKey("ann", schedule, number), timedelta(0))
        for number, schedule in enumerate(schedules)
    ]
    SqsStreamQueues(sqs.client, digest_url="digest", immediate_url="immediate").send(iter(runs))
    for url in ("digest", "immediate"):
        found = [
            decode_run_key(entry["MessageBody"])
            for to, batch in zip(sqs.urls, sqs.batches, strict=True)
            for entry in batch
            if to == url
        ]
        wanted = [run.key for run in runs if (run.key.schedule == AT_ONCE) is (url == "immediate")]
        assert found == wanted
    assert all(sqs.batches)


def test_first_followers_message_needs_no_position() -> None:
    body = json.dumps({"entity": "post#p1", "activity_id": "a1", "side": "blog#b1"})
    assert decode_followers(body) == Walk("post#p1", "a1", "blog#b1", after="")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "not json",
        "null",
        "1",
        "[]",
        '"post#p1"',
        "{}",
        '{"entity": "post#p1", "activity_id": "a1"}',
        '{"entity": "post#p1", "activity_id": "a1", "side": "s", "through": "z"}',
        '{"entity": "post#p1", "activity_id": "a1", "side": "s", "after": "", "more": 1}',
        '{"user_id": "ann", "schedule": "daily", "sequence": 1}',
    ],
)
def test_malformed_followers_message_is_rejected(body: str) -> None:
    with pytest.raises(InvalidEvent, match="followers queue"):
        decode_followers(body)


@given(st.text() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
@settings(max_examples=75, deadline=None)
def test_any_body_is_decoded_or_rejected(body: str) -> None:
    for decode in (decode_followers, decode_run_key, decode_shard):
        with pytest.raises(InvalidEvent):
            decode(body)


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [(0, 0), (0.001, 1), (1, 1), (1.000001, 2), (40.999, 41), (41, 41), (899.5, 900)],
)
def test_message_delay_is_rounded_up_to_whole_seconds(delay: float, seconds: int) -> None:
    sqs = RecordingSqs()
    SqsQueue(sqs.client, "url", encode_run).send([QueuedRun(KEY, timedelta(seconds=delay))])
    assert sqs.batches[0][0]["DelaySeconds"] == seconds


@given(st.builds(RunKey, user_ids, st.sampled_from(["daily", "weekly"]), st.integers(0, 10**10)))
@settings(max_examples=50, deadline=None)
def test_queued_run_round_trips(key: RunKey) -> None:
    assert decode_run_key(encode_run_key(key)) == key


def test_twelve_shards_are_queued_in_two_calls() -> None:
    sqs = RecordingSqs()
    shards = [Shard(number, slot_of(NOW), slot_of(NOW) + SLOT) for number in range(12)]
    SqsQueue(sqs.client, "url", encode_shard).send(shards)
    assert [len(batch) for batch in sqs.batches] == [10, 2]
    assert [decode_shard(body) for body in sqs.bodies()] == shards


def test_message_rejected_by_sqs_raises_error() -> None:
    sqs = RecordingSqs(refused=1)
    with pytest.raises(Unavailable, match="1 of 1 messages: slow down"):
        SqsQueue(sqs.client, "url", encode_followers).send([Walk("post#p1", "a1", "post#p1")])
    with pytest.raises(Unavailable):
        SqsQueue(sqs.client, "url", encode_run).send([QueuedRun(KEY, timedelta(0))])


@pytest.mark.parametrize(
    ("reason", "kept"),
    [("plain", "plain"), ("a\x00b\n\ud800", "a?b??"), ("x" * 2000, "x" * 1000)],
)
def test_unsupported_characters_in_reason_are_replaced_for_sqs(reason: str, kept: str) -> None:
    sqs = RecordingSqs()
    SqsQuarantine(sqs.client, "url").keep("the body", reason)
    [message] = sqs.messages
    assert message["MessageBody"] == "the body"
    assert message["MessageAttributes"]["reason"]["StringValue"] == kept
