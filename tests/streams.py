"""Records of DynamoDB streams, made from the rows that the adapters write."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar

from gazette.adapters.dynamodb.runs import run_row
from gazette.domain.delivery.run import Run

from tests.builders import NOW, RETENTION
from tests.moto_tables import NAMES

Image = dict[str, dict[str, Any]]
KeyT = TypeVar("KeyT")
RowT = TypeVar("RowT")

SUBSCRIBERS, RUNS, ENGAGEMENT = "subscribers", "runs", "engagement"
assert {SUBSCRIBERS, RUNS, ENGAGEMENT} <= {*NAMES.values()}


def a_record(
    table: str, before: Image | None, after: Image | None, at: datetime = NOW
) -> dict[str, Any]:
    """A record as Lambda delivers it."""
    images = {"OldImage": before, "NewImage": after}
    return {
        "eventID": "1",
        "eventName": "REMOVE" if after is None else "MODIFY" if before else "INSERT",
        "eventSource": "aws:dynamodb",
        "eventSourceARN": f"arn:aws:dynamodb:eu-central-1:1:table/{table}/stream/2026-11-22T00:00",
        "dynamodb": {
            "ApproximateCreationDateTime": at.timestamp(),
            "SequenceNumber": "1",
            "StreamViewType": "NEW_AND_OLD_IMAGES",
            **{name: image for name, image in images.items() if image},
        },
    }


def run_image(run: Run | None) -> Image | None:
    """The row of a run as a stream contains it."""
    if run is None:
        return None
    image: Image = run_row(run, retention=RETENTION).serialize()
    return image


def run_records(history: Iterable[Run]) -> Iterator[dict[str, Any]]:
    """The records of every write of runs, given the runs as they were written, in order."""
    before: dict[object, Run] = {}
    for run in history:
        yield a_record(RUNS, run_image(before.get(run.key)), run_image(run))
        before[run.key] = run


class Recorded(dict[KeyT, RowT]):
    """The rows of a fake, and every write: the row before and after it; None for no row."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[tuple[RowT | None, RowT | None]] = []

    def __setitem__(self, key: KeyT, row: RowT) -> None:
        self.writes.append((self.get(key), row))
        super().__setitem__(key, row)

    def __delitem__(self, key: KeyT) -> None:
        self.writes.append((self.get(key), None))
        super().__delitem__(key)

    def __ior__(self, rows: Mapping[KeyT, RowT]) -> "Recorded[KeyT, RowT]":  # type: ignore[override,misc]
        for key, row in rows.items():
            self[key] = row
        return self

    def setdefault(self, key: KeyT, row: RowT) -> RowT:
        if key not in self:
            self[key] = row
        return self[key]
