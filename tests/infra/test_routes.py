"""How events and ticks reach the functions."""

import json

import pytest

from tests.infra.synthesis import Synthesis, without_hash

_SETS = ["gazette-prod-digest", "gazette-prod-immediate"]
_REPORTED = {"send", "delivery", "deliveryDelay", "bounce", "complaint", "reject"}


def test_every_event_on_the_bus_goes_to_ingest_or_an_undelivered_queue(prod: Synthesis) -> None:
    """No detail-type in the pattern: what nobody knows has to reach quarantine."""
    assert prod.service.of_type("AWS::Events::Rule")["AllEvents"] == {
        "EventBusName": "{Bus}",
        "EventPattern": {"source": [{"prefix": ""}]},
        "State": "ENABLED",
        "Targets": [
            {
                "Arn": f"{{{prod.queue('ingest')[0]}.Arn}}",
                "DeadLetterConfig": {"Arn": f"{{{prod.queue('undelivered')[0]}.Arn}}"},
                "Id": "Target0",
            }
        ],
    }
    assert prod.service.of_type("AWS::Events::EventBus") == {"Bus": {"Name": "gazette"}}


def test_ses_events_of_the_stage_go_to_feedback_or_an_undelivered_queue(
    prod: Synthesis,
) -> None:
    """Another stage of the account has configuration sets of its own."""
    assert prod.service.of_type("AWS::Events::Rule")["DeliveryEventsByBus"] == {
        "EventBusName": "default",
        "EventPattern": {
            "source": ["aws.ses"],
            "detail-type": [{"prefix": "Email "}],
            "detail": {"mail": {"tags": {"ses:configuration-set": _SETS}}},
        },
        "State": "ENABLED",
        "Targets": [
            {
                "Arn": f"{{{prod.queue('feedback')[0]}.Arn}}",
                "DeadLetterConfig": {"Arn": f"{{{prod.queue('feedback-undelivered')[0]}.Arn}}"},
                "Id": "Target0",
            }
        ],
    }
    assert len(prod.service.of_type("AWS::Events::Rule")) == 2


def told(synthesis: Synthesis, path: str) -> dict[str, set[str]]:
    """The events that SES reports on a path, by configuration set."""
    found = {}
    for destination in synthesis.service.of_type(
        "AWS::SES::ConfigurationSetEventDestination"
    ).values():
        asked = destination["EventDestination"]
        assert asked["Enabled"] is True
        if path in asked:
            found[destination["ConfigurationSetName"]] = set(asked["MatchingEventTypes"])
    return found


def test_ses_events_are_published_on_the_default_bus_without_tracking(prod: Synthesis) -> None:
    """But opens and clicks: those would rewrite every link."""
    expected = {"{Digest}": _REPORTED, "{Immediate}": _REPORTED}
    assert told(prod, "EventBridgeDestination") == expected
    for destination in prod.service.of_type("AWS::SES::ConfigurationSetEventDestination").values():
        bus = destination["EventDestination"]["EventBridgeDestination"]
        assert bus["EventBusArn"].endswith(":event-bus/default")


def test_stage_without_delivery_reports_still_receives_send_events(bare: Synthesis) -> None:
    """It is the first proof that SES accepted an email."""
    expected = _REPORTED - {"delivery"}
    assert "send" in expected
    assert told(bare, "EventBridgeDestination") == {"{Digest}": expected, "{Immediate}": expected}


@pytest.mark.parametrize("path", ["EventBridgeDestination", "SnsDestination"])
def test_stage_with_tracking_receives_opens_and_clicks(tracking: Synthesis, path: str) -> None:
    everything = _REPORTED | {"open", "click"}
    assert told(tracking, path) == {"{Digest}": everything, "{Immediate}": everything}


def test_sns_path_of_delivery_events_is_optional(
    prod: Synthesis,
) -> None:
    assert not told(prod, "SnsDestination")
    assert not prod.service.has("AWS::SNS::Subscription")
    assert set(prod.service.of_type("AWS::SNS::Topic")) == {"Alarms"}


def test_sns_delivery_events_go_to_feedback_or_an_undelivered_queue(
    tracking: Synthesis,
) -> None:
    (subscription,) = tracking.service.of_type("AWS::SNS::Subscription").values()
    undelivered = f"{{{tracking.queue('feedback-undelivered')[0]}.Arn}}"
    assert subscription == {
        "Endpoint": f"{{{tracking.queue('feedback')[0]}.Arn}}",
        "Protocol": "sqs",
        "RawMessageDelivery": True,
        "RedrivePolicy": {"deadLetterTargetArn": undelivered},
        "TopicArn": "{DeliveryEvents}",
    }


def test_sns_permission_is_created_before_the_event_destination(tracking: Synthesis) -> None:
    """It tries the topic at once, and the deployment would fail."""
    by_sns = [
        resource
        for resource in tracking.service.resources.values()
        if "SnsDestination" in resource.get("Properties", {}).get("EventDestination", {})
    ]
    assert len(by_sns) == 2
    for resource in by_sns:
        (policy,) = resource["DependsOn"]
        assert without_hash(policy) == "DeliveryEventsPolicy"


