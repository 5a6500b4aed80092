"""A fetch on its queue is read as it was written."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from gazette.adapters.content.fetch_messages import decode_fetch, encode_fetch
from gazette.domain.content.ports import Fetch, QueuedFetch
from gazette.domain.errors import InvalidEvent
from hypothesis import given
from hypothesis import strategies as st

INSTANTS = st.datetimes(min_value=datetime(2020, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
FETCHES = st.builds(Fetch, st.text(), st.text(), INSTANTS, st.integers(0, 99), st.none() | INSTANTS)


@given(FETCHES)
def test_fetch_message_round_trips(fetch: Fetch) -> None:
    encoded = encode_fetch(QueuedFetch(fetch, timedelta(seconds=7)))
    assert decode_fetch(encoded.body) == fetch
    assert encoded.delay == timedelta(seconds=7)


def test_fetch_message_of_earlier_release_can_be_read() -> None:
    body = {"user_id": "ann", "schedule": "daily", "due_at": "2026-11-22T07:00:00+00:00"}
    assert decode_fetch(json.dumps(body)).asked_at is None


@pytest.mark.parametrize("body", ["", "{}", "[]", '{"user_id": "a", "schedule": "b"}'])
def test_malformed_fetch_error_names_expected_fields(body: str) -> None:
    with pytest.raises(InvalidEvent, match="user_id, schedule and due_at"):
        decode_fetch(body)
