"""What went out with a run, in the browser: its email, or everything that it was made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from gazette.domain.delivery.arrangement import Arrangement
from gazette.domain.delivery.compose import compose
from gazette.domain.delivery.run import Run
from gazette.domain.links import LinkToken
from gazette.domain.model import Event
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Runs
from gazette.domain.ports.rendering import Links, Pages
from gazette.domain.ports.stores import EventReader, Subscribers
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.delivery.edition import make_edition
from gazette.steps.delivery.versions import Chosen

_Show = Callable[[Run, datetime, Sequence[Event], Subscriber], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewContext:
    """What a view reads, and what shows it. Nothing is written.

    `templates`: chooses the version of a run. `max_blocks` and `arrangement`: as in the email.
    """

    runs: Runs
    subscribers: Subscribers
    events: EventReader
    templates: Callable[[Run], Chosen]
    pages: Pages
    clock: Clock
    max_blocks: int
    arrangement: Arrangement


def view_email(link: LinkToken, links: Links, *, context: ViewContext) -> str | None:
    """The email of a run, as HTML, of what its window holds now, with links that may be shared.

    None: there is no such run, or its reader was erased or has another address. One who has left
    may look at what was sent to them.
    """

    def show(run: Run, until: datetime, events: Sequence[Event], reader: Subscriber) -> str:
        return make_edition(
            link.run,
            events,
            reader,
            links,
            variation=run.variant.variation,
            templates=context.templates(run).templates,
            max_blocks=context.max_blocks,
            arrangement=context.arrangement,
            until=until,
            due_at=run.due_at,
        ).html

    return _view(link, show, context)


def view_updates(link: LinkToken, *, context: ViewContext) -> str | None:
    """The page of all that the window of a run holds now, no line left out. None: as above."""

    def show(run: Run, until: datetime, events: Sequence[Event], reader: Subscriber) -> str:
        variation, templates = run.variant.variation, context.templates(run).templates
        settings, renderer = templates.settings, templates.renderer
        everything = compose(
            events,
            max_blocks=len(events),
            max_lines=len(events),
            arrangement=renderer.arrangement(variation, settings.arranged(context.arrangement)),
            until=until,
        )
        said = renderer.said(everything, reader, variation=variation)
        return context.pages.updates(everything, reader, said)

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
    now = context.clock()
    events = [
        stored.event
        for stored in context.events.read(key.user_id, key.schedule, run.window)
        if not stored.is_over(now)
    ]
    if not events:
        return context.pages.nothing_left(reader)
    return show(run, run.window.until, events, reader)
