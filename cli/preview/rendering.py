"""Letters through the templates of the working tree, as a function would render them.

The only place of the command that knows how templates are built and rendered.
"""

import shutil
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from gazette.adapters.renderer import JinjaRenderer
from gazette.domain.compose import compose
from gazette.domain.errors import RenderingFailed
from gazette.domain.model import Edition
from gazette.domain.ports import Links

from cli.console import NotPossible
from cli.preview.letters import Letter
from infra.assets.inline import TemplateError, build_templates

_MAX_GROUPS = 20
"""As a stage has it that says nothing else."""

_LINKS = Links(unsubscribe="https://example.com/unsubscribe/preview")
"""Real ones would let whoever sees the preview act for the reader."""


def render(letter: Letter, templates: Path) -> Edition:
    """The email, by the folder `templates` as it is now.

    Raises NotPossible, naming the file, the line and what is wrong there.
    """
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "built"
        try:
            build_templates(templates, built)
            return _render(letter, built)
        except (TemplateError, OSError) as err:
            raise NotPossible(f"The templates cannot be built. {err}") from err
        except RenderingFailed as err:
            # Where CSS is inlined, lines move: what the author wrote is asked once more.
            written = Path(folder) / "written"
            shutil.copytree(built, written)
            shutil.copytree(templates, written, dirs_exist_ok=True)
            raise NotPossible(_in_words(letter, err, written, templates)) from err


def _render(letter: Letter, built: Path) -> Edition:
    digest = compose(letter.events, max_groups=_MAX_GROUPS)
    return JinjaRenderer(built).render(digest, letter.reader, _LINKS, letter.schedule)


def _in_words(letter: Letter, failed: RenderingFailed, written: Path, templates: Path) -> str:
    try:
        _render(letter, written)
    except RenderingFailed as err:
        cause = err.__cause__ or err
        frames = traceback.extract_tb(cause.__traceback__)
        for name, line in _places(frames, written):
            return f"{templates / name}, line {line}: {cause or type(cause).__name__}."
    return f"The templates cannot show this: {failed}."


def _places(
    frames: Sequence[traceback.FrameSummary], folder: Path
) -> list[tuple[Path, int | None]]:
    """Those of the frames that are in templates of `folder`, the innermost first."""
    return [
        (Path(frame.filename).relative_to(folder), frame.lineno)
        for frame in reversed(frames)
        if Path(frame.filename).is_relative_to(folder)
    ]
