"""A seed of `make audit`: the rules of cfn-lint and cdk-nag over three shapes of a stage."""

import json
from pathlib import Path

import pytest

from proofs.audit.reasons import CDK_NAG, CFN_LINT
from proofs.audit.shapes import SHAPES
from proofs.audit.tools import cdk_nag, cfn_lint
from tests.infra.conftest import prod, stages, tracking
from tests.infra.synthesis import Synthesis

__all__ = ["prod", "stages", "tracking"]


def test_cfn_lint_finds_only_what_has_a_reason(
    prod: Synthesis, tracking: Synthesis, tmp_path: Path
) -> None:
    """Check the service with all optional features, which has at least the resources of prod."""
    assert prod.service.resources.keys() <= tracking.service.resources.keys()
    templates = {"data": prod.data, "service": tracking.service}
    for name, template in templates.items():
        (tmp_path / f"{name}.template.json").write_text(json.dumps(template.raw))
    assert cfn_lint(tmp_path) == CFN_LINT.keys()


@pytest.mark.parametrize("shape", ["plain", "limited"])
def test_cdk_nag_finds_only_what_has_a_reason(shape: str, tmp_path: Path) -> None:
    found = cdk_nag(tmp_path, SHAPES[shape])
    assert found
    assert found <= CDK_NAG.keys()


def test_cfn_lint_is_heard_where_it_finds_something(tmp_path: Path) -> None:
    wrong = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue", "Properties": {"Nothing": 1}}}}
    (tmp_path / "wrong.template.json").write_text(json.dumps(wrong))
    assert cfn_lint(tmp_path) - CFN_LINT.keys()
