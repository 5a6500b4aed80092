"""The commands that texts tell people to run: pasted, they act on the stage that the text is of."""

import re

DEFAULT_STAGE = "prod"
"""The stage of a command without `--stage`."""

PUT_BACK = "make deploy REVERT_DRIFT=1"
"""Puts back what somebody changed or deleted. CloudFormation compares template with template
otherwise, so a deployment mends nothing; docs/runbook/put-back.md says what it cannot read.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/drift-aware-change-sets.html"""
PUT_BACK_PAGE = "docs/runbook/put-back.md"

_QUOTED = re.compile(r"`gazette ([^`]+)`")


def to_run(words: str, *, stage: str) -> str:
    """The command `gazette <words>` for a stage, such as `gazette dlq list --stage test`."""
    is_said = stage == DEFAULT_STAGE or "--stage" in words
    return f"gazette {words}" if is_said else f"gazette {words} --stage {stage}"


def aimed(text: str, *, stage: str) -> str:
    """The same text, with each command that it has between backticks for a stage."""
    if stage != DEFAULT_STAGE:
        text = text.replace(f"`{PUT_BACK}`", f"`{PUT_BACK} STAGE={stage}`")
    return _QUOTED.sub(lambda found: f"`{to_run(found[1], stage=stage)}`", text)
