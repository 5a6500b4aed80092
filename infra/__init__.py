"""The CDK app: one code base, one set of stacks per stage."""

import os
import sysconfig
from pathlib import Path

# The CDK's Python libraries talk to a Node process. Without this they would take whatever Node is
# on the path, or fail without saying why where there is none.
os.environ.setdefault("JSII_NODE", str(Path(sysconfig.get_path("scripts")) / "node"))
