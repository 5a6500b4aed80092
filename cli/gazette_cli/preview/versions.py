"""Render emails with a version of the templates and the deployed settings of the stage."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

from gazette.adapters.rendering.language import Languages
from gazette.adapters.templates.unpacked import Unpacked
from gazette.domain.errors import RenderingFailed
from gazette.domain.model import Edition
from gazette.settings.delivery import GenerateSettings

from gazette_cli.preview.content import EmailContent
from gazette_cli.preview.rendering import ShownT, render_with
from gazette_cli.shared.console import NotPossible
from gazette_cli.shared.deployed import settings_of
from gazette_cli.templates.renderers import check_variation_of, renderer_of, side_of
from gazette_cli.templates.stage import files_of, refusals, version_of
from gazette_support.bootstrap.templates import build_templates
from gazette_support.steps.replay import Side


def render_version(
    letter: EmailContent, given: str, stage: str, *, variation: int
) -> tuple[Edition, Collection[str]]:
    """Render an email with a version of the templates. Return the email and the version's
    languages. Raises NotPossible.
    """
    return by_version(partial(render_with, letter), given, stage, variation=variation)


def by_version(
    show: Callable[[Side], ShownT], given: str, stage: str, *, variation: int
) -> tuple[ShownT, Collection[str]]:
    """Call a function with a version of the templates. Return the function's result, and the
    version's languages. Raises NotPossible.
    """
    settings = settings_of(stage, "generate", GenerateSettings)
    with refusals(stage):
        context = build_templates(settings)
        version = version_of(given, context)
        files = files_of(version, context, stage)
    check_variation_of(version, files, variation)
    side = replace(
        side_of(version, files, settings), renderer=renderer_of(version, files), variation=variation
    )
    unpacked = Unpacked(files)
    try:
        return show(side), Languages(unpacked.path).tags
    except RenderingFailed as err:
        raise NotPossible(f"The templates of version {version.number} failed: {err}.") from err
