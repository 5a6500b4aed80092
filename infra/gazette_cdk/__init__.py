"""The CDK construct and the CDK app of Gazette.

`gazette_cdk.app` is the app of a project whose cdk.json has the settings of its stages.
"""

import os
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gazette_cdk.construct import Gazette
    from gazette_cdk.refusal import Refused
    from gazette_cdk.settings_file import StageFile, stage_file

__all__ = ["Gazette", "Refused", "StageFile", "stage_file"]

_NODE = Path(sysconfig.get_path("scripts")) / "node"

# The CDK's Python libraries start a Node process when they are imported, by default the first Node
# on the path. The Node of this environment comes with `gazette-digest[deploy]`.
if _NODE.is_file():
    os.environ.setdefault("JSII_NODE", str(_NODE))


def __getattr__(name: str) -> object:
    """Import the construct at its first use, because the command line needs no CDK.

    Raises Refused if this machine lacks the CDK or Node.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gazette_cdk.refusal import Refused
    from gazette_cdk.tools import check_tools

    if name == "Refused":
        return Refused
    check_tools()
    from gazette_cdk import construct

    return getattr(construct, name)
