"""The outcome of each event, judged by the emails and by the acts."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gazette.domain.model import Event
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.kinds import Unsent

from proofs.attention.acts import Feature, Kind
from proofs.attention.simulation import QUIET, ZONE, Email, Record

IMMEDIATE, DIGEST, SEEN, MUTED = "immediate", "digest", "seen", "muted"
"""The possible ends of an event: an immediate email, a digest, or no email for a reason."""


@dataclass
class Verdict:
    """The outcomes of the events of a record."""

    features: frozenset[Feature]
    events: int
    emails: list[Email]
    ends: Counter[str] = field(default_factory=Counter)
    waits: list[timedelta] = field(default_factory=list)
    """The time between each event and its email."""

    lost: int = 0
    """The number of events that are in no email without a reason."""

    twice: int = 0
    """The number of times that an email shows an event which it must not show: because an earlier
    email shows the event, or because the reader had muted or seen its entity before."""

    at_night: int = 0
    """The number of immediate emails from 22:00 to 07:00 in the readers' time zone."""

    @property
    def holds(self) -> bool:
        """Return True if no event is lost, none is shown too often, and quiet hours are quiet."""
        is_quiet = self.at_night == 0 or Feature.QUIET not in self.features
        return self.lost == 0 and self.twice == 0 and is_quiet


def judge(record: Record) -> Verdict:
    """Return the verdict on a record that has no more emails to come."""
    verdict = Verdict(record.features, len(record.events), record.emails)
    shown: set[str] = set()
    for email in record.emails:
        is_at_night = QUIET is not None and QUIET.until(email.at, ZONE) is not None
        verdict.at_night += email.key.is_immediate and is_at_night
        stored = Counter(record.events[each].entity.id for each in email.event_ids)
        verdict.lost += (stored - email.counts).total()
        verdict.twice += (email.counts - stored).total()
        for event_id in email.event_ids:
            event = record.events[event_id]
            if event_id in shown or _is_unwanted(event, email.at, record):
                verdict.twice += 1
            if event_id not in shown:
                shown.add(event_id)
                verdict.ends[IMMEDIATE if email.key.is_immediate else DIGEST] += 1
                verdict.waits.append(email.at - event.occurred_at)
    for event_id, event in record.events.items():
        if event_id in shown:
            continue
        if _is_seen(event, record):
            verdict.ends[SEEN] += 1
        elif _is_muted(event, record):
            verdict.ends[MUTED] += 1
        else:
            verdict.lost += 1
    return verdict


def _times(kind: Kind, event: Event, record: Record) -> list[datetime]:
    """Return the times at which the reader did this with the event's entity."""
    return [
        act.at
        for act in record.acts
        if act.kind is kind and (act.user_id, act.thing) == (event.user_id, event.entity.id)
    ]


def _is_unwanted(event: Event, at: datetime, record: Record) -> bool:
    """Return True if the reader had muted or seen the entity before the email."""
    visits = _times(Kind.VISIT, event, record)
    return any(muted_at < at for muted_at in _times(Kind.MUTE, event, record)) or any(
        event.occurred_at <= seen_at < at for seen_at in visits
    )


def _is_seen(event: Event, record: Record) -> bool:
    """Return True if the event was left out because of a visit after it."""
    row = record.rows.get(event.id)
    return (
        row is not None
        and row.schedule == Unsent.EXCLUDED
        and row.seen_at is not None
        and row.seen_at >= event.occurred_at
        and row.seen_at in _times(Kind.VISIT, event, record)
    )


def _is_muted(event: Event, record: Record) -> bool:
    """Return True if the event was waiting when its entity was muted, or was refused later."""
    if event.id in record.waiting_when_muted:
        return True
    was_refused = record.outcomes[event.id] is Outcome.MUTED
    return was_refused and any(
        muted_at <= event.occurred_at for muted_at in _times(Kind.MUTE, event, record)
    )
