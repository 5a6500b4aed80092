"""The templates of the working tree, built as synthesis builds them.

The only place of the command that knows how templates are built.
"""

import shutil
import tempfile
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gazette.adapters.rendering.environment import VARIATIONS
from gazette.adapters.rendering.language import Languages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.arrangement import (
    DEFAULT,
    WEIGHTS,
    Arrangement,
    Ranking,
    Sections,
)
from gazette.domain.errors import RenderingFailed
from gazette.domain.templates.settings import VersionSettings
from jinja2 import Environment

from cli.shared.console import NotPossible
from cli.shared.stages import stage_of
from infra.assets.inline import TemplateError
from infra.assets.templates import build_templates
from infra.assets.trial import render_all, try_out
from infra.assets.version_settings import read_version_settings

_MAX_BLOCKS = 20
"""As a stage has it that says nothing else."""


@dataclass(frozen=True, slots=True)
class Templates:
    """Folders of templates: a file of `overlay` goes before the one that it names in `source`.

    `arrangement` and `max_blocks`: what the stage says of its digests.
    """

    source: Path
    overlay: Path | None = None
    arrangement: Arrangement = DEFAULT
    max_blocks: int = _MAX_BLOCKS

    def origin(self, name: Path) -> Path:
        """The file that is shown as `name`."""
        own = self.overlay / name if self.overlay else None
        return own if own and own.exists() else self.source / name

    def speak(self, tag: str) -> bool:
        """Whether they have the language `tag`, or one that `tag` is a kind of."""
        folders = filter(None, (self.source, self.overlay))
        spoken = {spoken for folder in folders for spoken in Languages(folder).tags}
        return is_one_of(tag, spoken)


def is_one_of(tag: str, spoken: Collection[str]) -> bool:
    """Whether `spoken` has the language `tag`, or one that `tag` is a kind of."""
    return not {tag.lower(), tag.lower().partition("-")[0]}.isdisjoint(spoken)


def templates_of(stage: str, project: Path) -> Templates:
    """What a stage in cdk.json is deployed with. Raises NotPossible."""
    chosen = stage_of(stage, project)
    return Templates(
        project / "templates",
        project / chosen.templates if chosen.templates else None,
        Arrangement(
            ranking=Ranking(chosen.ranking),
            weights={**WEIGHTS, **chosen.category_weights},
            sections=Sections(chosen.sections),
            full_blocks=chosen.full_blocks,
        ),
        chosen.max_blocks,
    )


def check_variation(templates: Templates, variation: int) -> None:
    """Raises NotPossible if the templates have no such variation."""
    own = Path(VARIATIONS) / str(variation)
    if variation != 1 and not templates.origin(own).is_dir():
        raise NotPossible(
            f"There is no variation {variation}: put what it says otherwise into "
            f"{templates.source / own}."
        )


@contextmanager
def built(templates: Templates, *, inlined: bool = True) -> Iterator[Path]:
    """A folder with the templates as the layer ships them, for a while. Raises NotPossible."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            build_templates(
                templates.source, Path(folder), overlay=templates.overlay, inlined=inlined
            )
        except (TemplateError, OSError) as err:
            raise NotPossible(f"The templates cannot be built. {err}") from err
        yield Path(folder)


def tried_out(templates: Templates, folder: Path, kind: type[Environment]) -> None:
    """Render everything that synthesis renders, in an environment of this kind.

    `folder`: the templates as they were built. Raises NotPossible, naming the file, the line and
    what is wrong there.
    """
    try:
        try_out(folder, kind=kind)
    except TemplateError as err:

        def show(renderer: JinjaRenderer) -> None:
            render_all(folder, renderer)

        raise NotPossible(located(templates, show, kind=kind) or str(err)) from err


def settings_in(folder: Path) -> VersionSettings:
    """The settings that belong to a version of these built templates. Raises NotPossible."""
    try:
        return read_version_settings(folder)
    except TemplateError as err:
        raise NotPossible(str(err)) from err


def located(
    templates: Templates,
    show: Callable[[JinjaRenderer], object],
    *,
    kind: type[Environment] | None = None,
) -> str:
    """The file and the line at which `show` fails, and why; empty if that is in no template.

    Where CSS is inlined, lines move: so what the authors wrote takes its place first.
    """
    with built(templates, inlined=False) as folder:
        for written in filter(None, (templates.source, templates.overlay)):
            shutil.copytree(written, folder, dirs_exist_ok=True)
        try:
            show(JinjaRenderer(folder, kind=kind))
        except RenderingFailed as err:
            cause = err.__cause__ or err
            for frame in reversed(traceback.extract_tb(cause.__traceback__)):
                file = Path(frame.filename)
                if file.is_relative_to(folder):
                    origin = templates.origin(file.relative_to(folder))
                    return f"{origin}, line {frame.lineno}: {cause or type(cause).__name__}."
    return ""
