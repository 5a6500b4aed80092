"""Render emails with the templates of the working tree."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.compose import compose
from gazette.domain.errors import RenderingFailed
from gazette.domain.model import Edition
from gazette.domain.ports.rendering import Links, SunsetNotice

from gazette_cli.preview.content import EmailContent
from gazette_cli.shared.console import NotPossible
from gazette_cli.templates.building import Templates, built, check_variation, located, settings_in
from gazette_support.steps.replay import Side

ShownT = TypeVar("ShownT")

LINKS = Links(
    unsubscribe="https://example.com/unsubscribe/preview",
    preferences="https://example.com/preferences/preview",
    email="https://example.com/email/preview",
    updates="https://example.com/updates/preview",
    leave=lambda scope: f"https://example.com/leave/{scope.kind}",
    keep=lambda: "https://example.com/keep/preview",
    fallback="daily",
)
"""Placeholder links. With real links, anyone who sees the preview could act on behalf of the
reader.
"""


def render(letter: EmailContent, templates: Templates, *, variation: int = 1) -> Edition:
    """Render an email with the templates of the working tree.

    Raises NotPossible. The error names the file, the line and the problem.
    """
    return by_tree(partial(render_with, letter), templates, variation=variation)


def by_tree(
    show: Callable[[Side], ShownT],
    templates: Templates,
    *,
    variation: int = 1,
    inlined: bool = True,
) -> ShownT:
    """Call `show` with the templates of the working tree, and return the result. Raises
    NotPossible.

    If `inlined` is True, the CSS is inlined, which is slower.
    """
    check_variation(templates, variation)
    with built(templates, inlined=inlined) as folder:
        says = settings_in(folder)
        side = Side(
            renderer=JinjaRenderer(folder),
            max_blocks=says.max_blocks or templates.max_blocks,
            arrangement=says.arranged(templates.arrangement),
            variation=variation,
        )
        try:
            return show(side)
        except RenderingFailed as err:
            place = located(templates, lambda renderer: show(replace(side, renderer=renderer)))
            raise NotPossible(place or f"The templates failed: {err}.") from err


def render_with(letter: EmailContent, side: Side) -> Edition:
    """Render an email with the given templates and settings. Raises RenderingFailed."""
    variation = side.variation or 1
    arrangement = side.renderer.arrangement(variation, side.arrangement)
    digest = compose(letter.events, max_blocks=side.max_blocks, arrangement=arrangement)
    notice = SunsetNotice.of(letter.ends_on, LINKS.keep()) if letter.ends_on else None
    return side.renderer.render(
        digest,
        letter.reader,
        replace(LINKS, sunset=notice),
        letter.schedule,
        variation=variation,
        due_at=letter.due_at,
    )
