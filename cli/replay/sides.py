"""What emails are rendered with after a change: the working tree, or a version of the stage."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.settings.delivery import GenerateSettings
from gazette.steps.support.replay import Side
from gazette.steps.support.templates import TemplatesContext

from cli.templates.building import Templates, built, check_variation, settings_in, templates_of
from cli.templates.renderers import check_variation_of, side_of
from cli.templates.stage import files_of, version_of

PROJECT = Path(__file__).parents[2]


@contextmanager
def of_the_tree(
    stage: str, own: Path | None, variation: int | None, settings: GenerateSettings
) -> Iterator[tuple[Side, Templates | None]]:
    """What the working tree has, and its folders."""
    tree = templates_of(stage, PROJECT)
    if own is not None:
        tree = replace(tree, overlay=own)
    if variation is not None:
        check_variation(tree, variation)
    with built(tree) as folder:
        says = settings_in(folder)
        after = Side(
            renderer=_renderer(folder, settings),
            max_blocks=says.max_blocks or tree.max_blocks,
            arrangement=says.arranged(tree.arrangement),
            variation=variation,
        )
        yield after, tree


@contextmanager
def of_a_version(
    given: str,
    variation: int | None,
    settings: GenerateSettings,
    *,
    context: TemplatesContext,
    stage: str,
) -> Iterator[tuple[Side, Templates | None]]:
    """What a version of the stage has; its files are in no folder that somebody could mend."""
    version = version_of(given, context)
    files = files_of(version, context, stage)
    if variation is not None:
        check_variation_of(version, files, variation)
    yield replace(side_of(version, files, settings), variation=variation), None


def _renderer(folder: Path, settings: GenerateSettings) -> JinjaRenderer:
    """As for sending; SES removes the marks of links that it does not count: they are no change."""
    return JinjaRenderer(folder).for_sending(
        tracks_clicks=bool(settings.track_clicks), measured=nullcontext
    )
