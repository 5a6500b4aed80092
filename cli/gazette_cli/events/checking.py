"""Check an event: decode it into a command, or list its problems."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from gazette.adapters.contract import Reading, read_detail
from gazette.adapters.contract.data import Schemas
from gazette.adapters.contract.decoding import LIST_FORMS
from gazette.domain.commands import Command, from_the_future
from gazette.domain.feedback.reports import DeliveryReport, from_the_future_at
from gazette.domain.hosts import LinkHosts
from gazette.domain.sources import Sources

from gazette_cli.events.bus import StageBus
from gazette_cli.events.entries import Entry
from gazette_cli.events.envelopes import Envelope, envelope

_NO_EVENT = (
    "is not an event: specify DetailType and Detail (PutEvents entry), or detail-type and "
    "detail (EventBridge envelope)"
)
_ADDRESS = (
    "user_id: looks like an email address. Ids remain in logs, runs and email links after an "
    "erasure; use an id that does not identify a person"
)
_DEEP = "is nested too deeply: remove some levels"


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of checking an entry."""

    # The position of the entry in the file.
    label: str

    envelope: Envelope | None = None

    # The decoded command. If there are `problems`, the command has the valid part of the entry.
    command: Command | DeliveryReport | None = None

    problems: tuple[str, ...] = ()

    # The number of problems that `problems` omits.
    more: int = 0

    # A risk of an entry that Gazette would accept.
    warning: str = ""

    @property
    def detail_type(self) -> str:
        """The detail type of the entry, or "" if the entry has none."""
        content = self.envelope.content if self.envelope else None
        named = (content or {}).get("detail-type")
        return named if isinstance(named, str) else ""


def check(
    entry: Entry,
    *,
    hosts: LinkHosts,
    schemas: Schemas,
    sources: Sources | None = None,
    bus: StageBus | None = None,
) -> Checked:
    """Check an entry. Each problem names the affected field.

    `hosts` are the hosts that links may point to. `schemas` are the schemas of `data` by category.
    `sources` are the sources that may publish each detail type. `bus` is the only bus that the
    entry may name.
    """
    if entry.problem:
        return Checked(entry.label, problems=(entry.problem,))
    try:
        wrapped = envelope(entry.value, bus=bus)
        if wrapped is None:
            return Checked(entry.label, problems=(_NO_EVENT,))
        reading = _read(wrapped.content, hosts, schemas) if wrapped.content else Reading(None)
    except RecursionError:
        return Checked(entry.label, problems=(_DEEP,))
    foreign = sources.refusal(*_from(wrapped)) if sources else ""
    problems = (*wrapped.problems, *filter(None, [foreign]), *reading.problems)
    warning = _warning(wrapped.content or {})
    return Checked(entry.label, wrapped, reading.command, problems, reading.more, warning)


def _from(wrapped: Envelope) -> tuple[str, str]:
    """Return the detail type and the source of an entry. A missing value is ""."""
    content = wrapped.content or {}
    return str(content.get("detail-type", "")), str(content.get("source", ""))


def _warning(content: dict[str, Any]) -> str:
    detail, form = content.get("detail"), LIST_FORMS.get(str(content.get("detail-type")))
    if not isinstance(detail, dict):
        return ""
    items = detail.get(form.field) if form else None
    details = [detail, *(items if isinstance(items, list) else ())]
    ids = (each.get("user_id") for each in details if isinstance(each, dict))
    return _ADDRESS if any(isinstance(each, str) and "@" in each for each in ids) else ""


def _read(content: dict[str, Any], hosts: LinkHosts, schemas: Schemas) -> Reading:
    detail_type, detail = content.get("detail-type"), content.get("detail")
    reading = read_detail(detail_type, detail, hosts=hosts, schemas=schemas)
    ahead = _ahead(reading.command, datetime.now(UTC)) if reading.command else ""
    return replace(reading, problems=(*reading.problems, *filter(None, [ahead])))


def _ahead(command: Command | DeliveryReport, now: datetime) -> str:
    """Return a problem if the entry is dated too far in the future, else an empty string."""
    if isinstance(command, DeliveryReport):
        return from_the_future_at(command.at, now)
    return from_the_future(command, now)
