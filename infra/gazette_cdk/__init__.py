"""The CDK app, which creates one set of stacks for each stage."""

import os
import sysconfig
from pathlib import Path

# The CDK's Python libraries start a Node process. By default they use the first Node on the path,
# or fail without an explanation if there is none.
os.environ.setdefault("JSII_NODE", str(Path(sysconfig.get_path("scripts")) / "node"))
