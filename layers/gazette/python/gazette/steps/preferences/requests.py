"""What a subscriber's request to the preference page, or by an email's unsubscribe link, does."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from gazette.domain.errors import EndedLink, UnreadableForm
from gazette.domain.links import LinkToken
from gazette.domain.ports.bus import Bus
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.ledgers import Engagements
from gazette.domain.ports.stores import Suppressions
from gazette.domain.subscribers.overview import Notice, Overview
from gazette.domain.subscribers.preference_form import Fields, Problem, asked
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.context import RoutingContext
from gazette.steps.preferences.page import perform, read_overview, with_follows_of
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


def show(link: LinkToken, *, context: PageContext, follows_after: str = "") -> Shown:
    """Look up the subscriber, and change nothing. `follows_after`: as in `read_overview`.

    Raises EndedLink where it is for nobody any more.
    """
    return Shown(overview=_overview(link, context, follows_after))


def submit(
    link: LinkToken,
    read_form: Callable[[], Fields],
    *,
    context: PageContext,
    time_left: TimeLeft,
    follows_after: str = "",
) -> Shown:
    """Do what the form asks for, and look up the subscriber again; `link` led to the page.

    `follows_after`: as in `read_overview`. Whatever follows the page shows by now, what the form
    says of another one is done, and nothing is done to a follow that the form does not have.

    Raises EndedLink where it is for nobody any more.
    """
    overview = _overview(link, context, follows_after)
    try:
        sent = read_form()
    except UnreadableForm:
        return Shown(overview=overview, notice=Notice.UNREADABLE)
    wanted = asked(
        sent,
        with_follows_of(sent, overview, context=context.routing),
        categories=context.categories(overview),
        zones=context.zones(),
    )
    if not wanted.problems:
        context.announce()
    notice = perform(
        link.run.user_id,
        link.address,
        wanted,
        bus=context.bus,
        suppressions=context.suppressions,
        context=context.routing,
        time_left=time_left,
        reader=overview.subscriber,
    )
    if notice is Notice.WRONG:
        return Shown(overview=overview, notice=notice, problems=wanted.problems, sent=sent)
    if notice is Notice.UNSUBSCRIBED:
        record_left(link, context)
    return Shown(overview=_overview(link, context, follows_after), notice=notice)


def leave(link: LinkToken, *, context: PageContext) -> Subscriber | None:
    """Unsubscribe by the link of an email, and record that it was this one.

    Safe to repeat. Returns the reader, who has left; None if the address of the link is no
    subscriber's whom it was for: then it alone is suppressed.
    """
    found = unsubscribe(
        link.run.user_id,
        link.address,
        subscribers=context.routing.subscribers,
        suppressions=context.suppressions,
        schedules=context.routing.schedules,
        at=context.routing.clock(),
    )
    if found:
        record_left(link, context)
    return found


def record_left(link: LinkToken, context: PageContext) -> None:
    """Record that a reader left by the link of this email."""
    record_unsubscribed(
        link.run,
        runs=context.routing.runs,
        engagements=context.engagements,
        clock=context.routing.clock,
    )


def _overview(link: LinkToken, context: PageContext, follows_after: str) -> Overview:
    overview = read_overview(link.run.user_id, context=context.routing, follows_after=follows_after)
    if overview is None or not link.is_for(overview.subscriber):
        raise EndedLink("Nobody is known at the address of this link any more.")
    return overview
