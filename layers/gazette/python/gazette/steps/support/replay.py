"""Render sent emails again, with other templates and settings. Reads only, and sends nothing."""

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
from gazette.domain.feedback.experiment import Variant
from gazette.domain.identity import run_id
from gazette.domain.links import LinkToken
from gazette.domain.model import Edition, Event, StoredEvent
from gazette.domain.ports.ledgers import Runs
from gazette.domain.ports.rendering import LinkMaker, Links, Renderer, VersionTemplates
from gazette.domain.ports.stores import EventReader, Subscribers
from gazette.domain.replay import (
    BlockShown,
    Missing,
    Rendition,
    SentEmail,
    SentRuns,
    place_in_sample,
    was_sent_since,
)
from gazette.domain.stored import readable
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.window.folded import fold
from gazette.steps.delivery.edition import EditionContext, Excluded, Made, edit, make_edition
from gazette.steps.delivery.versions import Chosen

ForEachPart = Callable[[Callable[[int], "_PartRead"], Iterable[int]], Iterable["_PartRead"]]
"""Applies a function to some parts, as `map` does."""

_AT_ONCE = 4
"""Parts that are read between two looks whether they are enough."""

_FIRST = "4"
"""What sorts before this is a quarter of all runs: a sample is of these, as long as there are."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Runs to render again, in the order of the sample.

    `found`: how many sent runs were seen. `read`: how many of `parts` parts of the table were read,
    for `read_units`. `unreadable`: runs that this version cannot read.
    """

    runs: Sequence[Run]
    found: int
    read: int
    parts: int
    read_units: float
    unreadable: int


