"""The code blocks of a page."""

import re
from textwrap import dedent


def code_blocks(text: str, language: str) -> list[str]:
    """Return the blocks of a language in Markdown, also those in lists."""
    blocks = re.findall(rf"^ *```{language}\n(.+?)^ *```$", text, re.MULTILINE | re.DOTALL)
    return [dedent(block) for block in blocks]
