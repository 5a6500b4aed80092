"""A check of the tools that the CDK needs on this machine."""

import os
import shutil
import subprocess
from importlib.util import find_spec

from gazette_cdk.refusal import Refused

_OLDEST_NODE = 22
"""The oldest major version of Node that the CDK supports.
https://docs.aws.amazon.com/cdk/v2/guide/node-versions.html
"""

_INSTALL = "Install gazette-digest[deploy], which contains {}."


def check_tools() -> None:
    """Raise Refused if the CDK's libraries or Node are missing, or if Node is too old.

    Without this check, the import of `aws_cdk` fails with an AttributeError that does not name
    Node.
    """
    if find_spec("aws_cdk") is None:
        raise Refused(f"The AWS CDK is missing. {_INSTALL.format('it')}")
    node = os.environ.get("JSII_NODE") or "node"
    path = shutil.which(node)
    if path is None:
        where = "on the path" if node == "node" else f"at {node}, the value of JSII_NODE"
        raise Refused(f"The CDK needs Node, but there is none {where}. {_INSTALL.format('Node')}")
    version = _version(path)
    if version and version < _OLDEST_NODE:
        raise Refused(
            f"The CDK needs Node {_OLDEST_NODE} or newer, but {path} is Node {version}. "
            f"{_INSTALL.format('a newer Node')} Or set JSII_NODE to the path of a newer Node."
        )


def _version(node: str) -> int:
    """Return the major version of a Node, or 0 if it does not print one."""
    run = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    major = run.stdout.strip().removeprefix("v").partition(".")[0]
    return int(major) if major.isdigit() else 0
