"""What the tests of rendering share."""

from pathlib import Path

import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer


@pytest.fixture(scope="session")
def renderer(built_templates: Path) -> JinjaRenderer:
    """The renderer on the templates of the repository."""
    return JinjaRenderer(built_templates)
