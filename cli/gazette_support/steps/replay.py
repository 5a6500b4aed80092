"""Render sent emails again with different templates and settings, without sending or writing."""

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from operator import itemgetter

from gazette.domain.delivery.arrangement import Arrangement, Sections
from gazette.domain.delivery.compose import Block, Digest
from gazette.domain.delivery.run import Run
from gazette.domain.errors import RenderingFailed, UnreadableRow
from gazette.domain.identity import run_id
from gazette.domain.links import LinkToken
from gazette.domain.model import Edition, Event, StoredEvent, Window
from gazette.domain.ports.ledgers import Runs
from gazette.domain.ports.rendering import LinkMaker, Links, Renderer, VersionTemplates
from gazette.domain.ports.stores import EventReader, Subscribers
from gazette.domain.stored import readable
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.window.folded import Folded, fold
from gazette.steps.delivery.edition import exclude, fallback_of, make_edition

from gazette_support.domain.replay import (
    BlockShown,
    Missing,
    Rendition,
    SentEmail,
    SentRuns,
    place_in_sample,
    was_sent_since,
)

ForEachPart = Callable[[Callable[[int], "_PartRead"], Iterable[int]], Iterable["_PartRead"]]
"""A function that calls a function for several parts, like `map`."""

_AT_ONCE = 4
"""The number of parts that are read before the sample's size is checked again."""

_FIRST = "4"
"""The upper bound of the sort key of the quarter of runs that is sampled first."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Runs to render again, in the order in which they were sampled."""

    runs: Sequence[Run]
    runs_seen: int
    """The number of sent runs that were found."""

    read: int
    """The number of parts that were read."""

    parts: int
    """The number of parts of the table."""

    read_units: float
    """The number of read units that were consumed."""

    unreadable: int
    """The number of runs that this version cannot read."""


@dataclass(frozen=True, slots=True)
class _PartRead:
    runs: Sequence[Run]
    unreadable: int
    read_units: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of the comparison: the templates and settings to render with."""

    renderer: Renderer
    max_blocks: int
    arrangement: Arrangement
    variation: int | None = None
    """The variation for all emails. None uses the variation of each run."""


def take_sample(
    number: int,
    *,
    since: datetime,
    parts: int,
    most_parts: int,
    sent: SentRuns,
    each: ForEachPart = map,
) -> Sample:
    """Return a deterministic sample of `number` runs that were sent at `since` or later.

    Only a quarter of each part's runs is used at first, so that the emails belong to more readers.
    The remaining runs are used only if all parts have too few. Parts are read one after the other
    until there are enough runs, up to `most_parts`. A larger sample includes a smaller sample of
    the same parts. The sampled runs and the runs of four parts are kept in memory.
    """

    def read(part: int) -> _PartRead:
        runs_seen = sent.sent_since(since, part=part, parts=parts)
        runs = list(readable(runs_seen.runs))
        return _PartRead(runs, len(runs_seen.runs) - len(runs), runs_seen.read_units)

    sample: list[tuple[int, str, Run]] = []
    first = runs_seen = seen = unreadable = 0
    units = 0.0
    parts_left = iter(range(min(parts, most_parts)))
    while first < number and (some := list(islice(parts_left, _AT_ONCE))):
        for part in each(read, some):
            placed = [(*_place(run, seen, parts), run) for run in part.runs]
            sample = heapq.nsmallest(number, [*sample, *placed], key=itemgetter(0, 1))
            first += sum(behind < parts for behind, _, _ in placed)
            runs_seen += len(part.runs)
            unreadable += part.unreadable
            units += part.read_units
        seen += len(some)
    return Sample([run for _, _, run in sample], runs_seen, seen, parts, units, unreadable)


def _place(run: Run, read_before: int, parts: int) -> tuple[int, str]:
    """Return the sort key of a run, which does not depend on the size of the sample.

    The first element is the group of the run; spare runs have `parts` or more. `read_before` is the
    number of parts that were read before this part's group.
    """
    place = place_in_sample(run)
    return read_before if place < _FIRST else parts, place


def runs_of_reader(user_id: str, number: int, *, since: datetime, runs: Runs) -> Sample:
    """Return up to `number` of one reader's runs that were sent at `since` or later."""
    every = list(runs.of_user(user_id))
    readable_runs = list(readable(every))
    matches = sorted(
        (run for run in readable_runs if was_sent_since(run, since)), key=place_in_sample
    )
    return Sample(matches[:number], len(matches), 0, 0, 0.0, len(every) - len(readable_runs))


def read_email(run: Run, *, subscribers: Subscribers, events: EventReader) -> SentEmail | Missing:
    """Return the input of a sent run's email: the events of its window that the email showed."""
    if run.window is None:
        return Missing.EVENTS
    try:
        reader = subscribers.get(run.key.user_id)
        if not isinstance(reader, Subscriber):
            return Missing.READER
        stored = list(events.read(run.key.user_id, run.key.schedule, run.window))
    except UnreadableRow:
        return Missing.UNREADABLE
    events_shown = tuple(
        each.event for each in stored if run.has_shown(each.event.id, each.stored_at)
    )
    if not events_shown:
        return Missing.EVENTS
    return SentEmail(run, replace(reader, locale=run.locale or reader.locale), events_shown)


