"""The sent runs to replay: a sample of the table, or the runs of one reader."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from gazette_cli.find.scan import SEGMENTS, size_of
from gazette_support.bootstrap.replay import Replay
from gazette_support.steps.replay import Sample, runs_of_reader, take_sample

_PART, _PARTS = 1_000_000, 2**19
"""The size of a part of the table in bytes, and the maximum number of parts.

DynamoDB allows a million segments.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html
"""

_MOST_PARTS = 1_000
"""The maximum number of parts to read. Parts of one megabyte use about 125,000 read units in total.
"""


def sent_runs(
    reading: Replay, table: str, *, since: datetime, sample: int, user: str | None
) -> Sample:
    """Return a sample of the runs that were sent at `since` or later. If `user` is specified,
    return only this reader's runs.
    """
    if user is not None:
        return runs_of_reader(user, sample, since=since, runs=reading.runs)
    parts, size = SEGMENTS, size_of(table).size
    while parts < _PARTS and parts * _PART < size:
        parts *= 2
    with ThreadPoolExecutor(SEGMENTS) as pool:
        return take_sample(
            sample,
            since=since,
            parts=parts,
            most_parts=_MOST_PARTS,
            sent=reading.sent,
            each=pool.map,
        )
