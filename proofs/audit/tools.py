"""Runs of the three tools over a shape. Each returns the rules with findings."""

import json
import re
import subprocess
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from gazette_cdk.app import context
from gazette_cdk.assembly import build

ROOT = Path(__file__).parents[2]
CHECKOV = ROOT / ".audit" / "bin" / "checkov"
_CFN_LINT = (str(Path(sysconfig.get_path("scripts")) / "cfn-lint"), "--format", "json")

_PATH_HASH = re.compile(r"[0-9A-F]{8}(?=[.>:/\]]|$)")


def cdk_nag(folder: Path, settings: Mapping[str, Any], *, stage: str = "prod") -> set[str]:
    """Synthesise the stage with these settings into `folder`, with the rules of AWS Solutions.

    The names of constructs in a rule are without the hash that the CDK appends.
    """
    given = context()
    stages = {**given["stages"], stage: {**given["stages"][stage], **settings}}
    app = App(
        context={**given, "stages": stages, "stage": stage, "aws:cdk:bundling-stacks": []},
        outdir=str(folder),
    )
    build(app)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    try:
        app.synth()
    except RuntimeError as err:
        if "ValidationFailed" not in str(err):
            raise
    report = json.loads((folder / "validation-report.json").read_text())
    return {
        _PATH_HASH.sub("", violation["ruleName"])
        for plugin in report["pluginReports"]
        if plugin["pluginName"] == "AwsSolutions"
        for violation in plugin["violations"]
    }


def cfn_lint(folder: Path) -> set[str]:
    """Check every template in `folder`."""
    done = subprocess.run(
        [*_CFN_LINT, "--", *_of(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    return {found["Rule"]["Id"] for found in json.loads(done.stdout or "[]")}


def checkov(folder: Path) -> set[str]:
    """Check every template in `folder`, without the network.

    Raise RuntimeError if a template cannot be read.
    """
    done = subprocess.run(
        [
            *(str(CHECKOV), "--framework", "cloudformation", "--directory", str(folder)),
            *("--quiet", "--compact", "--skip-download", "--output", "json"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError as err:
        raise RuntimeError(f"checkov failed: {done.stderr.strip()}") from err
    if report["summary"]["parsing_errors"] or not report["summary"]["passed"]:
        raise RuntimeError(f"checkov could not read a template: {report['summary']}")
    return {found["check_id"] for found in report["results"]["failed_checks"]}


def _of(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.glob("*.template.json"))
