"""The two sides of a replay: what the stage has now, and what the working tree would deploy."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from gazette.adapters.rendering.brand import BrandError
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.variations import VariationError
from gazette.domain.model import Event
from gazette.domain.ports.rendering import LinkMaker
from gazette.domain.replay import SentEmail
from gazette.settings.delivery import GenerateSettings
from gazette.steps.support.replay import Side, show_alone

from cli.preview.rendering import Templates, built, check_variation, located, templates_of
from cli.replay.deployed_templates import write_deployed_templates
from cli.shared.console import NotPossible


def templates_to_deploy(
    stage: str, project: Path, *, own: Path | None, variation: int | None
) -> Templates:
    """Those of the working tree; with `own` in place of the stage's. Raises NotPossible."""
    tree = templates_of(stage, project)
    if own is not None:
        if not own.is_dir():
            raise NotPossible(f"--templates {own} is no folder: name one that has templates.")
        tree = replace(tree, overlay=own)
    if variation is not None:
        try:
            check_variation(tree, variation)
        except NotPossible as err:
            raise NotPossible(f"--variation {variation}: {err}") from err
    return tree


@contextmanager
def both_sides(
    stage: str, tree: Templates, settings: GenerateSettings, *, variation: int | None
) -> Iterator[tuple[Side, Side]]:
    """What the stage has, and what it would have. Raises NotPossible."""
    with built(tree) as folder, tempfile.TemporaryDirectory() as deployed:
        before = Side(
            renderer=_deployed_renderer(stage, Path(deployed), settings),
            max_blocks=settings.max_blocks,
            arrangement=settings.arrangement,
        )
        after = Side(
            renderer=_renderer(folder, settings),
            max_blocks=tree.max_blocks,
            arrangement=tree.arrangement,
            variation=variation,
        )
        yield before, after


def settings_changed(before: Side, after: Side) -> list[tuple[str, str, str]]:
    """Settings of digests that differ: a name, and its value before and after."""
    was, now = _settings(before), _settings(after)
    return [
        (name, was.get(name, "not set"), now.get(name, "not set"))
        for name in dict.fromkeys([*was, *now])
        if was.get(name) != now.get(name)
    ]


def _settings(side: Side) -> dict[str, str]:
    arrangement = side.arrangement
    weights = {
        f"category_weights, {category}": f"{weight:g}"
        for category, weight in sorted(arrangement.weights.items())
    }
    return {
        "ranking": arrangement.ranking.value,
        "sections": arrangement.sections.value,
        "max_blocks": str(side.max_blocks),
        "full_blocks": str(arrangement.full_blocks),
        "variation": "that of each run" if side.variation is None else str(side.variation),
        **weights,
    }


def locator(
    tree: Templates, after: Side, link_maker: LinkMaker
) -> Callable[[SentEmail, list[Event]], str]:
    """Finds the file and the line at which some events of an email cannot be shown."""

    def locate(email: SentEmail, events: list[Event]) -> str:
        def show(renderer: JinjaRenderer) -> None:
            show_alone(email, events, replace(after, renderer=renderer), link_maker=link_maker)

        return located(tree, show)

    return locate


def _deployed_renderer(stage: str, folder: Path, settings: GenerateSettings) -> JinjaRenderer:
    found = write_deployed_templates(stage, folder)
    try:
        return _renderer(found, settings)
    except (BrandError, VariationError) as err:
        raise NotPossible(
            f"The templates that {stage} has are of another version than this command "
            f"({str(err).replace(f'{found}/', '')}): use the command of that version."
        ) from err


def _renderer(folder: Path, settings: GenerateSettings) -> JinjaRenderer:
    """As for sending; SES removes the marks of links that it does not count: they are no change."""
    return JinjaRenderer(folder).for_sending(
        tracks_clicks=bool(settings.track_clicks), measured=nullcontext
    )
