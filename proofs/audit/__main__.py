"""`python -m proofs.audit`, which runs all three tools over every shape of a stage."""

import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from proofs.audit.reasons import CDK_NAG, CFN_LINT, CHECKOV
from proofs.audit.shapes import SHAPES
from proofs.audit.tools import cdk_nag, cfn_lint, checkov

REASONS: Mapping[str, Mapping[str, str]] = {
    "cdk-nag": CDK_NAG,
    "cfn-lint": CFN_LINT,
    "checkov": CHECKOV,
}


def main() -> None:
    """Exit with 1 if a tool finds a problem without a reason, or if a reason is for no finding."""
    found: dict[str, set[str]] = {tool: set() for tool in REASONS}
    with tempfile.TemporaryDirectory() as folder:
        for number, (shape, settings) in enumerate(SHAPES.items()):
            into = Path(folder) / str(number)
            into.mkdir()
            rules = {
                "cdk-nag": cdk_nag(into, settings),
                "cfn-lint": cfn_lint(into),
                "checkov": checkov(into),
            }
            told = ", ".join(_told(tool, rules[tool]) for tool in rules)
            print(f"{shape}: {told}", flush=True)  # noqa: T201 -- what the command is for
            for tool, each in rules.items():
                found[tool] |= each
    wrong = list(_wrong(found))
    for line in wrong:
        print(line)  # noqa: T201
    acknowledged = sum(len(reasons) for reasons in REASONS.values())
    figures = f"shapes={len(SHAPES)} acknowledged={acknowledged} wrong={len(wrong)}"
    print(f"audited: {figures}")  # noqa: T201
    sys.exit(bool(wrong))


def _told(tool: str, rules: set[str]) -> str:
    return f"{tool} {len(rules & REASONS[tool].keys())} of {len(rules)} with a reason"


def _wrong(found: Mapping[str, set[str]]) -> Iterator[str]:
    for tool, rules in found.items():
        for rule in sorted(rules - REASONS[tool].keys()):
            yield f"{tool}: {rule} has no reason in proofs/audit/reasons.py"
        for rule in sorted(REASONS[tool].keys() - rules):
            yield f"{tool}: {rule} has a reason, and no shape needs it any more"


if __name__ == "__main__":
    main()
