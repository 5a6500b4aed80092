"""Permissions: nothing beyond the topology."""

import json
import re
from collections import defaultdict

import pytest
from gazette.domain.links import read_keys

from gazette_cdk.topology import STEPS, Step
from tests.infra.synthesis import Grant, Synthesis

_WILDCARDS = {
    (
        "ses:SendEmail",
        "arn:{AWS::Partition}:ses:{AWS::Region}:{AWS::AccountId}:identity/*",
    ): "the identity is the address or its domain, and in the sandbox also the recipient's; "
    "a condition names the sender",
    (
        "s3:GetObject",
        "{Templates.Arn}/versions/*",
    ): "each version of the templates is an object of its own",
    ("ses:GetAccount", "*"): "the account is no resource to name",
    ("cloudwatch:GetMetricData", "*"): "metrics are no resources to name",
}
"""Action, or the start of one, and resource, with the reason why a wildcard is right."""

_BY_STREAM = {"GenerateQueue", "GenerateImmediateQueue"}
_BUS = str({"Service": "events.amazonaws.com"})
_RULE = str({"ArnEquals": {"aws:SourceArn": "{AllEvents.Arn}"}})
_DELIVERY_EVENTS = str({"ArnEquals": {"aws:SourceArn": "{DeliveryEventsByBus.Arn}"}})
_BY_THE_BUS = {
    ("{IngestQueue.Arn}", _BUS, _RULE),
    ("{Undelivered.Arn}", _BUS, _RULE),
    ("{FeedbackQueue.Arn}", _BUS, _DELIVERY_EVENTS),
    ("{FeedbackUndelivered.Arn}", _BUS, _DELIVERY_EVENTS),
}


def test_permissions_contain_no_wildcard_actions(prod: Synthesis) -> None:
    assert [grant for grant in _all(prod) if "*" in grant.action] == []


def test_wildcard_resources_have_a_documented_reason(prod: Synthesis) -> None:
    used = set()
    for grant in _all(prod):
        if "*" not in grant.resource:
            continue
        reasons = [
            (action, resource)
            for action, resource in _WILDCARDS
            if grant.action.startswith(action) and grant.resource == resource
        ]
        assert reasons, grant
        used.update(reasons)
    assert used == set(_WILDCARDS)


def test_roles_have_no_aws_managed_policies(prod: Synthesis) -> None:
    for role in prod.service.of_type("AWS::IAM::Role").values():
        assert "ManagedPolicyArns" not in role


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_function_can_write_only_its_own_log(prod: Synthesis, step: Step) -> None:
    written = {
        (grant.action, grant.resource)
        for grant in prod.grants(step.name)
        if grant.action.startswith("logs:")
    }
    own = f"{{{step.name.capitalize()}Logs.Arn}}"
    assert written == {("logs:CreateLogStream", own), ("logs:PutLogEvents", own)}


def test_every_function_has_a_separate_role(prod: Synthesis) -> None:
    roles = {prod.function(step.name)[1]["Role"] for step in STEPS}
    assert len(roles) == len(STEPS)


def test_roles_have_only_verified_policies(prod: Synthesis) -> None:
    for role in prod.service.of_type("AWS::IAM::Role").values():
        assert "Policies" not in role
    assert not prod.service.has("AWS::IAM::ManagedPolicy")
    assert not prod.service.has("AWS::IAM::RolePolicy")


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_table_permissions_match_the_topology(
    prod: Synthesis, by_smtp: Synthesis, step: Step
) -> None:
    for stage, provider in ((prod, "ses"), (by_smtp, "smtp")):
        granted: dict[str, set[str]] = defaultdict(set)
        for grant in stage.grants(step.name):
            if grant.action.startswith("dynamodb:"):
                table = re.fullmatch(r"\{(\w+)\.Arn\}(?:/index(/\w+))?", grant.resource)
                assert table, grant
                what = table[1].lower() + (table[2] or "")
                granted[what].add(grant.action.removeprefix("dynamodb:"))
        assert granted == _by_resource(step, provider)


def _by_resource(step: Step, provider: str) -> dict[str, set[str]]:
    """The actions by table, as CloudFormation names it, and index."""
    found: dict[str, set[str]] = defaultdict(set)
    for what, actions in step.tables_with(provider):
        table, slash, index = what.partition("/")
        found[table.replace("_", "") + slash + index].update(actions)
    return found


@pytest.mark.parametrize(
    ("step", "queues"),
    [
        ("ingest", {"Quarantine", "FollowersQueue", "GenerateImmediateQueue"}),
        ("followers", {"FollowersQueue", "GenerateImmediateQueue"}),
        ("fanout", {"FanoutQueue", "GenerateQueue", "TicksUndelivered"}),
        ("generate", {*_BY_STREAM, "ResendQueue"}),
        ("resend", {"ResendQueue", "GenerateImmediateQueue", "Failed"}),
        ("feedback", {"Quarantine"}),
        (
            "sweep",
            {"SweepQueue", "FanoutQueue", *_BY_STREAM, "ResendQueue", "TicksUndelivered"},
        ),
        ("preferences", {"GenerateImmediateQueue"}),
    ],
)
def test_function_can_send_only_to_its_target_queues(
    prod: Synthesis, step: str, queues: set[str]
) -> None:
    sent = {grant.resource for grant in prod.grants(step) if grant.action == "sqs:SendMessage"}
    assert sent == {f"{{{queue}.Arn}}" for queue in queues}


