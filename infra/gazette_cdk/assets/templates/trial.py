"""A trial rendering of every email from the built templates, to find errors before a deployment."""

import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from traceback import extract_tb

from gazette.adapters.rendering.environment import VARIATIONS
from gazette.adapters.rendering.language import Languages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.arrangement import Arrangement, Sections
from gazette.domain.delivery.compose import compose
from gazette.domain.errors import RenderingFailed
from gazette.domain.links import NEW_LINK
from gazette.domain.model import Actor, Edition, Entity, Event, Image, Importance
from gazette.domain.ports.rendering import Links
from gazette.domain.scheduling.kinds import (
    ScheduleKind,
    critical_schedule,
    immediate_schedule,
    is_critical,
    kind_of,
)
from gazette.domain.subscribers.subscriber import Subscriber
from jinja2 import Environment

from gazette_cdk.assets.templates.data_schemas import example_of
from gazette_cdk.assets.templates.faults import Fault, TemplateError

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_URL = "https://example.com/what-happened"
"""The target of every link in a trial."""

_LINKS = Links(
    "https://example.com/unsubscribe",
    "https://example.com/choose",
    "https://example.com/email",
    "https://example.com/updates",
    lambda scope: f"https://example.com/leave/{scope.kind}",
    fallback="daily",
)
_SCHEDULES = (
    "daily",
    "weekly",
    "custom",
    immediate_schedule("post#1"),
    critical_schedule("post#1"),
)
_READER = Subscriber(
    user_id="reader",
    email="reader@example.com",
    name="Reader",
    locale="en",
    time_zone="UTC",
    changed_at=_NOW,
)


def try_out(
    built: Path,
    *,
    kind: type[Environment] | None = None,
    sources: Sequence[Path] = (),
    without: Collection[Path] = (),
) -> None:
    """Render emails of each kind, language, variation and category, first with one event and then
    with several.

    `kind` is the class of JinjaRenderer's environment. Raise TemplateError with each template that
    cannot be rendered, and with each email that lacks the event or the unsubscribe link. `sources`
    are the folders that the templates were built from, which the faults name with their lines. The
    files in `without` were left out of the build.
    """
    faults = _faults(built, kind, lambda name: Path(name))
    if faults and sources:
        with TemporaryDirectory() as folder:
            uninlined = Path(folder) / built.name
            shutil.copytree(built, uninlined)
            _copy_templates(sources, without, uninlined)
            faults = _faults(uninlined, kind, partial(_origin, sources)) or faults
    if faults:
        raise TemplateError(*faults)


def _faults(
    built: Path, kind: type[Environment] | None, origin: Callable[[str], Path]
) -> list[Fault]:
    """Return the faults of all emails, each once, with its first email."""
    faults: dict[tuple[str, int, str], Fault] = {}

    def add(file: str, line: int, reason: str, text: str) -> None:
        faults.setdefault((file, line, reason), Fault(str(origin(file)), line, text))

    def fail(err: RenderingFailed) -> None:
        file, line = _where(err, built)
        add(file, line, str(err.__cause__ or err), f"an email cannot be rendered ({err}).")

    def check(edition: Edition, schedule: str) -> None:
        for file, text in _missing(edition, schedule):
            add(file, 0, text, text)

    render_all(built, JinjaRenderer(built, kind=kind), check=check, failed=fail)
    return [*faults.values()]


def _copy_templates(sources: Sequence[Path], without: Collection[Path], target: Path) -> None:
    """Copy templates as they are in their folders, because inlining CSS moves their lines."""
    for folder in sources:
        for file in folder.rglob("*.*"):
            into = target / file.relative_to(folder)
            if file.suffix in {".html", ".txt"} and into.exists() and file not in without:
                shutil.copy(file, into)


def _origin(sources: Sequence[Path], name: str) -> Path:
    """Return the file that a built template comes from."""
    return next((each / name for each in reversed(sources) if (each / name).exists()), Path(name))


def _raise(err: RenderingFailed) -> None:
    raise err