def test_each_stream_has_a_configuration_set_and_an_optional_pool(
    prod: Synthesis, tracking: Synthesis
) -> None:
    kind = "AWS::SES::ConfigurationSet"
    for stage, pools in ((prod, (None, None)), (tracking, ("digests", "at-once"))):
        found = stage.service.of_type(kind)
        named = [
            (each["Name"], each["DeliveryOptions"].get("SendingPoolName"))
            for each in (found["Digest"], found["Immediate"])
        ]
        assert named == list(zip(_SETS, pools, strict=True))


def test_configuration_set_sets_every_option_explicitly(
    prod: Synthesis, tracking: Synthesis
) -> None:
    """Engagement metrics of the account would rewrite the links that must never be tracked."""
    kind = "AWS::SES::ConfigurationSet"
    for each in prod.service.of_type(kind).values():
        assert {name: value for name, value in each.items() if name != "Name"} == {
            "DeliveryOptions": {"TlsPolicy": "OPTIONAL"},
            "ReputationOptions": {"ReputationMetricsEnabled": True},
            "SendingOptions": {"SendingEnabled": True},
            "SuppressionOptions": {"SuppressedReasons": ["BOUNCE", "COMPLAINT"]},
            "VdmOptions": {
                "DashboardOptions": {"EngagementMetrics": "DISABLED"},
                "GuardianOptions": {"OptimizedSharedDelivery": "DISABLED"},
            },
        }
    for each in tracking.service.of_type(kind).values():
        assert each["DeliveryOptions"]["TlsPolicy"] == "REQUIRE"
        assert each["TrackingOptions"] == {
            "CustomRedirectDomain": "go.example.com",
            "HttpsPolicy": "REQUIRE",
        }


@pytest.mark.parametrize(
    ("name", "step", "expression"),
    [("Tick", "fanout", "cron(0/10 * * * ? *)"), ("SweepTick", "sweep", "cron(3/5 * * * ? *)")],
)
def test_scheduler_starts_fan_out_and_sweep_with_the_tick_time(
    prod: Synthesis, name: str, step: str, expression: str
) -> None:
    tick = prod.service.of_type("AWS::Scheduler::Schedule")[name]
    assert tick["ScheduleExpression"] == expression
    assert tick["ScheduleExpressionTimezone"] == "Etc/UTC"
    assert tick["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert tick["State"] == "ENABLED"
    assert tick["Target"]["Arn"] == f"{{{prod.live(step)}}}"
    assert json.loads(tick["Target"]["Input"]) == {"time": "<aws.scheduler.scheduled-time>"}


@pytest.mark.parametrize(("name", "step"), [("Tick", "fanout"), ("SweepTick", "sweep")])
def test_undelivered_tick_is_sent_to_a_queue(prod: Synthesis, name: str, step: str) -> None:
    tick = prod.service.of_type("AWS::Scheduler::Schedule")[name]
    undelivered = f"{{{prod.queue('ticks-undelivered')[0]}.Arn}}"
    assert tick["Target"]["DeadLetterConfig"] == {"Arn": undelivered}
    role = tick["Target"]["RoleArn"].removeprefix("{").removesuffix(".Arn}")
    assert {(grant.action, grant.resource) for grant in prod.service.grants(role)} >= {
        ("lambda:InvokeFunction", f"{{{prod.live(step)}}}"),
        ("sqs:SendMessage", undelivered),
    }


def test_scheduler_of_the_local_stage_is_disabled(local: Synthesis) -> None:
    ticks = local.service.of_type("AWS::Scheduler::Schedule").values()
    assert [tick["State"] for tick in ticks] == ["DISABLED", "DISABLED"]


def test_delivery_reports_of_listed_sources_go_to_feedback_alone(reported: Synthesis) -> None:
    """Each event on the bus matches exactly one of the three rules."""
    rules = reported.service.of_type("AWS::Events::Rule")
    patterns = {
        name: (rule["EventPattern"], rule["Targets"][0])
        for name, rule in rules.items()
        if rule["EventBusName"] == "{Bus}"
    }
    listed, types = ["shop.mailgun", "shop.bounces"], ["delivery.reported"]
    assert {name: pattern for name, (pattern, _) in patterns.items()} == {
        "AllEvents": {
            "source": [{"prefix": ""}],
            "detail-type": [{"anything-but": types}],
        },
        "OtherReports": {"source": [{"anything-but": listed}], "detail-type": types},
        "DeliveryReports": {"source": listed, "detail-type": types},
    }
    for name, (queue, dead) in {
        "AllEvents": ("ingest", "undelivered"),
        "OtherReports": ("ingest", "undelivered"),
        "DeliveryReports": ("feedback", "feedback-undelivered"),
    }.items():
        target = patterns[name][1]
        assert target["Arn"] == f"{{{reported.queue(queue)[0]}.Arn}}"
        assert target["DeadLetterConfig"] == {"Arn": f"{{{reported.queue(dead)[0]}.Arn}}"}


def test_stage_without_reporters_has_the_rules_and_resources_of_before(
    by_smtp: Synthesis, reported: Synthesis
) -> None:
    before, after = by_smtp.service.resources, reported.service.resources
    assert {name: after[name]["Type"] for name in after.keys() - before.keys()} == {
        "OtherReports": "AWS::Events::Rule",
        "DeliveryReports": "AWS::Events::Rule",
    }
    assert before.keys() <= after.keys()
