"""Render each sent email before and after a change."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache

from gazette.domain.delivery.run import Run
from gazette.domain.model import Event
from gazette.domain.ports.rendering import LinkMaker

from gazette_cli.preview.inbox_row import after_subject
from gazette_cli.replay.comparison import Compared, Comparison, Problem, Seen
from gazette_cli.templates.renderers import VersionSide
from gazette_support.domain.replay import Missing, Rendition, SentEmail, changes_between
from gazette_support.steps.replay import Side, render_again

_AT_ONCE, _AHEAD = 16, 64
"""The number of emails that are read in parallel, and the number of emails that are read ahead."""

_LOCATED = 10
"""The maximum number of mistakes to locate in the templates. Locating a mistake requires a build.
"""

preheader_of = lru_cache(maxsize=2)(after_subject)

Locate = Callable[[SentEmail, list[Event]], str]
"""A function that returns the file and line at which an email, or one of its events, fails to
render.
"""


def compare(
    runs: Iterable[Run],
    *,
    read: Callable[[Run], SentEmail | Missing],
    before: Callable[[Run], VersionSide | Missing],
    after: Side,
    link_maker: LinkMaker,
    locate: Locate,
) -> Comparison:
    """Render the email of each run before and after the change. Only a few emails are kept in
    memory.

    `before` returns the templates version with which to render a run before the change.
    """
    comparison, mistakes = Comparison(), _Mistakes(locate)
    for run, email in _read_ahead(runs, read):
        if isinstance(email, Missing):
            comparison.missing[email] += 1
            continue
        old = before(run)
        if isinstance(old, Missing):
            comparison.missing[old] += 1
            continue
        comparison.versions[old.version] = old.side
        was, now = (render_again(email, side, link_maker=link_maker) for side in (old.side, after))
        variation = run.variant.variation if after.variation is None else after.variation
        compared = Compared(
            run,
            old.version,
            variation,
            changes_between(was, now, preheader_of=preheader_of),
            _has_same_categories(run, was),
            _seen(was, _plainly(was)),
            _seen(now, mistakes.of(email, now)),
        )
        comparison.add(compared, was, now)
    return comparison


def _read_ahead(
    runs: Iterable[Run], read: Callable[[Run], SentEmail | Missing]
) -> Iterator[tuple[Run, SentEmail | Missing]]:
    """Yield emails in the order of the runs. Read the next emails while an email is rendered."""
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


def _has_same_categories(run: Run, was: Rendition) -> bool:
    """Return True if the ranked categories of an email still match those in the run's row."""
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
    """Return the problems of an email, without their location in the templates."""
    failed = (Problem(None, rendition.failed),) if rendition.failed else ()
    return (*failed, *(Problem(event.id, why) for event, why in rendition.excluded))


class _Mistakes:
    """Locations of mistakes in templates. Only the first few mistakes are located, and each mistake
    only once.

    The same message in the templates of two categories or variations counts as two mistakes.
    """

    def __init__(self, locate: Locate) -> None:
        self._locate = locate
        self._known: dict[tuple[object, ...], str] = {}

    def of(self, email: SentEmail, rendition: Rendition) -> tuple[Problem, ...]:
        """Return the problems of an email, with their locations in the templates."""
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
        run = email.run
        categories = frozenset(event.category for event in events) if len(events) == 1 else None
        mistake = (why, categories, run.variant.variation, run.key.is_immediate)
        if mistake not in self._known and len(self._known) < _LOCATED:
            self._known[mistake] = self._locate(email, events) or why
        return self._known.get(mistake, why)