@dataclass(frozen=True, slots=True)
class _PartRead:
    runs: Sequence[Run]
    unreadable: int
    read_units: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Templates and settings. `variation`: for all emails; None: for each that of its run."""

    renderer: Renderer
    max_blocks: int
    arrangement: Arrangement
    variation: int | None = None


def take_sample(
    number: int,
    *,
    since: datetime,
    parts: int,
    most_parts: int,
    sent: SentRuns,
    each: ForEachPart = map,
) -> Sample:
    """`number` of the runs that were sent at `since` or later, always the same ones.

    Of a part it has the quarter of the runs that sorts first, so that its emails are of more
    readers; the others only where all parts have too few. Reads part after part until there are
    enough, and `most_parts` of them at most. A larger sample has all runs of a smaller one of the
    same parts. Keeps no more runs than the sample has, beside those of four parts.
    """

    def read(part: int) -> _PartRead:
        found = sent.sent_since(since, part=part, parts=parts)
        runs = list(readable(found.runs))
        return _PartRead(runs, len(found.runs) - len(runs), found.read_units)

    kept: list[tuple[int, str, Run]] = []
    first = found = seen = unreadable = 0
    units = 0.0
    left = iter(range(min(parts, most_parts)))
    while first < number and (some := list(islice(left, _AT_ONCE))):
        for part in each(read, some):
            placed = [(*_place(run, seen, parts), run) for run in part.runs]
            kept = heapq.nsmallest(number, [*kept, *placed], key=itemgetter(0, 1))
            first += sum(behind < parts for behind, _, _ in placed)
            found += len(part.runs)
            unreadable += part.unreadable
            units += part.read_units
        seen += len(some)
    return Sample([run for _, _, run in kept], found, seen, parts, units, unreadable)


def _place(run: Run, read_before: int, parts: int) -> tuple[int, str]:
    """Where a run sorts, whatever the number of the sample; `parts` or more: with the spare ones.

    `read_before`: how many parts were read before those that were read with this one.
    """
    place = place_in_sample(run)
    return read_before if place < _FIRST else parts, place


def runs_of_reader(user_id: str, number: int, *, since: datetime, runs: Runs) -> Sample:
    """The runs of one reader that were sent at `since` or later, at most `number`."""
    every = list(runs.of_user(user_id))
    told = list(readable(every))
    found = sorted((run for run in told if was_sent_since(run, since)), key=place_in_sample)
    return Sample(found[:number], len(found), 0, 0, 0.0, len(every) - len(told))


def read_email(run: Run, *, subscribers: Subscribers, events: EventReader) -> SentEmail | Missing:
    """What the email of a sent run was made of: of the events of its window those that it had."""
    if run.window is None:
        return Missing.EVENTS
    try:
        reader = subscribers.get(run.key.user_id)
        if not isinstance(reader, Subscriber):
            return Missing.READER
        stored = list(events.read(run.key.user_id, run.key.schedule, run.window))
    except UnreadableRow:
        return Missing.UNREADABLE
    shown = tuple(each.event for each in stored if run.has_shown(each.event.id, each.stored_at))
    if not shown:
        return Missing.EVENTS
    return SentEmail(run, replace(reader, locale=run.locale or reader.locale), shown)


def render_again(email: SentEmail, side: Side, *, link_maker: LinkMaker) -> Rendition:
    """The email as `side` makes it, by the code that made it for sending."""
    watched, excluding = _Watched(side.renderer), _Excluding()
    events = email.events
    while events:
        try:
            made = _edit(email, events, side, watched, excluding, link_maker)
        except RenderingFailed as err:
            return Rendition(None, excluded=tuple(excluding.excluded), failed=str(err))
        if isinstance(made, Made):
            return _rendition(made.edition, watched.last, email, excluding)
        gone = {event.id for event, _ in excluding.excluded}
        events = tuple(event for event in events if event.id not in gone)
    return Rendition(None, excluded=tuple(excluding.excluded))


def show_alone(
    email: SentEmail, events: Sequence[Event], side: Side, *, link_maker: LinkMaker
) -> Edition:
    """Render these events of an email, and exclude none. Raises RenderingFailed."""
    run = email.run
    return make_edition(
        run.key,
        events,
        email.reader,
        _links(email, link_maker),
        variation=_variant(email, side).variation,
        templates=VersionTemplates(0, side.renderer),
        max_blocks=side.max_blocks,
        arrangement=side.arrangement,
        until=_until(run),
        due_at=run.due_at,
        sources=run.sources,
    )


def _edit(
    email: SentEmail,
    events: Sequence[Event],
    side: Side,
    renderer: Renderer,
    excluding: "_Excluding",
    link_maker: LinkMaker,
) -> Made | Excluded:
    chosen = Chosen(VersionTemplates(0, renderer))
    return edit(
        email.run,
        fold(events),
        email.reader,
        _links(email, link_maker),
        chosen=chosen,
        variant=_variant(email, side),
        context=EditionContext(
            templates=lambda _: chosen,
            unusable=lambda _number, _why: None,
            experiment=lambda: None,
            deferred_events=excluding,
            max_blocks=side.max_blocks,
            arrangement=side.arrangement,
        ),
        may_have_been_sent=(),
        until=_until(email.run),
    )


def _variant(email: SentEmail, side: Side) -> Variant:
    given = email.run.variant
    return given if side.variation is None else replace(given, variation=side.variation)


def _until(run: Run) -> datetime:
    if run.window is None:
        raise ValueError(f"{run_id(run.key)} was never claimed")
    return run.window.until


def _links(email: SentEmail, link_maker: LinkMaker) -> Links:
    run = email.run
    return link_maker.links(LinkToken.of(run.key, run.due_at, email.reader))


def _rendition(
    edition: Edition, digest: Digest, email: SentEmail, excluding: "_Excluding"
) -> Rendition:
    shown = digest.shortened(edition.blocks)
    return Rendition(
        edition,
        tuple(map(_block, _in_order(shown, email))),
        shown.more_blocks,
        len(digest.blocks) - edition.blocks,
        tuple(excluding.excluded),
    )


def _in_order(digest: Digest, email: SentEmail) -> Iterator[Block]:
    """The blocks as the email shows them: under headings, in the order of these."""
    if digest.sections is Sections.NONE or email.run.key.is_immediate:
        yield from digest.blocks
        return
    for places in digest.by_section().values():
        yield from (digest.blocks[place] for place in places)


def _block(block: Block) -> BlockShown:
    entity = block.latest.entity
    return BlockShown(entity.key, entity.title, tuple(each.category for each in block.groups))


class _Watched:
    """A renderer that keeps the digest that it rendered last. For one thread."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self._last: Digest | None = None

    @property
    def last(self) -> Digest:
        """What the last email was made of, before it was shortened."""
        if self._last is None:
            raise LookupError("nothing was rendered")
        return self._last

    def arrangement(self, variation: int, of_stage: Arrangement) -> Arrangement:
        """As the port says."""
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
    ) -> Edition:
        """As the port says."""
        self._last = digest
        return self._renderer.render(
            digest, subscriber, links, schedule, variation=variation, due_at=due_at
        )

    def said(
        self, digest: Digest, subscriber: Subscriber, *, variation: int = 1
    ) -> Sequence[Sequence[str]]:
        """As the port says."""
        return self._renderer.said(digest, subscriber, variation=variation)


@dataclass(slots=True)
class _Excluding:
    """The port `DeferredEvents` where nothing is stored: it keeps what it was told to exclude."""

    excluded: list[tuple[Event, str]] = field(default_factory=list)

    def exclude(
        self,
        event: Event,
        run: Run,
        why: str,
        *,
        for_good: bool = False,  # noqa: ARG002 -- of the port, as are those below
    ) -> Run | None:
        """As the port says, but nothing changes."""
        self.excluded.append((event, why))
        return run

    def expire(
        self,
        events: Sequence[StoredEvent],  # noqa: ARG002
        run: Run,  # noqa: ARG002
        *,
        for_good: Collection[str] = (),  # noqa: ARG002
    ) -> Run | None:
        """Nothing is stored, so nothing is removed."""
        return None

    def defer(self, event_ids: Sequence[str], run: Run) -> Run | None:  # noqa: ARG002
        """Nothing is stored, so nothing is deferred."""
        return run
