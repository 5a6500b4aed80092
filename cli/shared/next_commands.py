"""The commands that texts tell people to run: pasted, they act on the stage that the text is of."""

import re

DEFAULT_STAGE = "prod"
"""The stage of a command without `--stage`."""

_QUOTED = re.compile(r"`gazette ([^`]+)`")


def to_run(words: str, *, stage: str) -> str:
    """The command `gazette <words>` for a stage, such as `gazette dlq list --stage test`."""
    is_said = stage == DEFAULT_STAGE or "--stage" in words
    return f"gazette {words}" if is_said else f"gazette {words} --stage {stage}"


def aimed(text: str, *, stage: str) -> str:
    """The same text, with each command that it has between backticks for a stage."""
    return _QUOTED.sub(lambda found: f"`{to_run(found[1], stage=stage)}`", text)
