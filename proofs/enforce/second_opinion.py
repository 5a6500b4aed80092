"""A comparison with the embedded engine's own evaluator of policies.

It runs in the engine's own interpreter, because its package is installed only there.
"""

import json
import subprocess
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from demo.engine import ROOT
from proofs.enforce.policies import Request

_ANSWERS = """
import json, sys
from ministack.core.iam_evaluator import EvalContext, evaluate, parse_policy_document
for line in sys.stdin:
    asked = json.loads(line)
    context = EvalContext(
        principal_arn="arn:aws:iam::123456789012:role/r",
        principal_type="AssumedRole",
        principal_account="123456789012",
        action=asked["action"],
        resource_arn=asked["resource"],
        region="eu-central-1",
        secure_transport=asked["context"].pop("aws:securetransport", ["false"]) == ["true"],
        service_context={
            key: values if len(values) > 1 else values[0]
            for key, values in asked["context"].items()
        },
    )
    policies = [parse_policy_document(each) for each in asked["policies"]]
    print(evaluate(context, policies).decision == "Allow", flush=True)
"""


class SecondOpinion:
    """An evaluator that answers one question at a time, until the block ends."""

    def __enter__(self) -> "SecondOpinion":
        self._process = subprocess.Popen(
            [str(ROOT / ".engine" / "bin" / "python"), "-c", _ANSWERS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, at: TracebackType | None
    ) -> None:
        self._process.communicate()

    def allows(self, request: Request, policies: Sequence[dict[str, Any]]) -> bool:
        """Return True if the policies of a role allow the request."""
        asked = {
            "action": request.action,
            "resource": request.resource,
            "context": {key: list(values) for key, values in request.context},
            "policies": policies,
        }
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip() == "True"
