"""What a subscriber's request to the preference page, or by an email's unsubscribe link, does."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from gazette.domain.errors import InvalidToken, UnreadableForm
from gazette.domain.model import RunKey
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.ledgers import Engagements
from gazette.domain.ports.queues import Bus
from gazette.domain.ports.stores import Suppressions
from gazette.domain.subscribers.overview import Notice, Overview
from gazette.domain.subscribers.preference_form import Fields, Problem, asked
from gazette.steps.context import RoutingContext
from gazette.steps.preferences.page import perform, read_overview
from gazette.steps.subscribers.unsubscribe import record_unsubscribed, unsubscribe


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
    notice: Notice | None = None
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
        return Shown(overview=overview, notice=Notice.UNREADABLE)
    wanted = asked(sent, overview, categories=context.categories(overview), zones=context.zones())
    if not wanted.problems:
        context.announce()
    notice = perform(
        email.user_id,
        wanted,
        bus=context.bus,
        suppressions=context.suppressions,
        context=context.routing,
        time_left=time_left,
    )
    if notice is Notice.WRONG:
        return Shown(overview=overview, notice=notice, problems=wanted.problems, sent=sent)
    if notice is Notice.UNSUBSCRIBED:
        _record_unsubscribed(email, context)
    return Shown(overview=_overview(email.user_id, context), notice=notice)


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
        _record_unsubscribed(email, context)
    return found


def _record_unsubscribed(email: RunKey, context: PageContext) -> None:
    record_unsubscribed(
        email,
        runs=context.routing.runs,
        engagements=context.engagements,
        clock=context.routing.clock,
    )


def _overview(user_id: str, context: PageContext) -> Overview:
    overview = read_overview(user_id, context=context.routing)
    if overview is None:
        raise InvalidToken("Nothing is known of this subscriber.")
    return overview