def render_all(
    built: Path,
    renderer: JinjaRenderer,
    *,
    check: Callable[[Edition, str], object] = lambda *_: None,
    failed: Callable[[RenderingFailed], object] = _raise,
) -> None:
    """Render an email of each kind, language, variation and category.

    `renderer` must use the templates in `built`. `check` is called with each email that shows
    events, and its schedule. `failed` is called with the error of each email that cannot be
    rendered, with the language and variation.
    """
    digests = [compose(events, max_blocks=1000) for events in _few_and_many(built)]
    *_, many = _few_and_many(built)
    digests.append(compose(many, max_blocks=1, max_lines=1))
    for sections in (Sections.CATEGORY, Sections.PARENT):
        arrangement = Arrangement(sections=sections, full_blocks=1)
        digests.append(compose(many, max_blocks=1000, arrangement=arrangement))
    variations = [1, *(int(folder.name) for folder in sorted((built / VARIATIONS).glob("*/")))]
    for variation, tag, schedule in product(variations, sorted(Languages(built).tags), _SCHEDULES):
        reader = replace(_READER, locale=tag)
        for digest in digests:
            try:
                edition = renderer.render(
                    digest,
                    reader,
                    _LINKS,
                    schedule,
                    variation=variation,
                    due_at=_NOW,
                    is_first=digest is digests[1],
                )
            except RenderingFailed as err:
                text = f"{err}; language {tag}, variation {variation}"
                located = RenderingFailed(text)
                located.__cause__ = err.__cause__ or err
                failed(located)
                continue
            if digest is not digests[0]:  # the email with the new link has no events
                check(edition, schedule)


def _missing(edition: Edition, schedule: str) -> Iterator[tuple[str, str]]:
    """Yield the templates of an email that omit its events or a required link, with the problem.
    Omitted events would count as sent.
    """
    folder = "digest" if kind_of(schedule) is ScheduleKind.DIGEST else "immediate"
    for name, part in (("body.html", edition.html), ("body.txt", edition.text)):
        if _URL not in part:
            yield (
                f"{folder}/{name}",
                (
                    "its emails have no link to the event, but their events would count as sent. "
                    "Show the blocks."
                ),
            )
        if _LINKS.unsubscribe not in part and not is_critical(schedule):
            yield (
                f"{folder}/{name}",
                "its emails have no link to unsubscribe. Show `links.unsubscribe`.",
            )


def _few_and_many(built: Path) -> Iterator[list[Event]]:
    """Yield the contents of the trial emails: an email with a new link, events without actors, and
    events with actors.

    First yield one event of each category, then several. Two categories share an entity. Some
    people have links, and the first entity has an important event in the longest email. Event data
    is the example in the category's schema.
    """
    yield [_event(NEW_LINK, 0, "")]
    categories = sorted(folder.name for folder in (built / "categories").glob("*/"))
    data = {category: example_of(built, category) for category in categories}
    without_actors = [
        replace(_event(category, each, "", entity=place // 2), actor=None, data=data[category])
        for place, category in enumerate(categories)
        for each in range(2)
    ]
    yield without_actors[::2]
    yield without_actors
    for number in (1, 2, 5):
        excerpt = "Some words" if number > 1 else ""
        yield [
            replace(_event(category, each, excerpt, entity=place // 2), data=data[category])
            for place, category in enumerate(categories)
            for each in range(number)
        ]


def _event(category: str, number: int, excerpt: str, entity: int = 1) -> Event:
    return Event(
        user_id=_READER.user_id,
        id=f"{category}{number}",
        category=category,
        entity=Entity(
            "post",
            f"{entity}",
            "A title",
            _URL,
            Image("https://example.com/picture.png", "A picture") if excerpt else None,
        ),
        actor=Actor(
            f"{number}",
            f"Somebody {number}",
            url="https://example.com/somebody" if number % 3 else "",
            avatar="" if number % 2 else "https://example.com/avatar.png",
        ),
        occurred_at=_NOW,
        excerpt=excerpt,
        parent_title="A parent",
        importance=Importance.HIGH if (entity, number) == (0, 4) else Importance.NORMAL,
    )


def _where(err: RenderingFailed, built: Path) -> tuple[str, int]:
    """Return the template whose rendering failed, relative to its folder, and the line."""
    frames = extract_tb(err.__cause__.__traceback__) if err.__cause__ else []
    for frame in reversed(frames):
        file = Path(frame.filename)
        if file.is_relative_to(built):
            return str(file.relative_to(built)), frame.lineno or 0
    return "templates", 0
