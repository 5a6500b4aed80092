"""The CDK app: `npx cdk synth`, or `python -m infra.app` without the command line."""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from gazette.settings.environment import use_pinned_zones

from infra.guards import not_ready
from infra.stage.owner import ROOT
from infra.stages import StageError, read_stage, refused


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
    """Here, not where a stage is read: the command line looks at stages that are not ready."""
    stage = read_stage(given["stage"], given["stages"])
    if missing := list(not_ready(stage)):
        raise refused(stage.name, missing)


def _of_the_command_line() -> dict[str, Any]:
    """The context with which `cdk` starts this app: that of cdk.json, with what `-c` changes."""
    return dict(json.loads(os.environ.get("CDK_CONTEXT_JSON", "{}")))


if __name__ == "__main__":
    main()
