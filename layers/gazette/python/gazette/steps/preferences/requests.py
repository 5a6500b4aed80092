"""A subscriber's requests to the preference page and to an email's unsubscribe link."""

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
    """The dependencies for handling requests."""

    routing: RoutingContext
    suppressions: Suppressions
    engagements: Engagements
    bus: Bus
    announce: Callable[[], None]
    """A function that stores the number of shards for fan-out, before the first schedule is
    written."""

    categories: Callable[[Overview], Collection[str]]
    """A function that returns the categories that the page offers."""

    zones: Callable[[], Collection[str]]
    """A function that returns the time zones that the page offers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The content of the preference page."""

    overview: Overview
    notice: Notice | None = None
    """The outcome of a submitted form, if any."""

    problems: Mapping[str, Problem] = field(default_factory=dict)
    sent: Fields | None = None
    """The submitted form, kept for correction if it has `problems`."""


def show(link: LinkToken, *, context: PageContext, follows_after: str = "") -> Shown:
    """Return the content of the preference page without making changes.

    `follows_after` has the same meaning as in `read_overview`. Raises EndedLink if the link's
    reader no longer exists.
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
    """Apply the preference form, and return the updated content of the page. `link` is the link to
    the page.

    `follows_after` has the same meaning as in `read_overview`. All follows in the form are
    processed, even if the page no longer shows them. Follows that are missing from the form do not
    change.

    Raises EndedLink if the link's reader no longer exists.
    """
    overview = _overview(link, context, follows_after)
    try:
        sent = read_form()
    except UnreadableForm:
        return Shown(overview=overview, notice=Notice.UNREADABLE)
    submission = asked(
        sent,
        with_follows_of(sent, overview, context=context.routing),
        categories=context.categories(overview),
        zones=context.zones(),
    )
    if not submission.problems:
        context.announce()
    notice = perform(
        link.run.user_id,
        link.address,
        submission,
        bus=context.bus,
        suppressions=context.suppressions,
        context=context.routing,
        time_left=time_left,
        reader=overview.subscriber,
    )
    if notice is Notice.WRONG:
        return Shown(overview=overview, notice=notice, problems=submission.problems, sent=sent)
    if notice is Notice.UNSUBSCRIBED:
        record_left(link, context)
    return Shown(overview=_overview(link, context, follows_after), notice=notice)


def leave(link: LinkToken, *, context: PageContext) -> Subscriber | None:
    """Unsubscribe the reader by an email's unsubscribe link, and record which email contained the
    link.

    Safe to repeat. Returns the unsubscribed reader, or None if the link's address no longer belongs
    to the link's reader. In that case, only the address is suppressed.
    """
    reader = unsubscribe(
        link.run.user_id,
        link.address,
        subscribers=context.routing.subscribers,
        suppressions=context.suppressions,
        schedules=context.routing.schedules,
        at=context.routing.clock(),
    )
    if reader:
        record_left(link, context)
    return reader


def record_left(link: LinkToken, context: PageContext) -> None:
    """Record that a reader unsubscribed through a link in this email."""
    record_unsubscribed(
        link.run,
        runs=context.routing.runs,
        engagements=context.engagements,
        clock=context.routing.clock,
    )


def _overview(link: LinkToken, context: PageContext, follows_after: str) -> Overview:
    overview = read_overview(link.run.user_id, context=context.routing, follows_after=follows_after)
    if overview is None or not link.is_for(overview.subscriber):
        raise EndedLink("The reader of this link no longer exists, or has another address.")
    return overview