def test_function_can_receive_only_from_its_own_queues(prod: Synthesis) -> None:
    for step in STEPS:
        taken = {
            grant.resource
            for grant in prod.grants(step.name)
            if grant.action in {"sqs:ReceiveMessage", "sqs:DeleteMessage"}
        }
        assert taken == {f"{{{prod.queue(queue)[0]}.Arn}}" for queue in step.queues}


@pytest.mark.parametrize("stage", ["prod", "tracking"])
def test_only_sending_functions_may_send_email_as_their_senders(
    stage: str, request: pytest.FixtureRequest
) -> None:
    """The sweep sends its canary, as a digest. SES asks for the right to identity and set both."""
    synthesis = request.getfixturevalue(stage)
    senders = {
        step.name: [
            grant for grant in synthesis.grants(step.name) if grant.action.startswith("ses:")
        ]
        for step in STEPS
    }
    now = "now@example.com" if stage == "tracking" else "digest@example.com"
    digest = {("identity/*", "digest@example.com"), ("gazette-prod-digest", "digest@example.com")}
    immediate = {("identity/*", now), ("gazette-prod-immediate", now)}
    allowed = {"generate": digest | immediate, "resend": digest | immediate, "sweep": digest}
    for step, expected in allowed.items():
        grants = senders.pop(step)
        assert {grant.action for grant in grants} == {"ses:SendEmail"}
        assert {_sending(grant) for grant in grants} == expected
    assert [grant.action for grant in senders.pop("fanout")] == ["ses:GetAccount"]
    assert not any(senders.values())


def test_production_functions_may_use_only_the_sender_identities(
    varied: Synthesis,
) -> None:
    """The address, the same without its label, and each domain that it is in.

    https://docs.aws.amazon.com/ses/latest/dg/creating-identities.html
    """
    ours = "arn:{AWS::Partition}:ses:{AWS::Region}:{AWS::AccountId}:"
    named = ("a+b@mail.gazette.dev", "a@mail.gazette.dev", "mail.gazette.dev", "gazette.dev")
    for step in ("generate", "resend", "sweep"):
        grants = [each for each in varied.grants(step) if each.action == "ses:SendEmail"]
        identities = {each.resource for each in grants if ":identity/" in each.resource}
        assert identities == {f"{ours}identity/{each}" for each in named}
        assert {str(each.condition) for each in grants} == {
            str({"StringEquals": {"ses:FromAddress": "a+b@mail.gazette.dev"}})
        }


def _sending(grant: Grant) -> tuple[str, str]:
    """The end of the resource, and the one address in the condition."""
    assert grant.condition.keys() == {"StringEquals"}
    assert grant.condition["StringEquals"].keys() == {"ses:FromAddress"}
    name = re.search(r"identity/\*$|(?<=configuration-set/)[a-z-]+$", grant.resource)
    assert name, grant
    return name[0], grant.condition["StringEquals"]["ses:FromAddress"]


def test_feedback_may_publish_events_only_if_clicks_are_tracked(
    prod: Synthesis, tracking: Synthesis
) -> None:
    spoken = {("events:PutEvents", "{Bus.Arn}")}
    for synthesis, expected in ((prod, set()), (tracking, spoken)):
        grants = synthesis.grants("feedback")
        found = {
            (grant.action, grant.resource) for grant in grants if grant.action.startswith("events:")
        }
        assert found == expected


_KEYS = {
    "Links": {"generate", "resend", "preferences"},
    "Suppressions": {"ingest", "generate", "resend", "feedback", "preferences"},
}
"""By the secret: who signs or verifies links, and who looks addresses up."""

_WITH_CRITICAL = {"Links": set[str](), "Suppressions": {"followers"}}
"""Who is told of the key, and may read it in a stage with critical categories."""


@pytest.mark.parametrize("name", _KEYS)
def test_keys_are_readable_only_by_functions_using_them(prod: Synthesis, name: str) -> None:
    readers = {
        step.name
        for step in STEPS
        for grant in prod.grants(step.name)
        if grant.action.startswith("secretsmanager:") and f"{{{name}Key}}" in grant.resource
    }
    told = {
        step.name
        for step in STEPS
        if f"GAZETTE_{name.upper()}_SECRET"
        in prod.function(step.name)[1]["Environment"]["Variables"]
    }
    assert readers == _KEYS[name]
    assert told == _KEYS[name] | _WITH_CRITICAL[name]


@pytest.mark.parametrize("name", _KEYS)
def test_functions_cannot_write_keys(prod: Synthesis, name: str) -> None:
    actions = {grant.action for grant in _all(prod) if f"{{{name}Key}}" in grant.resource}
    assert actions == {"secretsmanager:GetSecretValue"}


