"""Each sent email as the stage renders it now, beside what the working tree makes of it."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache

from gazette.domain.delivery.run import Run
from gazette.domain.identity import run_id
from gazette.domain.model import Event
from gazette.domain.ports.rendering import LinkMaker
from gazette.domain.replay import (
    BREAKS,
    Change,
    Missing,
    Rendition,
    SentEmail,
    changes_between,
    weight,
)
from gazette.steps.support.replay import Side, render_again

from cli.preview.inbox_row import after_subject

_AT_ONCE, _AHEAD = 16, 64
"""Emails that are read at the same time, and those that are read before they are rendered."""

_LOCATED = 10
"""Different mistakes whose file and line are looked for: each takes another build of templates."""

preheader_of = lru_cache(maxsize=2)(after_subject)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an event of an email cannot be shown; None as `event`: nothing of it can."""

    event: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Seen:
    """An email on one side, without its content. `blocks`: their titles, as they are shown."""

    subject: str
    preheader: str
    html_bytes: int
    text_bytes: int
    blocks: tuple[str, ...]
    left_out: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """A run, and what has changed. `as_sent`: the stage still makes of it what was sent."""

    run: Run
    variation: int
    changes: frozenset[Change]
    as_sent: bool
    before: Seen
    after: Seen

    @property
    def breaks(self) -> bool:
        """Whether its reader would lose something."""
        return not self.changes.isdisjoint(BREAKS)

    @property
    def place(self) -> tuple[int, str]:
        """What lists are sorted by: the most changed first."""
        return -weight(self.changes), run_id(self.run.key)


@dataclass(slots=True)
class Comparison:
    """All of them. `missing`: how many runs cannot be rendered again."""

    emails: list[Compared] = field(default_factory=list)
    missing: Counter[Missing] = field(default_factory=Counter)

    @property
    def changed(self) -> list[Compared]:
        """Those that change, the most changed first."""
        return sorted((each for each in self.emails if each.changes), key=lambda each: each.place)


Locate = Callable[[SentEmail, list[Event]], str]
"""The file and line at which an email fails, or the events of it that alone cannot be shown."""


def compare(
    runs: Iterable[Run],
    *,
    read: Callable[[Run], SentEmail | Missing],
    before: Callable[[Run], Side | Missing],
    after: Side,
    link_maker: LinkMaker,
    locate: Locate,
) -> Comparison:
    """Read and render each run. Keeps no email whole. `before`: what the stage makes of a run."""
    found, mistakes = Comparison(), _Mistakes(locate)
    for run, email in _read_ahead(runs, read):
        if isinstance(email, Missing):
            found.missing[email] += 1
            continue
        stands = before(run)
        if isinstance(stands, Missing):
            found.missing[stands] += 1
            continue
        was, now = (render_again(email, side, link_maker=link_maker) for side in (stands, after))
        variation = run.variant.variation if after.variation is None else after.variation
        found.emails.append(
            Compared(
                run,
                variation,
                changes_between(was, now, preheader_of=preheader_of),
                _is_as_sent(run, was),
                _seen(was, _plainly(was)),
                _seen(now, mistakes.of(email, now)),
            )
        )
    return found


def _read_ahead(
    runs: Iterable[Run], read: Callable[[Run], SentEmail | Missing]
) -> Iterator[tuple[Run, SentEmail | Missing]]:
    """In the order of the runs, some of which are read while others are rendered."""
    ahead: deque[tuple[Run, Future[SentEmail | Missing]]] = deque()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for run in runs:
            ahead.append((run, pool.submit(read, run)))
            if len(ahead) >= _AHEAD:
                first, email = ahead.popleft()
                yield first, email.result()
        while ahead:
            first, email = ahead.popleft()
            yield first, email.result()


def _is_as_sent(run: Run, was: Rendition) -> bool:
    """As far as the row of a run tells: it has the categories that its email showed."""
    return was.edition is not None and run.categories in {(), was.edition.categories}


def _seen(rendition: Rendition, problems: tuple[Problem, ...]) -> Seen:
    edition = rendition.edition
    return Seen(
        subject=edition.subject if edition else "",
        preheader=preheader_of(edition.html) if edition else "",
        html_bytes=rendition.html_bytes,
        text_bytes=len(edition.text.encode()) if edition else 0,
        blocks=tuple(each.title for each in rendition.blocks),
        left_out=rendition.left_out,
        problems=problems,
    )


def _plainly(rendition: Rendition) -> tuple[Problem, ...]:
    """What went wrong, without the place."""
    failed = (Problem(None, rendition.failed),) if rendition.failed else ()
    return (*failed, *(Problem(event.id, why) for event, why in rendition.excluded))


class _Mistakes:
    """Says where templates fail: for each mistake once, and not for more than a few."""

    def __init__(self, locate: Locate) -> None:
        self._locate = locate
        self._known: dict[str, str] = {}

    def of(self, email: SentEmail, rendition: Rendition) -> tuple[Problem, ...]:
        """What went wrong, and where."""
        events = {event.id: event for event in email.events}
        return tuple(
            replace(
                each,
                why=self._place(
                    email, [events[each.event]] if each.event else [*email.events], each.why
                ),
            )
            for each in _plainly(rendition)
        )

    def _place(self, email: SentEmail, events: list[Event], why: str) -> str:
        if why not in self._known and len(self._known) < _LOCATED:
            self._known[why] = self._locate(email, events) or why
        return self._known.get(why, why)