def render_again(email: SentEmail, side: Side, *, link_maker: LinkMaker) -> Rendition:
    """Return the email as rendered by `side`, with the code that renders emails for sending."""
    watched, excluding = _Watched(side.renderer), _Excluding()
    events = email.events
    templates = VersionTemplates(0, watched)

    def show(some: Iterable[Event] | Folded, templates: VersionTemplates) -> Edition:
        return _show(email, some, side, templates, link_maker)

    while events:
        folded = fold(events)
        try:
            return _rendition(show(folded, templates), watched.last, email, excluding)
        except RenderingFailed as err:
            failed = err
        try:
            exclude(
                email.run,
                folded,
                failed,
                versions=(templates,),
                show=show,
                may_have_been_sent=(),
                deferred_events=excluding,
                leave_out_bodies=lambda _: False,
            )
        except RenderingFailed as err:
            return Rendition(None, excluded=tuple(excluding.excluded), failed=str(err))
        excluded_ids = {event.id for event, _ in excluding.excluded}
        events = tuple(event for event in events if event.id not in excluded_ids)
    return Rendition(None, excluded=tuple(excluding.excluded))


def show_alone(
    email: SentEmail, events: Sequence[Event], side: Side, *, link_maker: LinkMaker
) -> Edition:
    """Render the given events of an email. Raises RenderingFailed instead of excluding events."""
    return _show(email, events, side, VersionTemplates(0, side.renderer), link_maker)


def _show(
    email: SentEmail,
    events: Iterable[Event] | Folded,
    side: Side,
    templates: VersionTemplates,
    link_maker: LinkMaker,
) -> Edition:
    run = email.run
    links = link_maker.links(LinkToken.of(run.key, run.due_at, email.reader))
    return make_edition(
        run,
        events,
        email.reader,
        replace(links, fallback=fallback_of(run, email.reader, ())),
        variation=run.variant.variation if side.variation is None else side.variation,
        templates=templates,
        max_blocks=side.max_blocks,
        arrangement=side.arrangement,
        window=_window(run),
    )


def _window(run: Run) -> Window:
    if run.window is None:
        raise ValueError(f"{run_id(run.key)} was never claimed")
    return run.window


def _rendition(
    edition: Edition, digest: Digest, email: SentEmail, excluding: "_Excluding"
) -> Rendition:
    digest_shown = digest.shortened(edition.blocks)
    return Rendition(
        edition,
        tuple(map(_block, _in_order(digest_shown, email))),
        digest_shown.more_blocks,
        len(digest.blocks) - edition.blocks,
        tuple(excluding.excluded),
    )


def _in_order(digest: Digest, email: SentEmail) -> Iterator[Block]:
    """Yield the blocks in the order of the email, grouped under headings."""
    if digest.sections is Sections.NONE or email.run.key.is_immediate:
        yield from digest.blocks
        return
    for places in digest.by_section().values():
        yield from (digest.blocks[place] for place in places)


def _block(block: Block) -> BlockShown:
    entity = block.latest.entity
    return BlockShown(entity.key, entity.title, tuple(each.category for each in block.groups))


class _Watched:
    """A renderer that keeps the digest that it rendered last. Not thread-safe."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self._last: Digest | None = None

    @property
    def last(self) -> Digest:
        """The digest of the last email, before it was shortened."""
        if self._last is None:
            raise LookupError("no email was rendered")
        return self._last

    def arrangement(self, variation: int, of_stage: Arrangement) -> Arrangement:
        """Return the arrangement of the wrapped renderer."""
        return self._renderer.arrangement(variation, of_stage)

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: Links,
        schedule: str,
        *,
        variation: int = 1,
        due_at: datetime | None = None,
        is_first: bool = False,
    ) -> Edition:
        """Render with the wrapped renderer and keep the digest."""
        self._last = digest
        return self._renderer.render(
            digest,
            subscriber,
            links,
            schedule,
            variation=variation,
            due_at=due_at,
            is_first=is_first,
        )

    def said(
        self, digest: Digest, subscriber: Subscriber, *, variation: int = 1
    ) -> Sequence[Sequence[str]]:
        """Return the texts of the wrapped renderer."""
        return self._renderer.said(digest, subscriber, variation=variation)

    def buttons(
        self, digest: Digest, subscriber: Subscriber, *, variation: int = 1
    ) -> Sequence[str]:
        """Return the texts of the wrapped renderer."""
        return self._renderer.buttons(digest, subscriber, variation=variation)


@dataclass(slots=True)
class _Excluding:
    """A `DeferredEvents` implementation without storage, which collects excluded events."""

    excluded: list[tuple[Event, str]] = field(default_factory=list)

    def exclude(
        self,
        event: Event,
        run: Run,
        why: str,
        *,
        for_good: bool = False,  # noqa: ARG002 -- the port has these parameters
    ) -> Run | None:
        """Collect the event and return the unchanged run."""
        self.excluded.append((event, why))
        return run

    def expire(
        self,
        events: Sequence[StoredEvent],  # noqa: ARG002
        run: Run,  # noqa: ARG002
        *,
        for_good: Collection[str] = (),  # noqa: ARG002
    ) -> Run | None:
        """Return None, because no events are stored."""
        return None

    def withdraw(
        self,
        events: Sequence[StoredEvent],  # noqa: ARG002
        run: Run,  # noqa: ARG002
        *,
        for_good: Collection[str] = (),  # noqa: ARG002
    ) -> Run | None:
        """Return None, because no events are stored."""
        return None

    def leave_out(
        self,
        stored: StoredEvent,  # noqa: ARG002
        *,
        for_good: bool = False,  # noqa: ARG002
    ) -> bool:
        """Return False, because no events are stored."""
        return False

    def defer(self, event_ids: Sequence[str], run: Run) -> Run | None:  # noqa: ARG002
        """Return the run, because no events are stored."""
        return run
