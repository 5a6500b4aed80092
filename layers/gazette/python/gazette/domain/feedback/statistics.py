"""Counts of what became of emails: in total, and by dimension. Pure."""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

from gazette.domain.feedback.delivery_events import Engagement, EngagementEvent
from gazette.domain.feedback.experiment import Variant
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of

IMMEDIATE = "immediate"
NOT_KNOWN = "not known"
NO_EXPERIMENT = "no experiment"
DEPLOYED = "deployed"


class Measure(StrEnum):
    """What is counted of emails.

    `SENT`: there is a delivery event, which proves that the provider accepted it. `DELIVERED`: it
    was reported as delivered, or the reader acted on it. `DELAYED`: delayed, and nothing else so
    far. `UNCONFIRMED`: neither delivered nor bounced, rejected or delayed.
    """

    SENT = "sent"
    DELIVERED = "delivered"
    BOUNCED = "bounced"
    COMPLAINED = "complained"
    OPENED = "opened"
    CLICKED = "clicked"
    UNSUBSCRIBED = "unsubscribed"
    REJECTED = "rejected"
    DELAYED = "delayed"
    UNCONFIRMED = "unconfirmed"


class Dimension(StrEnum):
    """By what emails are grouped.

    `FREQUENCY` is the name of the schedule, or `IMMEDIATE`. An email counts in each `CATEGORY` that
    it showed, so categories may add up to more than the total. `TEMPLATES` is the version that made
    it, or `DEPLOYED`.
    """

    TOTAL = "total"
    FREQUENCY = "frequency"
    CATEGORY = "category"
    LOCALE = "locale"
    VARIATION = "variation"
    TEMPLATES = "templates"


ACTS = (Measure.COMPLAINED, Measure.OPENED, Measure.CLICKED, Measure.UNSUBSCRIBED)
"""What readers, or their mail programs, do with a delivered email."""

TRACKED = (Measure.OPENED, Measure.CLICKED)
"""What the provider reports only while the stage tracks it."""

_ARRIVED = (Measure.DELIVERED, Measure.UNCONFIRMED)
_SENT = (Measure.SENT,)
_TELLS = {act: EngagementEvent(act.value) for act in ACTS}

Counts = Counter[tuple[Dimension, str, Measure]]
"""Numbers of emails by dimension, its value, and measure. Counts of parts can be added."""


def kinds(email: Engagement) -> Iterator[tuple[Dimension, str, Measure]]:
    """All counts to which one email adds."""
    found = measures_of(email)
    return ((*place, measure) for place in _places(email) for measure in found)


def measures_of(email: Engagement) -> list[Measure]:
    """The measures of one email."""
    told = email.first
    acts = [act for act, event in _TELLS.items() if event in told]
    fate: list[Measure] = []
    if acts or EngagementEvent.DELIVERED in told:
        fate.append(Measure.DELIVERED)
    if EngagementEvent.BOUNCED in told:
        fate.append(Measure.BOUNCED)
    if EngagementEvent.REJECTED in told:
        fate.append(Measure.REJECTED)
    if not fate:
        fate.append(Measure.DELAYED if EngagementEvent.DELAYED in told else Measure.UNCONFIRMED)
    return [Measure.SENT, *fate, *acts]


def values(counts: Counts, dimension: Dimension) -> list[str]:
    """The values of a dimension, those with the most emails first."""
    sent = {
        value: number
        for (of, value, measure), number in counts.items()
        if of is dimension and measure is Measure.SENT
    }
    return sorted(sent, key=lambda value: (-sent[value], value))


def is_tracked(counts: Counts, measure: Measure) -> bool:
    """Whether a count of zero is meaningful: False if the measure may not have been tracked.

    The stage says what is tracked now, but not since when. So a measure that was never reported
    for any of the emails counts as not tracked.
    """
    return measure not in TRACKED or counts[Dimension.TOTAL, "", measure] > 0


def rate(counts: Counts, dimension: Dimension, value: str, measure: Measure) -> float | None:
    """Acts of readers as a share of the emails that may have arrived, others of those sent.

    None if there are none. Unconfirmed emails may have arrived: a stage need not ask for reports of
    delivery.
    """
    of = sum(counts[dimension, value, each] for each in (_ARRIVED if measure in ACTS else _SENT))
    return counts[dimension, value, measure] / of if of else None


def _places(email: Engagement) -> Iterator[tuple[Dimension, str]]:
    schedule = email.key.schedule
    yield Dimension.TOTAL, ""
    yield (
        Dimension.FREQUENCY,
        IMMEDIATE if kind_of(schedule) is ScheduleKind.IMMEDIATE else schedule,
    )
    for category in email.categories or (NOT_KNOWN,):
        yield Dimension.CATEGORY, category
    yield Dimension.LOCALE, email.locale or NOT_KNOWN
    yield Dimension.VARIATION, _named(email.variant)
    yield Dimension.TEMPLATES, f"version {email.templates}" if email.templates else DEPLOYED


def _named(variant: Variant) -> str:
    if not variant.experiment:
        return NO_EXPERIMENT
    return f"{variant.experiment} {variant.variation}"
