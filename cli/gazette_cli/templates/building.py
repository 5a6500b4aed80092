"""Build the templates of the working tree in the same way as in synthesis."""

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

from gazette_cdk.assets.templates.build import build_templates
from gazette_cdk.assets.templates.faults import TemplateError
from gazette_cdk.assets.templates.trial import try_out
from gazette_cdk.assets.templates.version_settings import read_version_settings
from gazette_cdk.folders import GAZETTE, project
from gazette_cli.shared.console import NotPossible
from gazette_cli.shared.stages import stage_of

SOURCE = GAZETTE / "templates"
"""The folder of Gazette's own templates."""

_MAX_BLOCKS = 20
"""The default of the `max_blocks` setting."""


@dataclass(frozen=True, slots=True)
class Templates:
    """The folders of templates, and the digest settings used with them."""

    source: Path

    # The stage's own templates, which replace files of `source`.
    overlay: Path | None = None

    arrangement: Arrangement = DEFAULT
    max_blocks: int = _MAX_BLOCKS

    def origin(self, name: Path) -> Path:
        """Return the source file of the built file `name`."""
        own = self.overlay / name if self.overlay else None
        return own if own and own.exists() else self.source / name

    def speak(self, tag: str) -> bool:
        """Return True if the templates support the language `tag` or its base language."""
        folders = filter(None, (self.source, self.overlay))
        languages = {language for folder in folders for language in Languages(folder).tags}
        return is_one_of(tag, languages)


def is_one_of(tag: str, languages: Collection[str]) -> bool:
    """Return True if `languages` contains `tag` or its base language."""
    return not {tag.lower(), tag.lower().partition("-")[0]}.isdisjoint(languages)


def templates_of(stage: str) -> Templates:
    """Return the templates of a stage of the project. Raises NotPossible."""
    chosen = stage_of(stage)
    return Templates(
        SOURCE,
        project() / chosen.templates if chosen.templates else None,
        Arrangement(
            ranking=Ranking(chosen.ranking),
            weights={**WEIGHTS, **chosen.category_weights},
            sections=Sections(chosen.sections),
            full_blocks=chosen.full_blocks,
        ),
        chosen.max_blocks,
    )


def check_variation(templates: Templates, variation: int) -> None:
    """Raise NotPossible if the templates do not have the variation."""
    own = Path(VARIATIONS) / str(variation)
    if variation != 1 and not templates.origin(own).is_dir():
        raise NotPossible(
            f"Variation {variation} does not exist. To create it, add its files to "
            f"{templates.source / own}."
        )


@contextmanager
def built(templates: Templates, *, inlined: bool = True) -> Iterator[Path]:
    """Build the templates into a temporary folder, as in the layer. Raises NotPossible."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            build_templates(
                templates.source, Path(folder), overlay=templates.overlay, inlined=inlined
            )
        except (TemplateError, OSError) as err:
            raise NotPossible(f"The build of the templates failed. {_on_one_line(err)}") from err
        yield Path(folder)


def tried_out(templates: Templates, folder: Path, kind: type[Environment]) -> None:
    """Render the emails and pages that synthesis renders, in a template environment of the given
    kind.

    `folder` has the built templates. Raises NotPossible. The error names the file, the line and the
    problem of each fault.
    """
    sources = [each for each in (templates.source, templates.overlay) if each]
    try:
        try_out(folder, kind=kind, sources=sources)
    except TemplateError as err:
        raise NotPossible(_on_one_line(err)) from err


def _on_one_line(err: Exception) -> str:
    """Return the faults of templates as one line, because commands print one line for an error."""
    return " ".join(str(err).splitlines())


def settings_in(folder: Path) -> VersionSettings:
    """Read the settings of a version from its built templates. Raises NotPossible."""
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
    """Call a function, and return the file, line and reason of a template's failure. Return "" if
    no template fails.

    Inlining CSS moves lines, so the location refers to the source files.
    """
    with built(templates, inlined=False) as folder:
        for source in filter(None, (templates.source, templates.overlay)):
            shutil.copytree(source, folder, dirs_exist_ok=True)
        try:
            show(JinjaRenderer(folder, kind=kind))
        except RenderingFailed as err:
            cause = err.__cause__ or err
            for frame in reversed(traceback.extract_tb(cause.__traceback__)):
                file = Path(frame.filename)
                if file.is_relative_to(folder):
                    origin = templates.origin(file.relative_to(folder))
                    return f"{origin}:{frame.lineno}: {cause or type(cause).__name__}."
    return ""
