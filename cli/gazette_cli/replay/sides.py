"""The two sides of a replay: the stage before the change, and the working tree or a version after
the change.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.model import Event
from gazette.domain.ports.rendering import LinkMaker
from gazette.domain.templates.versions import InForce
from gazette.settings.delivery import GenerateSettings

from gazette_cdk.folders import stages_file
from gazette_cli.shared.console import NotPossible, printable
from gazette_cli.templates.building import (
    Templates,
    built,
    check_variation,
    located,
    settings_in,
    templates_of,
)
from gazette_cli.templates.renderers import check_variation_of, side_of
from gazette_cli.templates.stage import files_of, in_words_of, number_of, version_of
from gazette_support.domain.replay import SentEmail
from gazette_support.domain.templates.changes import InvalidRollout
from gazette_support.steps.replay import Side, show_alone
from gazette_support.steps.templates import TemplatesContext


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """The templates and settings after the change."""

    # The name, such as `version 7`.
    name: str

    # The name, with the settings in use.
    description: str

    side: Side

    # The folders of the templates. None for a version, whose files are not in a folder.
    tree: Templates | None = None


def before_in_words(stage: str, in_force: InForce, *, as_sent: bool) -> str:
    """Describe the templates and settings before the change."""
    if as_sent:
        return f"the settings of {stage}, and the version that each email was sent with"
    return f"the settings of {stage}, where {in_words_of(in_force)}"


def templates_of_tree(stage: str, *, own: Path | None, variation: int | None) -> Templates:
    """Return the templates of the working tree. `own` replaces the stage's own templates.

    Raises NotPossible.
    """
    tree = templates_of(stage)
    if own is not None:
        if not own.is_dir():
            raise NotPossible(
                f"--templates {own} is not a folder. Specify the folder that contains your "
                "templates."
            )
        tree = replace(tree, overlay=own)
    if variation is not None:
        with _of_option(f"--variation {variation}"):
            check_variation(tree, variation)
    return tree


@contextmanager
def after_tree(
    tree: Templates, stage: str, variation: int | None, settings: GenerateSettings
) -> Iterator[After]:
    """Build the templates of the working tree. Raises NotPossible."""
    with built(tree) as folder:
        says = settings_in(folder)
        yield After(
            name="this working tree",
            description=f"the templates of the working tree, and the settings of {stage} in "
            f"{stages_file().name}",
            side=Side(
                renderer=JinjaRenderer(folder).for_sending(
                    tracks_clicks=bool(settings.track_clicks), measured=nullcontext
                ),
                max_blocks=says.max_blocks or tree.max_blocks,
                arrangement=says.arranged(tree.arrangement),
                variation=variation,
            ),
            tree=tree,
        )


def check_version(given: str) -> None:
    """Raise NotPossible if the text is not a version. The version need not exist in the stage."""
    with _of_option(f"--version {printable(given)}"):
        number_of(given)


def after_version(
    given: str,
    stage: str,
    variation: int | None,
    settings: GenerateSettings,
    *,
    context: TemplatesContext,
) -> After:
    """Read a version of the stage. Raises NotPossible."""
    with _of_option(f"--version {given}"):
        version = version_of(given, context)
    files = files_of(version, context, stage)
    if variation is not None:
        with _of_option(f"--variation {variation}"):
            check_variation_of(version, files, variation)
    name = "the deployed templates" if version.is_deployed else f"version {version.number}"
    return After(
        name=name,
        description=f"{name}, and the deployed settings of {stage} for all other settings",
        side=replace(side_of(version, files, settings), variation=variation),
    )


def locator(after: After, link_maker: LinkMaker) -> Callable[[SentEmail, list[Event]], str]:
    """Return a function that finds the file and the line at which an email's events fail to render.

    For a version, the function returns "".
    """

    def locate(email: SentEmail, events: list[Event]) -> str:
        def show(renderer: JinjaRenderer) -> None:
            side = replace(after.side, renderer=renderer)
            show_alone(email, events, side, link_maker=link_maker)

        return located(after.tree, show) if after.tree else ""

    return locate


@contextmanager
def _of_option(option: str) -> Iterator[None]:
    """Add the name of the invalid option to an error."""
    try:
        yield
    except (NotPossible, InvalidRollout) as err:
        end = "." if isinstance(err, InvalidRollout) else ""
        raise NotPossible(f"{option}: {printable(str(err))}{end}") from err
