"""Turn the events of a window into an email to the reader."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from gazette.domain.delivery.arrangement import Arrangement
from gazette.domain.delivery.compose import compose
from gazette.domain.delivery.run import BEGINNING, Run
from gazette.domain.errors import Overtaken, RenderingFailed
from gazette.domain.feedback.experiment import DEFAULT_VARIANT, Variant, variant_of
from gazette.domain.happening.bodies import LeftOut
from gazette.domain.identity import run_id
from gazette.domain.links import (
    DIGESTS,
    EVERYTHING,
    NEW_LINK,
    LinkToken,
    Scope,
    ScopeKind,
    immediate_of,
)
from gazette.domain.model import Actor, Edition, Entity, Event, Mail, StageHeaders, Window
from gazette.domain.ports.rendering import Links, SunsetNotice, VersionTemplates
from gazette.domain.ports.stores import DeferredEvents
from gazette.domain.scheduling.kinds import thread_of
from gazette.domain.subscribers.frequency import (
    Frequencies,
    Frequency,
    fallback_for_immediate,
)
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.templates.settings import NO_SETTINGS
from gazette.domain.window.folded import Folded, age_of_event
from gazette.steps.delivery.versions import Chosen

if TYPE_CHECKING:
    from gazette.steps.delivery.context import EditionContext, LeaveOutBodies
    from gazette.steps.delivery.prepare import Prepared

HARMLESS = Event(
    user_id="nobody",
    id="harmless",
    category="update",
    entity=Entity("post", "harmless", "A title", "https://example.com/"),
    actor=Actor("somebody", "Somebody"),
    occurred_at=datetime(2026, 1, 1, tzinfo=UTC),
)
"""An event that every template can show.

