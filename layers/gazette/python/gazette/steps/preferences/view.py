"""The browser view of a sent run: the email, or all of its updates."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from gazette.domain.delivery.arrangement import Arrangement
from gazette.domain.delivery.compose import compose
from gazette.domain.delivery.run import Run
from gazette.domain.errors import Overtaken
from gazette.domain.identity import run_id
from gazette.domain.links import LinkToken, Scope
from gazette.domain.model import Window
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.control import CurrentWithdrawals
from gazette.domain.ports.ledgers import Runs
from gazette.domain.ports.rendering import Links, Pages, UpdateList
from gazette.domain.ports.stores import EventReader, Follows, Subscribers
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.window.folded import Folded, Folding
from gazette.domain.withdrawing.withdrawn import Withdrawn
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.delivery.edition import make_edition
from gazette.steps.delivery.versions import Chosen
from gazette.steps.delivery.windows import MOST_WHOLE, load_from
from gazette.steps.preferences.controls import controls_of

_Show = Callable[[Run, Window, Folded, Subscriber], str]

_MOST_LISTED, _PER_PAGE, _MOST_LINES = 1_000, 100, 100
"""The maximum numbers of entities in the list of updates, of entities per page, and of lines per
entity. The heading shows the total number of updates.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewContext:
    """The dependencies for a view, which makes no writes."""

    runs: Runs
    subscribers: Subscribers
    events: EventReader
    follows: Follows
    withdrawals: CurrentWithdrawals
    """The withdrawals, which also apply to emails that were sent before."""

    templates: Callable[[Run], Chosen]
    """A function that returns the template version of a run."""

    pages: Pages
    clock: Clock
    max_blocks: int
    """The maximum number of blocks in the email."""

    arrangement: Arrangement
    """The arrangement of the email."""


def view_email(link: LinkToken, links: Links, *, context: ViewContext) -> str | None:
    """Render a run's email as HTML from the current events of its window, with shareable links.

    Returns None if the run does not exist, or its reader was erased or has another address. An
    unsubscribed reader may still view old emails.
    """

    def show(run: Run, window: Window, events: Folded, reader: Subscriber) -> str:
        return make_edition(
            run,
            events,
            reader,
            links,
            variation=run.variant.variation,
            templates=context.templates(run).templates,
            max_blocks=context.max_blocks,
            arrangement=context.arrangement,
            window=window,
        ).html

    return _view(link, show, context)


def view_updates(
    link: LinkToken,
    *,
    leave: Callable[[Scope], str] | None = None,
    start: int = 0,
    context: ViewContext,
) -> str | None:
    """Return a page of the list of all current events in a run's window.

    `leave` returns the reader's link to leave a scope. It is None if readers may share the page.
    `start` is the number of entities on earlier pages. A number that the list does not have means
    the first page. Returns None in the same cases as `view_email`.
    """

    def show(run: Run, window: Window, events: Folded, reader: Subscriber) -> str:
        variation, templates = run.variant.variation, context.templates(run).templates
        settings, renderer = templates.settings, templates.renderer
        everything = compose(
            events,
            max_blocks=_MOST_LISTED,
            max_lines=_MOST_LINES,
            arrangement=renderer.arrangement(variation, settings.arranged(context.arrangement)),
            until=window.until,
            sources=run.sources,
        )
        first = start if start in range(len(everything.blocks)) else 0
        blocks = everything.blocks[first : first + _PER_PAGE]
        digest = replace(everything, blocks=blocks)
        listed = UpdateList(
            digest=digest,
            lines=renderer.said(digest, reader, variation=variation),
            buttons=renderer.buttons(digest, reader, variation=variation),
            controls=controls_of(
                blocks, reader, run.key.schedule, leave=leave, follows=context.follows
            ),
            due_at=run.due_at,
            start=first,
            total=len(everything.blocks),
            per_page=_PER_PAGE,
            has_parts=everything.has_parts,
        )
        return context.pages.updates(listed, reader)

    return _view(link, show, context)


def _view(link: LinkToken, show: _Show, context: ViewContext) -> str | None:
    key = link.run
    run = context.runs.get(key)
    if run is None:
        return None
    reader = context.subscribers.get(key.user_id)
    if not isinstance(reader, Subscriber) or not link.is_for(reader):
        return None
    if run.window is None:
        return context.pages.not_sent(reader)
    for _ in ATTEMPTS:
        events = _read(run, run.window, context)
        if not events:
            return context.pages.nothing_left(reader)
        with suppress(Overtaken):
            return show(run, run.window, events, reader)
    raise kept_changing(f"The window of run {run_id(key)}")


def _read(run: Run, window: Window, context: ViewContext) -> Folded:
    """Return the current events of the window that were not withdrawn."""
    now, key = context.clock(), run.key
    withdrawn = Withdrawn(context.withdrawals(), now)
    folding = Folding(load_from(key, window, context.events), whole=MOST_WHOLE)
    for stored in context.events.skim(key.user_id, key.schedule, window):
        if stored.over_at > now and not (withdrawn and withdrawn.at_of(stored)):
            folding.add(stored)
    return folding.folded()
