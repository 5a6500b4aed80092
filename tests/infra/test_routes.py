"""How events and ticks come in."""

import json

from tests.infra.synthesis import Synthesis


def test_every_event_of_the_account_goes_to_ingest_or_where_it_is_seen(prod: Synthesis) -> None:
    """No detail-type in the pattern: what nobody knows has to reach quarantine."""
    assert list(prod.service.of_type("AWS::Events::Rule").values()) == [
        {
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
    ]
    assert prod.service.of_type("AWS::Events::EventBus") == {"Bus": {"Name": "gazette"}}


def test_the_clock_starts_fanout_every_ten_minutes_with_the_time_of_the_tick(
    prod: Synthesis,
) -> None:
    (tick,) = prod.service.of_type("AWS::Scheduler::Schedule").values()
    assert tick["ScheduleExpression"] == "cron(0/10 * * * ? *)"
    assert tick["ScheduleExpressionTimezone"] == "Etc/UTC"
    assert tick["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert tick["State"] == "ENABLED"
    assert tick["Target"]["Arn"] == f"{{{prod.function('fanout')[0]}.Arn}}"
    assert json.loads(tick["Target"]["Input"]) == {"time": "<aws.scheduler.scheduled-time>"}


def test_a_tick_that_does_not_arrive_is_kept_where_it_is_seen(prod: Synthesis) -> None:
    (tick,) = prod.service.of_type("AWS::Scheduler::Schedule").values()
    undelivered = f"{{{prod.queue('ticks-undelivered')[0]}.Arn}}"
    assert tick["Target"]["DeadLetterConfig"] == {"Arn": undelivered}
    role = tick["Target"]["RoleArn"].removeprefix("{").removesuffix(".Arn}")
    assert {(grant.action, grant.resource) for grant in prod.service.grants(role)} >= {
        ("lambda:InvokeFunction", f"{{{prod.function('fanout')[0]}.Arn}}"),
        ("sqs:SendMessage", undelivered),
    }


def test_the_clock_of_local_stands_still(local: Synthesis) -> None:
    (tick,) = local.service.of_type("AWS::Scheduler::Schedule").values()
    assert tick["State"] == "DISABLED"
