"""The commands that messages recommend, with the stage as an option."""

from gazette.steps.support.words import commands

DEFAULT_STAGE = commands.DEFAULT_STAGE
WITHOUT_STAGE = commands.WITHOUT_STAGE
to_run = commands.to_run

PUT_BACK = "npx cdk deploy --all --revert-drift"
"""The command that restores resources that were manually changed or deleted.

An ordinary deployment compares two templates, so it does not restore such resources.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/drift-aware-change-sets.html
"""
PUT_BACK_PAGE = "docs/runbook/put-back.md"


def aimed(text: str, *, stage: str) -> str:
    """Add the `--stage` option to each command in backticks."""
    # Also for prod, because the default of `npx cdk` is another stage in a new project.
    text = text.replace(f"`{PUT_BACK}`", f"`{PUT_BACK} -c stage={stage}`")
    return commands.with_stage(text, stage=stage)
