"""The templates that the layer ships, joined: one renderer a process."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from gazette.adapters.rendering.renderer import JinjaRenderer


def templates() -> Path:
    """Where they are."""
    return Path(str(files("gazette_templates")))


@cache
def renderer() -> JinjaRenderer:
    """What makes emails of them, and remembers the groups that many readers share."""
    return JinjaRenderer(templates())
