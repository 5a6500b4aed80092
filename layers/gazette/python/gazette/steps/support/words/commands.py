"""The commands that texts recommend, with the stage as an option."""

import re

DEFAULT_STAGE = "prod"
"""The stage if a command has no `--stage`."""

WITHOUT_STAGE = ("init", "event schemas")
"""The commands that are not about a stage, so they have no `--stage`."""

_QUOTED = re.compile(r"`gazette ([^`]+)`")


def to_run(words: str, *, stage: str) -> str:
    """Return the command `gazette <words>` for a stage, such as `gazette dlq list --stage test`.

    A command that is not about a stage gets no option.
    """
    is_complete = stage == DEFAULT_STAGE or "--stage" in words or words.startswith(WITHOUT_STAGE)
    return f"gazette {words}" if is_complete else f"gazette {words} --stage {stage}"


def with_stage(text: str, *, stage: str) -> str:
    """Add the `--stage` option to each command of Gazette in backticks."""
    return _QUOTED.sub(lambda match: f"`{to_run(match[1], stage=stage)}`", text)
