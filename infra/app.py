"""The CDK app: `npx cdk synth`, or `python -m infra.app` without the command line."""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from gazette.settings.environment import use_pinned_zones

from infra.guards import not_ready
from infra.stage.checks.others import Place, taken_by_others
from infra.stage.owner import ROOT
from infra.stages import StageError, other_stages, read_stage, refused


def context() -> dict[str, Any]:
    """The context of cdk.json. The command line's `-c` takes precedence."""
    return dict(json.loads((ROOT / "cdk.json").read_text())["context"])


def main() -> None:
    """Synthesise, or exit with a line for each thing that is wrong.

    What the stage does not say yet comes before the CDK is imported and layers are built, which
    takes twenty seconds.
    """
    use_pinned_zones()
    given = context()
    try:
        _demand_what_is_missing({**given, **_of_the_command_line()})
    except StageError as err:
        sys.exit("\n".join(f"gazette: {line}" for line in str(err).splitlines()))
    from infra.assembly import synthesise

    synthesise(given)


def _demand_what_is_missing(given: Mapping[str, Any]) -> None:
    """Raises StageError for a stage that is not ready, or takes the name of another one.

    Here, not where a stage is read: the command line looks at stages that are not ready.
    """
    stage = read_stage(given["stage"], given["stages"])
    others = other_stages(stage.name, given["stages"])
    taken = taken_by_others(stage, others, default=_place_of_the_credentials())
    if wrong := [*not_ready(stage), *taken]:
        raise refused(stage.name, wrong)


def _place_of_the_credentials() -> Place:
    """Return the account and region of `cdk`'s credentials, for stages that do not specify theirs.

    https://docs.aws.amazon.com/cdk/v2/guide/environments.html
    """
    account, region = (os.environ.get(f"CDK_DEFAULT_{each}", "") for each in ("ACCOUNT", "REGION"))
    return Place(account, region)


def _of_the_command_line() -> dict[str, Any]:
    """The context with which `cdk` starts this app: that of cdk.json, with what `-c` changes."""
    return dict(json.loads(os.environ.get("CDK_CONTEXT_JSON", "{}")))


if __name__ == "__main__":
    main()