If rendering this event fails, the template is at fault.
"""


_NEW_FOR = timedelta(days=30)
"""The time after the registration in which a digest can be a reader's first. Runs are stored
longer."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """An email, and the links, the variant and the templates that it was rendered with."""

    edition: Edition
    links: Links
    variant: Variant
    chosen: Chosen
    """The template version that was selected for the run."""

    templates: int
    """The number of the template version that rendered the email."""


def edit(prepared: "Prepared", *, context: "EditionContext") -> Rendered | tuple[Run, int]:
    """Render the events of the window as an email.

    If rendering fails, exclude the events that cannot be shown, and return the run after the
    exclusion and the number of excluded events. If a pushed version cannot show events that the
    deployed version can show, the version is at fault. Then no event is excluded, and the deployed
    version renders the email. For a pinned run, which must not change, RenderingFailed is raised
    instead.

    An event is excluded if it fails on its own, because it would block all other events of the
    reader (rule 17). The next read of the window does not contain the event. An event in
    `may_have_been_sent` is excluded permanently (rule 9). If not even a harmless event can be
    shown, raises RenderingFailed and excludes no event. Raises Overtaken if the run or an event has
    changed since it was read.
    """
    run, events, subscriber = prepared.run, prepared.due.sent, prepared.subscriber
    links = context.link_maker.links(LinkToken.of(run.key, run.due_at, subscriber))
    links = replace(
        links,
        sunset=sunset_notice(run, subscriber, links, context.sunset),
        fallback=fallback_of(run, subscriber, context.defaults),
    )
    variant = variant_for(run.key.user_id, context)
    chosen = context.templates(run)

    def show(some: Iterable[Event] | Folded, templates: VersionTemplates) -> Edition:
        return make_edition(
            run,
            some,
            subscriber,
            links,
            variation=variant.variation,
            templates=templates,
            max_blocks=context.max_blocks,
            arrangement=context.arrangement,
            window=prepared.window,
        )

    templates, fallback = chosen.templates, chosen.fallback
    try:
        return Rendered(show(events, templates), links, variant, chosen, templates.number)
    except RenderingFailed as err:
        failed = err
    versions: tuple[VersionTemplates, ...] = (templates,)
    if fallback:
        try:
            edition = show(events, fallback)
        except RenderingFailed:
            versions = (templates, fallback)
        else:
            context.unusable(templates.number, failed)
            if chosen.is_pinned:
                raise failed
            return Rendered(edition, links, variant, chosen, fallback.number)
    return exclude(
        run,
        events,
        failed,
        versions=versions,
        show=show,
        may_have_been_sent=prepared.due.may_have_been_sent,
        deferred_events=context.deferred_events,
        leave_out_bodies=context.leave_out_bodies,
    )


def sunset_notice(
    run: Run, subscriber: Subscriber, links: Links, sunset: timedelta | None
) -> SunsetNotice | None:
    """Return the notice that the reader's digests end soon, for one of the last two digests.

    The result depends only on the run's due time and the reader, so that a repeated email is equal.
    """
    if run.key.is_immediate:
        return None
    ends_on = subscriber.digests_end_on(Frequency(run.key.schedule), run.due_at, sunset)
    if ends_on is None:
        return None
    return SunsetNotice.of(ends_on, links.keep())


def fallback_of(run: Run, subscriber: Subscriber, defaults: Frequencies) -> str:
    """Return the frequency of the digest that gets the events of an immediate email's categories if
    the reader ends these emails. Returns an empty string if there is no such digest.
    """
    if not run.key.is_immediate:
        return ""
    often = fallback_for_immediate(subscriber.chosen, defaults)
    return "" if often is Frequency.NEVER else often.value


def variant_for(user_id: str, context: "EditionContext") -> Variant:
    """Return the variant of the running experiment that a reader gets."""
    running = context.decisions().experiment
    return variant_of(user_id, running) if running else DEFAULT_VARIANT


def exclude(
    run: Run,
    events: Folded,
    failed: RenderingFailed,
    *,
    versions: Sequence[VersionTemplates],
    show: Callable[[Iterable[Event], VersionTemplates], Edition],
    may_have_been_sent: Collection[str],
    deferred_events: DeferredEvents,
    leave_out_bodies: "LeaveOutBodies",
) -> tuple[Run, int]:
    """Exclude the events that no version can show. Raise `failed` if there are no such events.

    Returns the run after the exclusion, and the number of excluded events. Only the events that the
    email shows are tried, because other events cannot cause the failure. An event that shares its
    row leaves the row, so that the next email shows another event of its happening (rule 30).
    """

    def why_not(some: Sequence[Event]) -> RenderingFailed | None:
        for templates in versions:
            try:
                show(some, templates)
            except RenderingFailed as err:
                why = err
            else:
                return None
        return why

    if at_fault := why_not([HARMLESS]):
        raise at_fault
    excluded = 0
    for event, why in _each_at_fault(sorted(events.loaded.values(), key=age_of_event), why_not):
        since = deferred_events.exclude(
            event, run, str(why), for_good=event.id in may_have_been_sent
        )
        if since is None and leave_out_bodies([LeftOut(event, why=str(why))]):
            excluded += 1
            continue
        if since is None and not excluded:
            raise Overtaken(f"Run {run_id(run.key)} has changed since it was read.") from why
        if since is None:
            break  # the caller reads everything again, and counts these events
        run, excluded = since, excluded + 1
    if not excluded:
        raise failed
    return run, excluded


def _each_at_fault(
    events: Sequence[Event], why_not: Callable[[Sequence[Event]], RenderingFailed | None]
) -> Iterator[tuple[Event, RenderingFailed]]:
    """Yield each event that cannot be shown, with its error. Use bisection to find these events.

    If an email shows an event, the email of the half with this event also shows it, because every
    email keeps the latest event of a line, the last people and the newest names. So a half that can
    be shown contains no faulty event. If both halves can be shown but not the whole, no single
    event is at fault.
    """
    why = why_not(events)
    if why is None:
        return
    if len(events) == 1:
        yield events[0], why
        return
    half = len(events) // 2
    yield from _each_at_fault(events[:half], why_not)
    yield from _each_at_fault(events[half:], why_not)


def make_edition(
    run: Run,
    events: Iterable[Event] | Folded,
    subscriber: Subscriber,
    links: Links,
    *,
    variation: int,
    templates: VersionTemplates,
    max_blocks: int,
    arrangement: Arrangement,
    window: Window,
) -> Edition:
    """Render `events` as an email. Raises RenderingFailed.

    `max_blocks` and `arrangement` are the stage's values, which a template version may override. A
    variation may override the arrangement. The age of events is measured from the end of `window`.
    """
    settings, renderer = templates.settings, templates.renderer
    if settings is not NO_SETTINGS:
        max_blocks = settings.max_blocks or max_blocks
        arrangement = settings.arranged(arrangement)
    digest = compose(
        events,
        max_blocks=max_blocks,
        arrangement=renderer.arrangement(variation, arrangement),
        until=window.until,
        sources=run.sources,
    )
    return renderer.render(
        digest,
        subscriber,
        links,
        run.key.schedule,
        variation=variation,
        due_at=run.due_at,
        is_first=_is_first(run, window, subscriber),
    )


def _is_first(run: Run, window: Window, subscriber: Subscriber) -> bool:
    """Return True for the first digest of a schedule whose reader registered recently.

    No earlier digest of the schedule is stored, and the reader's registration is newer than the
    oldest stored run.
    """
    if run.key.is_immediate or subscriber.registered_on is None or window.since != BEGINNING:
        return False
    return run.due_at.date() - subscriber.registered_on <= _NEW_FOR


def _list_of(run: Run, edition: Edition) -> Scope:
    """Return the email's mailing list: the list of digests, or the list of its categories'
    immediate emails.
    """
    if not run.key.is_immediate:
        return DIGESTS
    return EVERYTHING if NEW_LINK in edition.categories else immediate_of(edition.categories)


def _list_name(scope: Scope, *, critical: bool) -> str:
    """Return the labels that precede the stage's `list_id`. The digests' list has no labels.

    The longest name has 243 of the 255 characters that RFC 2919 allows. An immediate email of
    several categories belongs to the list of the first category.
    """
    if scope.kind is not ScopeKind.IMMEDIATE:
        return ""
    return ".".join([*scope.names[:1], "critical" if critical else "immediate", ""])


def _one_click(
    run: Run, scope: Scope, links: Links, *, leaves_all: bool
) -> tuple[tuple[str, str], ...]:
    if run.key.is_critical:
        return ()
    leave = "" if leaves_all and run.key.is_immediate else links.leave(scope)
    return (
        ("List-Unsubscribe", f"<{leave or links.unsubscribe}>"),
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
    )


def _thread(run: Run, list_id: str) -> tuple[tuple[str, str], ...]:
    """Return the header fields by which mail programs thread the immediate emails about one entity.

    All of these emails reply to the same message, which was never sent. Gmail threads emails with
    the same subject whose References "consistently refer to the same message ID". A digest refers
    to a message that no other email refers to, so that digests are never threaded.
    https://workspaceupdates.googleblog.com/2019/03/threading-changes-in-gmail-conversation-view.html
    https://www.rfc-editor.org/rfc/rfc5322#section-3.6.4
    """
    if not run.key.is_immediate:
        return (("References", _message_id(run_id(run.key), list_id)),)
    first = _message_id(f"{run.key.user_id} {thread_of(run.key.schedule)}", list_id)
    return (("In-Reply-To", first), ("References", first))


def _message_id(name: str, list_id: str) -> str:
    """Return a message id (RFC 5322, section 3.6.4) that reveals neither reader nor entity.

    `name` excludes the list id. The name of an immediate schedule is a hash of its entity. The hash
    has no key, so anyone who knows all inputs can confirm them, as with the links in the email.
    """
    digest = hashlib.sha256(f"{list_id} {name}".encode()).hexdigest()[:32]
    return f"<{digest}@{list_id}>"


def address(
    run: Run,
    edition: Edition,
    subscriber: Subscriber,
    links: Links,
    stage: StageHeaders,
) -> Mail:
    """Add the recipient, headers and tags to the email.

    One-click unsubscribe (RFC 8058) unsubscribes the reader from the list in List-Id (RFC 2919), or
    from all email if the stage says so. Critical emails have no such header, because readers
    cannot unsubscribe from them; Gmail requires the header only in "messages that recipients can
    unsubscribe from". Auto-Submitted is defined in RFC 3834.
    https://support.google.com/a/answer/15263077
    """
    scope = _list_of(run, edition)
    return Mail(
        to=subscriber.email,
        edition=edition,
        headers=(
            *_one_click(run, scope, links, leaves_all=stage.leaves_all),
            ("List-Id", f"<{_list_name(scope, critical=run.key.is_critical)}{stage.list_id}>"),
            *_thread(run, stage.list_id),
            ("Auto-Submitted", "auto-generated"),
        ),
        tags=(
            ("run", run_id(run.key)),
            ("attempt", str(run.attempt)),
            ("installation", stage.installation),
        ),
    )
