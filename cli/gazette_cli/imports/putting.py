"""Put the items of a checked file, kind by kind, and continue where an earlier run stopped."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any, Protocol

from gazette.domain.subscribers.suppression import Suppression

from gazette_cli.imports.entries import BEGIN, Place, read_entries
from gazette_cli.imports.estimate import A_LIST
from gazette_cli.imports.items import DETAIL_TYPES, Item, Kind, item_of, suppression_in
from gazette_cli.imports.pacing import BackPressure, TokenBucket
from gazette_cli.imports.state import State

A_CHUNK = 1000
"""The maximum number of items between two updates of the state: ten entries of a hundred items.

A chunk has at most the items of a second, and of the messages that may wait in the ingest queue,
so that the import stops soon if ingest is behind.
"""


class Progress(Protocol):
    """A display of the progress."""

    def put(self, kind: Kind, done: int, total: int) -> None:
        """Show how many items of a kind are acknowledged."""

    def waiting(self, messages: int) -> None:
        """Show that the import waits for ingest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A stage that receives items."""

    publish: Callable[[Sequence[dict[str, Any]], str], object]
    """Publish details of a detail type, and return when EventBridge has accepted all of them."""

    suppress: Callable[[Sequence[Suppression]], object]
    """Suppress addresses, and return when all of them are stored."""

    bucket: TokenBucket
    pressure: BackPressure


def put_all(
    path: Path, state: State, state_file: Path, *, to: Target, progress: Progress, now: datetime
) -> int:
    """Put the items that are not acknowledged yet, and wait until ingest has processed them.

    Return the number of messages that are not processed. Raises OSError and the errors of `to`.
    """
    kinds = [*Kind]
    for kind in kinds[kinds.index(Kind(state.kind)) :]:
        if kind != state.kind:
            state.kind, state.place = kind, BEGIN
        total = state.totals[kind]
        if not total:
            continue
        progress.put(kind, state.acknowledged[kind], total)
        items = _items(path, state.place, kind, changed_at=state.changed_at)
        most = min(A_CHUNK, to.bucket.burst, A_LIST * max(1, to.pressure.most))
        while chunk := list(islice(items, most)):
            to.bucket.take(len(chunk))
            if kind is Kind.SUPPRESSION:
                to.suppress([suppression_in(item, now=now) for item, _ in chunk])
            else:
                to.pressure.wait(ceil(len(chunk) / A_LIST), progress.waiting)
                to.publish([item.detail for item, _ in chunk], DETAIL_TYPES[kind])
            state.place = chunk[-1][1]
            state.acknowledged[kind] += len(chunk)
            state.save(state_file)
            progress.put(kind, state.acknowledged[kind], total)
            if state.acknowledged[kind] >= total:
                break
    is_published = state.totals[Kind.SUBSCRIBER] or state.totals[Kind.FOLLOW]
    unprocessed = to.pressure.drain(progress.waiting) if is_published else 0
    state.is_finished = True
    state.save(state_file)
    return unprocessed


def _items(
    path: Path, start: Place, kind: Kind, *, changed_at: str
) -> Iterator[tuple[Item, Place]]:
    for entry in read_entries(path, start):
        item = item_of(entry, changed_at=changed_at)
        if isinstance(item, Item) and item.kind is kind:
            yield item, entry.after
