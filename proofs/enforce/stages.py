"""The stages whose policies are judged, synthesised as a deployment would, without their layers."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proofs.enforce.account import Account
from proofs.enforce.template import Templates

ROOT = Path(__file__).parents[2]

EVERYTHING: Mapping[str, Any] = {
    "sender": "Gazette <digest@gazette.dev>",
    "immediate_sender": "Now <now@gazette.dev>",
    "list_id": "digest.gazette.dev",
    "alarm_email": "alarms@gazette.dev",
    "links_domain": "links.gazette.dev",
    "domain": "gazette.dev",
    "hosted_zone": {"name": "gazette.dev", "id": "Z0123456789ABCDEFGHIJ"},
    "track_clicks": True,
    "track_opens": True,
    "feedback_by_sns": True,
    "archive_days": 7,
}
"""Settings of the stage prod with which every grant exists that a stage with SES may have."""


def account_with(folder: Path, **changed: Any) -> Account:
    """The account of the stage prod with these settings, synthesised into `folder` if it is not.

    Several processes may ask at once; the first one does it, in a process of its own, because the
    CDK takes longer to import than its templates to read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "manifest.json").exists():
            _synthesise(folder, changed)
    return Account.of(Templates.of(folder))


def _synthesise(folder: Path, changed: Mapping[str, Any]) -> None:
    stages = json.loads((ROOT / "cdk.json").read_text())["context"]["stages"]
    context = {
        "stage": "prod",
        "stages": {"prod": {**stages["prod"], **changed}},
        "aws:cdk:bundling-stacks": [],
    }
    environment = {
        **os.environ,
        "CDK_OUTDIR": str(folder),
        "CDK_CONTEXT_JSON": json.dumps(context),
        "CDK_VALIDATION": "false",
    }
    done = subprocess.run(
        [sys.executable, "-m", "infra.app"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"infra.app failed: {done.stderr.strip()}")
