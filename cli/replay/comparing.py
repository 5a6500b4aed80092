"""Renders each sent email before and after a change."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache

from gazette.domain.delivery.run import Run
from gazette.domain.model import Event
from gazette.domain.ports.rendering import LinkMaker
from gazette.domain.replay import Missing, Rendition, SentEmail, changes_between
from gazette.steps.support.replay import Side, render_again

from cli.preview.inbox_row import after_subject
from cli.replay.comparison import Compared, Comparison, Problem, Seen
from cli.templates.renderers import VersionSide

_AT_ONCE, _AHEAD = 16, 64
"""Emails that are read at the same time, and those that are read before they are rendered."""

_LOCATED = 10
"""Different mistakes whose file and line are looked for: each takes another build of templates."""

preheader_of = lru_cache(maxsize=2)(after_subject)

Locate = Callable[[SentEmail, list[Event]], str]
"""The file and line at which an email fails, or the events of it that alone cannot be shown."""


def compare(
    runs: Iterable[Run],
    *,
    read: Callable[[Run], SentEmail | Missing],
    before: Callable[[Run], VersionSide | Missing],
    after: Side,
    link_maker: LinkMaker,
    locate: Locate,
) -> Comparison:
    """Read and render each run. Keeps few emails whole, however many there are.

    `before`: the version of the templates that a run is rendered with before the change.
    """
    found, mistakes = Comparison(), _Mistakes(locate)
    for run, email in _read_ahead(runs, read):
        if isinstance(email, Missing):
            found.missing[email] += 1
            continue
        made = before(run)
        if isinstance(made, Missing):
            found.missing[made] += 1
            continue
        found.versions[made.version] = made.side
        was, now = (render_again(email, side, link_maker=link_maker) for side in (made.side, after))
        variation = run.variant.variation if after.variation is None else after.variation
        compared = Compared(
            run,
            made.version,
            variation,
            changes_between(was, now, preheader_of=preheader_of),
            _has_same_categories(run, was),
            _seen(was, _plainly(was)),
            _seen(now, mistakes.of(email, now)),
        )
        found.add(compared, was, now)
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


def _has_same_categories(run: Run, was: Rendition) -> bool:
    """Whether it has the categories that the email had, by rank: the row tells no more."""
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
    """Says where templates fail: for each mistake once, and not for more than a few.

    The same words may be of two mistakes, in the templates of two categories or variations.
    """

    def __init__(self, locate: Locate) -> None:
        self._locate = locate
        self._known: dict[tuple[object, ...], str] = {}

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
        run = email.run
        categories = frozenset(event.category for event in events) if len(events) == 1 else None
        mistake = (why, categories, run.variant.variation, run.key.is_immediate)
        if mistake not in self._known and len(self._known) < _LOCATED:
            self._known[mistake] = self._locate(email, events) or why
        return self._known.get(mistake, why)
