"""The rules of cfn-lint and cdk-nag."""

import json
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from infra.app import build, context
from tests.infra.synthesis import Synthesis

_PATH_HASH = re.compile(r"[0-9A-F]{8}")

_LINT_IGNORED = {
    "W3005": "CDK writes DependsOn also where a GetAtt says it already; it does no harm",
}

_OLD_LINKS = "Old keys must stay while links signed with them are to work: rotated by hand."
_NAG_ACKNOWLEDGED = {
    "AwsSolutions-SMG4": _OLD_LINKS,
    "AwsSolutions-APIG4": "Readers need no login: each link is signed, and the function looks.",
    "AwsSolutions-IAM5[Resource::*]": "SES's quota and metrics have no resources to name.",
    "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:"
    "identity/*]": "The identity may be the address or its domain; a condition names the sender.",
    "AwsSolutions-DDB3": "What the other tables hold is told again, or soon over (restorable).",
    "AwsSolutions-L1": "The layers are built and tested for Python 3.13.",
    "AwsSolutions-SQS3": "These are where undelivered and refused messages end; each has an alarm.",
}
"""Rule, with the reason why what it found is right here."""


def test_cfn_lint_finds_nothing(prod: Synthesis, tracking: Synthesis, tmp_path: Path) -> None:
    """In the service with everything that may be asked for: no less than prod asks for."""
    assert prod.service.resources.keys() <= tracking.service.resources.keys()
    paths = []
    templates = {"data": prod.data, "service": tracking.service}
    for name, template in templates.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(template.raw))
        paths.append(str(path))
    found = subprocess.run(
        [
            *(str(Path(sysconfig.get_path("scripts")) / "cfn-lint"), "--format", "parseable"),
            *("--ignore-checks", *_LINT_IGNORED, "--", *paths),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout == ""
    assert found.returncode == 0, found.stderr


def test_cdk_nag_finds_only_what_is_acknowledged(tmp_path: Path) -> None:
    app = App(
        context={**context(), "stage": "prod", "aws:cdk:bundling-stacks": []}, outdir=str(tmp_path)
    )
    build(app)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    report = json.loads((tmp_path / "validation-report.json").read_text())
    (nag,) = (
        plugin for plugin in report["pluginReports"] if plugin["pluginName"] == "AwsSolutions"
    )
    found = {_PATH_HASH.sub("", violation["ruleName"]) for violation in nag["violations"]}
    assert found == _NAG_ACKNOWLEDGED.keys()