def test_functions_can_read_no_additional_secrets(prod: Synthesis) -> None:
    secrets = {grant.resource for grant in _all(prod) if grant.action.startswith("secretsmanager:")}
    assert len(secrets) == len(_KEYS)


def test_suppression_key_is_created_once_and_retained_like_the_tables(prod: Synthesis) -> None:
    """With another one nobody would be known as suppressed. CloudFormation makes a new one where
    what it is generated from changes, so that must stay as it is.
    """
    secret = prod.data.of_type("AWS::SecretsManager::Secret")["SuppressionsKey"]
    resource = prod.data.resources["SuppressionsKey"]
    assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"
    assert secret["GenerateSecretString"] == {"ExcludePunctuation": True, "PasswordLength": 64}
    assert "Never replace, rotate or delete it" in secret["Description"]
    assert not prod.data.has("AWS::SecretsManager::RotationSchedule")


def test_initial_secret_contains_a_single_valid_key(prod: Synthesis) -> None:
    secret = prod.data.of_type("AWS::SecretsManager::Secret")["LinksKey"]
    made = secret["GenerateSecretString"]
    content = json.loads(made["SecretStringTemplate"])
    content[made["GenerateStringKey"]] = "x" * made["PasswordLength"]
    assert read_keys(json.dumps(content)).ids == ("k1",)
    assert "gazette links rotate --stage prod" in secret["Description"]


def test_only_preferences_can_publish_events_and_only_on_the_bus(prod: Synthesis) -> None:
    grants = {
        (step.name, grant.resource)
        for step in STEPS
        for grant in prod.grants(step.name)
        if grant.action.startswith("events:")
    }
    assert grants == {("preferences", "{Bus.Arn}")}
    assert {
        grant.action for grant in prod.grants("preferences") if grant.action.startswith("events:")
    } == {"events:PutEvents"}


def test_only_preferences_is_public_and_only_through_the_http_api(
    prod: Synthesis,
) -> None:
    assert not prod.service.has("AWS::Lambda::Url")
    (permission,) = (
        permission
        for permission in prod.service.of_type("AWS::Lambda::Permission").values()
        if permission["Principal"] != "events.amazonaws.com"
    )
    assert permission["Principal"] == "apigateway.amazonaws.com"
    assert permission["FunctionName"] == f"{{{prod.live('preferences')}}}"
    assert permission["SourceArn"].endswith(":{EdgeApi}/*/*")


def test_attack_foreign_rule_or_topic_cannot_send_to_a_queue(prod: Synthesis) -> None:
    assert _let_in(prod) == _BY_THE_BUS


def test_topic_can_send_delivery_events_to_a_queue_if_configured(
    tracking: Synthesis,
) -> None:
    sns = str({"Service": "sns.amazonaws.com"})
    topic = str({"ArnEquals": {"aws:SourceArn": "{DeliveryEvents}"}})
    assert _let_in(tracking) == _BY_THE_BUS | {
        ("{FeedbackQueue.Arn}", sns, topic),
        ("{FeedbackUndelivered.Arn}", sns, topic),
    }


def _let_in(synthesis: Synthesis) -> set[tuple[str, str, str]]:
    """Queue, principal and condition of each policy of a queue that allows something."""
    return {
        (statement["Resource"], str(statement["Principal"]), str(statement["Condition"]))
        for policy in synthesis.service.of_type("AWS::SQS::QueuePolicy").values()
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    }


def test_only_ses_can_publish_delivery_events_of_the_stage(
    tracking: Synthesis,
) -> None:
    """https://docs.aws.amazon.com/ses/latest/dg/event-publishing-add-event-destination-sns.html"""
    refused, *allowed = tracking.service.of_type("AWS::SNS::TopicPolicy")["DeliveryEventsPolicy"][
        "PolicyDocument"
    ]["Statement"]
    assert refused["Effect"] == "Deny"
    assert refused["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    for statement, name in zip(allowed, ("Digest", "Immediate"), strict=True):
        assert statement["Effect"] == "Allow"
        assert statement["Principal"] == {"Service": "ses.amazonaws.com"}
        assert (statement["Action"], statement["Resource"]) == ("sns:Publish", "{DeliveryEvents}")
        named = statement["Condition"]["StringEquals"]
        assert named.keys() == {"AWS:SourceAccount", "AWS:SourceArn"}
        assert named["AWS:SourceAccount"] == "{AWS::AccountId}"
        assert named["AWS:SourceArn"].endswith(f":configuration-set/{{{name}}}")


def test_alarms_can_publish_to_their_topic(prod: Synthesis) -> None:
    """A topic policy takes the place of the default one, which let the account's alarms in.

    https://repost.aws/knowledge-center/cloudwatch-receive-sns-for-alarm-trigger
    """
    statements = [
        statement
        for policy in prod.service.of_type("AWS::SNS::TopicPolicy").values()
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    ]
    assert [statement["Principal"] for statement in statements] == [
        {"Service": "cloudwatch.amazonaws.com"}
    ]


def _all(synthesis: Synthesis) -> list[Grant]:
    return [
        grant
        for role in synthesis.service.of_type("AWS::IAM::Role")
        for grant in synthesis.service.grants(role)
    ]
