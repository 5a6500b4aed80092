"""The verification of a sample of imported items."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gazette.adapters.contract import read_detail
from gazette.domain.commands import ChangeFollow, ChangeSubscriber
from gazette.domain.identity import address_hash
from gazette.domain.ports.stores import Follows, Subscribers, Suppressions
from gazette.domain.subscribers.subscriber import Erased

from gazette_cli.imports.entries import read_entries
from gazette_cli.imports.items import DETAIL_TYPES, Item, Kind, item_of, suppression_in


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables that `gazette explain` reads."""

    subscribers: Subscribers
    follows: Follows
    suppressions: Suppressions


def sample(path: Path, size: int, *, changed_at: str, seed: int) -> list[tuple[int, Item]]:
    """Return up to `size` random items of a file with their lines, in constant memory.

    Each item has the same probability (reservoir sampling). Raises OSError.
    """
    chosen: list[tuple[int, Item]] = []
    draw = random.Random(seed)
    seen = 0
    for entry in read_entries(path):
        item = item_of(entry, changed_at=changed_at)
        if not isinstance(item, Item):
            continue
        seen += 1
        if len(chosen) < size:
            chosen.append((entry.line, item))
        elif (place := draw.randrange(seen)) < size:
            chosen[place] = (entry.line, item)
    return sorted(chosen, key=lambda each: each[0])


def differences(
    items: list[tuple[int, Item]], tables: Tables, *, now: datetime
) -> Iterator[tuple[int, Kind, str]]:
    """Yield the items that the stage does not have, with the line and the difference."""
    for line, item in items:
        if difference := _difference(item, tables, now):
            yield line, item.kind, difference


def _difference(item: Item, tables: Tables, now: datetime) -> str:
    if item.kind is Kind.SUPPRESSION:
        stored = tables.suppressions.get(suppression_in(item, now=now).address)
        return "" if stored else "the address is not suppressed"
    command = read_detail(DETAIL_TYPES[item.kind], item.detail).command
    match command:
        case ChangeSubscriber(given):
            reader = tables.subscribers.get(given.user_id)
            if reader is None:
                return "the reader is unknown"
            if isinstance(reader, Erased):
                return ""
            if reader.changed_at < given.changed_at:
                return f"the profile is older: {reader.changed_at.isoformat()}"
            is_same = address_hash(reader.email) == address_hash(given.email)
            is_newer = reader.changed_at > given.changed_at
            return "" if is_same or is_newer else "the address differs"
        case ChangeFollow(user_id, entity, _, at):
            follow = tables.follows.get(entity, user_id)
            if follow is None:
                return "the follow is unknown"
            return "" if any(each >= at for each, _ in follow.changes) else "the follow is older"
        case _:
            return "the item is invalid"
