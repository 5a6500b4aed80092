"""The items of an import: profiles, follows and suppressions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from gazette.adapters.contract import read_detail
from gazette.domain.commands import Command, from_the_future
from gazette.domain.feedback.reports import DeliveryReport
from gazette.domain.subscribers.suppression import Suppression

from gazette_cli.imports.entries import Entry
from gazette_cli.suppression.lists import Unreadable, suppression_of


class Kind(StrEnum):
    """A kind of item, in the order in which the kinds are imported."""

    SUPPRESSION = "suppression"
    SUBSCRIBER = "subscriber"
    FOLLOW = "follow"

    @property
    def plural(self) -> str:
        """The name of several items."""
        return "profiles" if self is Kind.SUBSCRIBER else f"{self.value}s"


DETAIL_TYPES: Mapping[Kind, str] = {
    Kind.SUBSCRIBER: "subscriber.changed",
    Kind.FOLLOW: "follow.created",
}

_NEITHER = f"must be an object with one of the fields {', '.join(Kind)}"


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a file."""

    kind: Kind
    key: str
    """The identity of the item. Two items of a file must not have the same."""

    detail: dict[str, Any]
    """The detail of the event, or the fields of the suppression."""


def item_of(entry: Entry, *, changed_at: str) -> Item | str:
    """Return the item in an entry, or the problem.

    `changed_at` is the time of details without one, or empty.
    """
    if entry.problem:
        return entry.problem
    value = entry.value
    if not isinstance(value, dict) or len(value) != 1 or not value.keys() <= set(Kind):
        return _NEITHER
    ((name, detail),) = value.items()
    if not isinstance(detail, dict):
        return f"{name}: must be an object"
    kind = Kind(name)
    if kind is not Kind.SUPPRESSION and changed_at and "changed_at" not in detail:
        detail = {**detail, "changed_at": changed_at}
    return Item(kind, _key(kind, detail), detail)


def problems_in(item: Item, *, now: datetime) -> tuple[str, ...]:
    """Return the problems in an item, each with its field."""
    if item.kind is Kind.SUPPRESSION:
        try:
            suppression_in(item, now=now)
        except Unreadable as err:
            return tuple(f"{item.kind}: {line}" for line in err.lines)
        return ()
    reading = read_detail(DETAIL_TYPES[item.kind], item.detail)
    problems = [f"{item.kind}{each.removeprefix('detail')}" for each in reading.problems]
    if reading.command and (ahead := _ahead(reading.command, now)):
        problems.append(f"{item.kind}{ahead.removeprefix('detail')}")
    return tuple(problems)


def suppression_in(item: Item, *, now: datetime) -> Suppression:
    """Return the suppression in an item. Raises Unreadable."""
    cells = {}
    for name, value in item.detail.items():
        if name not in {"address", "hash", "reason", "since"}:
            raise Unreadable(f"{name}: unknown field; check the spelling or remove the field")
        if not isinstance(value, str):
            raise Unreadable(f"{name}: must be text")
        cells["address_hash" if name == "hash" else name] = value
    if len({"address", "address_hash"} & cells.keys()) != 1:
        raise Unreadable("specify either address or hash")
    return suppression_of(cells, now)


def _ahead(command: Command | DeliveryReport, now: datetime) -> str:
    return "" if isinstance(command, DeliveryReport) else from_the_future(command, now)


def _key(kind: Kind, detail: Mapping[str, Any]) -> str:
    if kind is Kind.SUPPRESSION:
        return f"{kind} {detail.get('address', detail.get('hash'))}".lower()
    entity = detail.get("entity")
    named = (entity.get("type"), entity.get("id")) if isinstance(entity, dict) else ()
    return f"{kind} {detail.get('user_id')} {named}"
