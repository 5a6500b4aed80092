"""A minimum for daily digests on a part of the demo's week."""

from datetime import timedelta
from itertools import islice

from proofs.attention.worth import digests, week


def test_minimum_sends_fewer_digests_and_each_event_once() -> None:
    events = dict(islice(week().items(), 80))
    off, on = digests(events, None), digests(events, (4, 3))
    assert (off.lost, off.twice, on.lost, on.twice) == (0, 0, 0, 0)
    assert len(off.waits) == len(on.waits) == sum(map(len, events.values()))
    assert on.sent < off.sent
    assert on.with_one < off.with_one
    assert max(on.waits) < timedelta(days=3 + 1)
