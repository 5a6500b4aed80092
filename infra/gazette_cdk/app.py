"""The CDK app of a project whose cdk.json has the settings of its stages. Run it with
`npx cdk synth`, or with `python -m gazette_cdk.app` if the CDK CLI is not installed.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from gazette.settings.environment import use_pinned_zones

from gazette_cdk import folders
from gazette_cdk.guards import check_ready, default_place
from gazette_cdk.refusal import Refused
from gazette_cdk.stages import StageError, other_stages, read_stage
from gazette_cdk.tools import check_tools


def context() -> dict[str, Any]:
    """Return the context of the project's cdk.json."""
    return folders.context()


def main() -> None:
    """Synthesise the stacks, or exit with a line for each problem.

    Check the stage first, because importing the CDK and building the layers take twenty seconds.
    """
    use_pinned_zones()
    try:
        context_of_file = context()
    except (OSError, ValueError, KeyError, TypeError) as err:
        file = folders.project() / "cdk.json"
        raise Refused(f"{file} is unreadable or has no context ({err}). Fix the file.") from err
    try:
        _check_stage({**context_of_file, **_context_of_command_line()})
    except StageError as err:
        raise Refused(str(err)) from err
    check_tools()
    from gazette_cdk.assembly import synthesise

    synthesise(context_of_file)


def _check_stage(given: Mapping[str, Any]) -> None:
    """Raise StageError if a stage is not ready to deploy, or uses a name that another stage also
    uses.

    `read_stage` does not make this check, because the `gazette` command also works with stages that
    are not ready.
    """
    stage = read_stage(given["stage"], given["stages"])
    check_ready(stage, other_stages(stage.name, given["stages"]), default=default_place())


def _context_of_command_line() -> dict[str, Any]:
    """Return the context that the CDK CLI passes to this app: cdk.json, with overrides from the
    `-c` option.
    """
    return dict(json.loads(os.environ.get("CDK_CONTEXT_JSON", "{}")))


if __name__ == "__main__":
    main()
