"""A second opinion on the grants: the engine enforces IAM, each function has its own role.

Left out is what the engine judges otherwise than AWS: it asks for actions of SQS that IAM does not
know, one for each call that ends in Batch, and a secret's `Ref` is not its ARN. Policies are
completed by that. SES is not asked at all, because a stand-in takes its calls.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest

from demo.engine import Engine, deploy, running
from demo.service import Service
from demo.ses import StandIn
from tests.stage import FEW, Deployed, a_comment, a_profile, next_due

pytestmark = pytest.mark.long

Statement = dict[str, Any]

_BATCHES = {"sqs:SendMessage", "sqs:ChangeMessageVisibility"}
_WITHIN = 60
"""Seconds in which a function has tried."""


@pytest.fixture(scope="module")
def enforcing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    folder = tmp_path_factory.mktemp("enforcing")
    with pytest.MonkeyPatch.context() as patch, StandIn() as ses:
        patch.setenv("AUTH", "true")
        with running(ses_url=ses.url, folder=folder) as engine:
            app = "proofs.enforce.own_credentials"
            outputs = deploy(engine, folder, app=app, base_url=ses.url, concurrency=FEW)
            secrets = client(engine, "secretsmanager")

            def complete(statement: Statement) -> None:
                actions, resources = statement["Action"], statement["Resource"]
                statement["Action"] = [
                    *actions,
                    *(f"{each}Batch" for each in _BATCHES & {*actions}),
                ]
                statement["Resource"] = [
                    each
                    if each == "*" or each.startswith("arn:")
                    else secrets.describe_secret(SecretId=each)["ARN"]
                    for each in resources
                ]

            change(client(engine, "iam"), complete)
            yield Deployed(engine, Service.at(engine, outputs), ses)


def client(engine: Engine, service: Any) -> Any:
    given = engine.environment
    return boto3.client(
        service,
        endpoint_url=engine.url,
        region_name=given["AWS_REGION"],
        aws_access_key_id=given["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=given["AWS_SECRET_ACCESS_KEY"],
    )


def change(iam: Any, how: Callable[[Statement], None], *, of: str = "") -> None:
    """Change each statement of each role, or only of those whose names have `of`."""
    for role in iam.list_roles()["Roles"]:
        if of not in role["RoleName"]:
            continue
        named = {"RoleName": role["RoleName"]}
        for policy in iam.list_role_policies(**named)["PolicyNames"]:
            document = iam.get_role_policy(**named, PolicyName=policy)["PolicyDocument"]
            for statement in document["Statement"]:
                for part in ("Action", "Resource"):
                    if isinstance(statement[part], str):
                        statement[part] = [statement[part]]
                how(statement)
            iam.put_role_policy(**named, PolicyName=policy, PolicyDocument=json.dumps(document))


def test_digest_and_immediate_email_need_only_the_granted_permissions(
    enforcing: Deployed,
) -> None:
    wanted = {**a_profile("ann"), "frequencies": {"mention": "immediate"}}
    enforcing.service.put("subscriber.changed", [wanted])
    enforcing.service.put("event.created", [{**a_comment("ann", 1), "category": "mention"}])
    enforcing.service.put("event.created", [a_comment("ann", 2)])
    enforcing.settle()
    enforcing.service.wait_until_drained("immediate")
    assert len(enforcing.inbox("ann")) == 1
    enforcing.tick(next_due())
    assert len(enforcing.inbox("ann")) == 2


def test_function_without_a_table_permission_is_denied(enforcing: Deployed) -> None:
    table = enforcing.service.settings("ingest")["GAZETTE_SUBSCRIBERS_TABLE"]

    def without(statement: Statement) -> None:
        statement["Resource"] = [
            each for each in statement["Resource"] if not each.endswith(f"/{table}")
        ] or ["arn:aws:dynamodb:us-east-1:000000000000:table/none"]

    change(client(enforcing.engine, "iam"), without, of="IngestRole")
    enforcing.service.put("subscriber.changed", [a_profile("bo")])
    ends_at = time.monotonic() + _WITHIN
    while not (said := denials(enforcing)):
        assert time.monotonic() < ends_at
        time.sleep(0.5)
    assert "IngestRole" in said[0]
    assert "is not authorized to perform: dynamodb:" in said[0]


def denials(enforcing: Deployed) -> list[str]:
    """What the log of ingest says of calls that were denied."""
    found = enforcing.service.logs.filter_log_events(
        logGroupName=f"/aws/lambda/{enforcing.service.prefix}-ingest"
    )
    return [each["message"] for each in found["events"] if "AccessDenied" in each["message"]]
