"""The commands that messages recommend, with the stage as an option."""

import re

DEFAULT_STAGE = "prod"
"""The stage if a command has no `--stage`."""

PUT_BACK = "npx cdk deploy --all --revert-drift"
"""The command that restores resources that were manually changed or deleted.

An ordinary deployment compares two templates, so it does not restore such resources.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/drift-aware-change-sets.html
"""
PUT_BACK_PAGE = "docs/runbook/put-back.md"

WITHOUT_STAGE = ("init", "event schemas")
"""The commands that are not about a stage, so they have no `--stage`."""

_QUOTED = re.compile(r"`gazette ([^`]+)`")


def to_run(words: str, *, stage: str) -> str:
    """Return the command `gazette <words>` for a stage, such as `gazette dlq list --stage test`.

    A command that is not about a stage gets no option.
    """
    is_complete = stage == DEFAULT_STAGE or "--stage" in words or words.startswith(WITHOUT_STAGE)
    return f"gazette {words}" if is_complete else f"gazette {words} --stage {stage}"


def aimed(text: str, *, stage: str) -> str:
    """Add the `--stage` option to each command in backticks."""
    # Also for prod, because the default of `npx cdk` is another stage in a new project.
    text = text.replace(f"`{PUT_BACK}`", f"`{PUT_BACK} -c stage={stage}`")
    return _QUOTED.sub(lambda match: f"`{to_run(match[1], stage=stage)}`", text)
