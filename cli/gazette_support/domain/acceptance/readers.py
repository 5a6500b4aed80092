"""The synthetic readers of an acceptance, and the details that are published for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from gazette.domain.hosts import LinkHosts
from gazette.domain.scheduling.calendar import SLOT, last_instant_of_slot, slot_of
from gazette.domain.sources import Sources
from gazette.domain.subscribers.addresses import SIMULATOR
from gazette.domain.subscribers.frequency import ASKED_CATEGORIES, Frequency

CATEGORY = "gazette_acceptance"
"""The category of the events in digests. No service uses it, so bounces and complaints count for no
other category."""

AT_ONCE = "gazette_acceptance_now"
"""The category of the events that are sent immediately."""

CATEGORIES = (CATEGORY, AT_ONCE)

SOURCE = "gazette.acceptance"
"""The source of the published messages, unless the stage allows only other sources."""

_MARGIN = timedelta(minutes=2)
"""The time in which profiles and events are published and stored."""


class Role(StrEnum):
    """The part that a synthetic reader plays."""

    OK = "ok"
    BOUNCE = "bounce"
    COMPLAINT = "complaint"
    LEAVES = "leaves"


_MAILBOXES = {Role.OK: "success", Role.LEAVES: "success"}


@dataclass(frozen=True, slots=True)
class SyntheticReader:
    """A reader of the acceptance."""

    role: Role
    user_id: str
    email: str

    @property
    def is_simulated(self) -> bool:
        """True if the address is one of SES's mailbox simulator."""
        return self.email.endswith(f"@{SIMULATOR}")


def readers_of(acceptance: str, *, to: str, has_simulator: bool) -> Mapping[Role, SyntheticReader]:
    """Return the readers of an acceptance by role. `to` is an operator's address, or "".

    With SES, `to` is the address of the reader who unsubscribes. Other mail servers have no
    simulator, so there are only the two readers that need none, with this address.
    """
    roles = [*Role] if has_simulator else [Role.OK, Role.LEAVES]
    return {
        role: SyntheticReader(
            role,
            f"accept-{acceptance}-{role}",
            to
            if to and (role is Role.LEAVES or not has_simulator)
            else _simulated(role, acceptance),
        )
        for role in roles
    }


def _simulated(role: Role, acceptance: str) -> str:
    return f"{_MAILBOXES.get(role, role)}+{acceptance}-{role}@{SIMULATOR}"


def event_id(acceptance: str, purpose: str) -> str:
    """Return the id of an event. Publishing it again has no effect."""
    return f"accept-{acceptance}-{purpose}"


def next_due(now: datetime, *, settle_lag: timedelta) -> datetime:
    """Return the time of the first digest that can contain events that are published now.

    It is the start of a slot, because a tick starts the digests of its slot. Events must be stored
    for `settle_lag` before an email contains them.
    """
    earliest = now + settle_lag + _MARGIN
    slot = slot_of(earliest)
    return slot if slot >= earliest else slot + SLOT


def latest_start(due_at: datetime) -> datetime:
    """Return the time by which fan-out has started a digest: at the tick after its slot."""
    return last_instant_of_slot(due_at) + SLOT


def profile(reader: SyntheticReader, *, due_at: datetime, now: datetime) -> dict[str, Any]:
    """Return the detail of a reader whose daily digest is due at `due_at`.

    Content sources are not queried, because a recommendation service does not know the reader.
    """
    due = due_at.astimezone(UTC)
    return {
        "user_id": reader.user_id,
        "email": reader.email,
        "name": "Gazette acceptance",
        "time_zone": "UTC",
        "changed_at": now.isoformat(),
        "digest": {"hour": due.hour, "minute": due.minute},
        "frequencies": {
            CATEGORY: Frequency.DAILY.value,
            AT_ONCE: Frequency.IMMEDIATE.value,
            **dict.fromkeys(sorted(ASKED_CATEGORIES), Frequency.NEVER.value),
        },
    }


def event(
    reader: SyntheticReader, identity: str, *, category: str, url: str, now: datetime
) -> dict[str, Any]:
    """Return the detail of an event. An immediate event has an entity of its own."""
    return {
        "id": identity,
        "user_id": reader.user_id,
        "category": category,
        "entity": {"type": "acceptance", "id": identity, "title": "Acceptance", "url": url},
        "actor": {"id": "gazette", "name": "Gazette"},
        "excerpt": "This email belongs to the acceptance of a stage.",
        "occurred_at": now.isoformat(),
        # A digest whose event would lapse before the next digest is sent whatever its score.
        "expires_at": (now + timedelta(days=1)).isoformat(),
    }


def invalid_event(reader: SyntheticReader, identity: str, *, now: datetime) -> dict[str, Any]:
    """Return the detail of an event whose link is invalid."""
    return event(reader, identity, category=CATEGORY, url="not a link", now=now)


def allowed_link(hosts: LinkHosts) -> str:
    """Return a link to a host that the stage allows."""
    exact = sorted(hosts.exact)
    if exact:
        return f"https://{exact[0]}/"
    return f"https://www{hosts.endings[0]}/" if hosts.endings else "https://example.com/"


def allowed_source(detail_type: str, sources: Sources) -> str:
    """Return a source that may publish a detail type."""
    allowed = sources.by_detail_type.get(detail_type)
    return SOURCE if allowed is None or SOURCE in allowed else min(allowed)
