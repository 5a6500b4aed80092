"""The templates that the layer ships, and one renderer per process."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from gazette.adapters.rendering.renderer import JinjaRenderer


def templates() -> Path:
    """Return the directory of the templates."""
    return Path(str(files("gazette_templates")))


@cache
def renderer() -> JinjaRenderer:
    """Return the renderer, which caches groups that many readers share."""
    return JinjaRenderer(templates())
