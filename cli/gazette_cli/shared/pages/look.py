"""The common look of the HTML pages that commands write: the conclusion first, then key figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gazette.adapters.console.palette import PALETTE
from gazette.adapters.console.style import Tone
from jinja2 import Environment, FileSystemLoader, StrictUndefined


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The answer to the question of a page, which the page shows before anything else."""

    text: str
    tone: Tone = Tone.NEUTRAL

    # Sentences that explain the text.
    details: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Tile:
    """A key figure, with one value."""

    name: str
    figure: str

    # An additional figure, such as the number of emails.
    detail: str = ""

    tone: Tone = Tone.NEUTRAL


def page_templates(folder: Path) -> Environment:
    """Return the environment of the page templates in a folder, which extend `base.html`."""
    environment = Environment(
        loader=FileSystemLoader([folder, Path(__file__).parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["palette"] = _palette
    return environment


def _palette(theme: str) -> str:
    """Return the colours of a theme as CSS variables. The support page has the same colours."""
    return " ".join(f"--{name}: {colour};" for name, colour in PALETTE[theme].items())
