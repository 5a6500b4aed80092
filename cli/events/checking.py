"""What Gazette would make of an entry: a command, or what is wrong with it."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from gazette.adapters.contract import Reading, read_detail
from gazette.adapters.contract.data import Schemas
from gazette.domain.commands import Command, from_the_future
from gazette.domain.hosts import LinkHosts
from gazette.domain.sources import Sources

from cli.events.bus import StageBus
from cli.events.entries import Entry
from cli.events.envelopes import Envelope, envelope

_NO_EVENT = (
    "is no event: give DetailType and Detail as to PutEvents, or detail-type and detail as "
    "EventBridge delivers them"
)
_ADDRESS = (
    "user_id: is an email address, it seems. Ids stay in logs, in runs and in the links of emails "
    "after an erasure: use an id that says nothing of the person"
)
_DEEP = "is nested too deeply: take out a few levels"


@dataclass(frozen=True, slots=True)
class Checked:
    """An entry, looked at. With `problems`, `command` is what would be taken all the same.

    `more`: how many problems there are besides. `warning`: about what would be taken all the same.
    """

    label: str
    envelope: Envelope | None = None
    command: Command | None = None
    problems: tuple[str, ...] = ()
    more: int = 0
    warning: str = ""

    @property
    def detail_type(self) -> str:
        """What the entry calls itself; empty where it does not."""
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
    """Every problem of an entry, in words that name the field.

    Its links must lead to `hosts`; its source must be one of `sources`, and its bus must be `bus`,
    if those are given; data must be as `schemas` has it for its category.
    """
    if entry.problem:
        return Checked(entry.label, problems=(entry.problem,))
    try:
        found = envelope(entry.value, bus=bus)
        if found is None:
            return Checked(entry.label, problems=(_NO_EVENT,))
        reading = _read(found.content, hosts, schemas) if found.content else Reading(None)
    except RecursionError:
        return Checked(entry.label, problems=(_DEEP,))
    foreign = sources.refusal(*_from(found)) if sources else ""
    problems = (*found.problems, *filter(None, [foreign]), *reading.problems)
    warning = _warning((found.content or {}).get("detail"))
    return Checked(entry.label, found, reading.command, problems, reading.more, warning)


def _from(found: Envelope) -> tuple[str, str]:
    """The detail type and the source, as far as they are there."""
    content = found.content or {}
    return str(content.get("detail-type", "")), str(content.get("source", ""))


def _warning(detail: object) -> str:
    if not isinstance(detail, dict):
        return ""
    events = detail.get("events")
    given = [detail, *(events if isinstance(events, list) else ())]
    ids = (each.get("user_id") for each in given if isinstance(each, dict))
    return _ADDRESS if any(isinstance(each, str) and "@" in each for each in ids) else ""


def _read(content: dict[str, Any], hosts: LinkHosts, schemas: Schemas) -> Reading:
    detail_type, detail = content.get("detail-type"), content.get("detail")
    reading = read_detail(detail_type, detail, hosts=hosts, schemas=schemas)
    ahead = from_the_future(reading.command, datetime.now(UTC)) if reading.command else ""
    return replace(reading, problems=(*reading.problems, *filter(None, [ahead])))
