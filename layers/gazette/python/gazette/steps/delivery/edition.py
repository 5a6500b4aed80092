"""From the events of a window to the email that shows them, addressed to its reader."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gazette.domain.delivery.compose import compose
from gazette.domain.delivery.run import Run
from gazette.domain.errors import Overtaken, RenderingFailed
from gazette.domain.feedback.experiment import Variant
from gazette.domain.identity import run_id
from gazette.domain.model import Actor, Edition, Entity, Event, Mail, RunKey
from gazette.domain.ports.control import RunningExperiment
from gazette.domain.ports.rendering import Links, Renderer
from gazette.domain.ports.stores import DeferredEvents
from gazette.domain.subscribers.subscriber import Subscriber

_HARMLESS = Event(
    user_id="nobody",
    id="harmless",
    category="update",
    entity=Entity("post", "harmless", "A title", "https://example.com/"),
    actor=Actor("somebody", "Somebody"),
    occurred_at=datetime(2026, 1, 1, tzinfo=UTC),
)
"""What every template shows: where it does not, the template is at fault and no event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What edits emails. `max_groups`: how many groups one shows."""

    renderer: Renderer
    experiment: RunningExperiment
    deferred_events: DeferredEvents
    max_groups: int


@dataclass(frozen=True, slots=True)
class Excluded:
    """How many events were, and the run as it is then."""

    run: Run
    events: int


def edit(
    run: Run,
    events: Sequence[Event],
    subscriber: Subscriber,
    links: Links,
    *,
    variant: Variant,
    desk: Desk,
    may_have_gone: Collection[str],
) -> Edition | Excluded:
    """The edition that shows `events`; or how many of them were excluded instead.

    Those cannot be shown, each by itself, and would hold up everything else of their reader
    (rule 17): whoever reads the window again no longer finds them. One whose id is `may_have_gone`
    may have gone out, and is excluded for good (rule 9). Where not even a harmless event can be
    shown, RenderingFailed is raised, and nothing is excluded. Raises Overtaken where run or event
    have changed since they were read.
    """

    def show(some: Iterable[Event]) -> Edition:
        return make_edition(
            run.key,
            some,
            subscriber,
            links,
            variation=variant.variation,
            renderer=desk.renderer,
            max_groups=desk.max_groups,
        )

    try:
        return show(events)
    except RenderingFailed:
        show([_HARMLESS])
        done = Excluded(run, 0)
        for event in events:
            try:
                show([event])
            except RenderingFailed as why:
                since = desk.deferred_events.exclude(
                    event, done.run, str(why), for_good=event.id in may_have_gone
                )
                if since is None:
                    raise Overtaken(f"Run {run_id(run.key)} changed meanwhile.") from why
                done = Excluded(since, done.events + 1)
        if not done.events:
            raise
        return done


def make_edition(
    key: RunKey,
    events: Iterable[Event],
    subscriber: Subscriber,
    links: Links,
    *,
    variation: int,
    renderer: Renderer,
    max_groups: int,
) -> Edition:
    """The email that shows `events`, ranked as the variation has it. Raises RenderingFailed."""
    digest = compose(events, max_groups=max_groups, ranking=renderer.ranking(variation))
    return renderer.render(digest, subscriber, links, key.schedule, variation=variation)


def address(
    run: Run,
    edition: Edition,
    subscriber: Subscriber,
    links: Links,
    *,
    list_id: str,
    installation: str,
) -> Mail:
    """One-click unsubscribe: RFC 8058. List-Id: RFC 2919. Auto-Submitted: RFC 3834."""
    return Mail(
        to=subscriber.email,
        edition=edition,
        headers=(
            ("List-Unsubscribe", f"<{links.unsubscribe}>"),
            ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
            ("List-Id", f"<{list_id}>"),
            ("Auto-Submitted", "auto-generated"),
        ),
        tags=(
            ("run", run_id(run.key)),
            ("attempt", str(run.attempt)),
            ("installation", installation),
        ),
        is_immediate=run.key.is_immediate,
    )
