"""What a subscriber's request to the preference page, or by an email's unsubscribe link, does."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from gazette.domain.errors import InvalidToken, UnreadableForm
from gazette.domain.model import RunKey
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.ledgers import Engagements
from gazette.domain.ports.queues import Bus
from gazette.domain.ports.stores import Suppressions
from gazette.domain.subscribers.overview import Overview, Told
from gazette.domain.subscribers.preference_form import Fields, Problem, asked
from gazette.steps.context import RoutingContext
from gazette.steps.preferences.page import do, look
from gazette.steps.subscribers.unsubscribe import note_left_by, unsubscribe


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContext:
    """What requests are answered with.

    `announce` tells fan-out how many shards there are, before the first schedule is written.
    `categories` and `zones` are what the page offers.
    """

    routing: RoutingContext
    suppressions: Suppressions
    engagements: Engagements
    bus: Bus
    announce: Callable[[], None]
    categories: Callable[[Overview], Collection[str]]
    zones: Callable[[], Collection[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the page shows: the subscriber, and what became of the request, if there was one.

    `sent` is the form where it has `problems`, so that nothing has to be entered twice.
    """

    overview: Overview
    told: Told | None = None
    problems: Mapping[str, Problem] = field(default_factory=dict)
    sent: Fields | None = None


def show(email: RunKey, *, context: PageContext) -> Shown:
    """Look up the subscriber, and change nothing. Raises InvalidToken where nobody is known."""
    return Shown(overview=_overview(email.user_id, context))


def submit(
    email: RunKey, read_form: Callable[[], Fields], *, context: PageContext, time_left: TimeLeft
) -> Shown:
    """Do what the form asks for, and look up the subscriber again; `email` led to the page.

    Raises InvalidToken where nobody is known.
    """
    overview = _overview(email.user_id, context)
    try:
        sent = read_form()
    except UnreadableForm:
        return Shown(overview=overview, told=Told.UNREADABLE)
    wanted = asked(sent, overview, categories=context.categories(overview), zones=context.zones())
    if not wanted.problems:
        context.announce()
    told = do(
        email.user_id,
        wanted,
        bus=context.bus,
        suppressions=context.suppressions,
        context=context.routing,
        time_left=time_left,
    )
    if told is Told.WRONG:
        return Shown(overview=overview, told=told, problems=wanted.problems, sent=sent)
    if told is Told.UNSUBSCRIBED:
        _note_left_by(email, context)
    return Shown(overview=_overview(email.user_id, context), told=told)


def leave(email: RunKey, *, context: PageContext) -> bool:
    """Unsubscribe by the link of an email, and record that it was this one.

    Safe to repeat. False if there is no such subscriber.
    """
    found = unsubscribe(
        email.user_id,
        subscribers=context.routing.subscribers,
        suppressions=context.suppressions,
        schedules=context.routing.schedules,
        runs=context.routing.runs,
    )
    if found:
        _note_left_by(email, context)
    return found


def _note_left_by(email: RunKey, context: PageContext) -> None:
    note_left_by(
        email,
        runs=context.routing.runs,
        engagements=context.engagements,
        clock=context.routing.clock,
    )


def _overview(user_id: str, context: PageContext) -> Overview:
    overview = look(user_id, context=context.routing)
    if overview is None:
        raise InvalidToken("Nothing is known of this subscriber.")
    return overview
