"""Queues: no message is lost, and none waits without an alarm."""

from gazette.domain.dead_letters import KNOWN, OPTIONAL

from gazette_cdk.topology import CONTENT, FEEDBACK, GENERATE, INGEST, STEPS
from tests.infra.synthesis import Properties, Synthesis

_FED = [(step, queue) for step in STEPS for queue in step.queues]
AT_FOURTEEN = {
    "ingest": 5,
    "followers": 5,
    "shard": 2,
    "generate": 2,
    "immediate": 2,
    "resend": 2,
    "feedback": 3,
    "sweep": 4,
}
"""Invocations at once of a stage that sends at nine tenths of 14 emails a second."""

_FORTNIGHT = 14 * 24 * 3600


def test_every_queue_retains_messages_for_14_days(prod: Synthesis) -> None:
    kept = {
        name: queue["MessageRetentionPeriod"]
        for name, queue in prod.service.of_type("AWS::SQS::Queue").items()
    }
    assert kept == dict.fromkeys(kept, _FORTNIGHT)


def test_every_function_queue_has_a_separate_dead_letter_queue(
    prod: Synthesis,
) -> None:
    dead = []
    for step, fed in _FED:
        _, queue = prod.queue(fed)
        name, _ = prod.queue(f"{fed}-dead")
        assert queue["RedrivePolicy"] == {
            "deadLetterTargetArn": f"{{{name}.Arn}}",
            "maxReceiveCount": step.max_receives,
        }
        dead.append(name)
    assert len(set(dead)) == len(_FED)


def test_failed_queue_qualifies_as_a_dead_letter_queue_in_sqs(prod: Synthesis) -> None:
    """Of any other, the console and StartMessageMoveTask move nothing.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
    """
    failed, _ = prod.queue("failed")
    behind = {
        queue["QueueName"]: queue["RedrivePolicy"]["maxReceiveCount"]
        for queue in prod.service.of_type("AWS::SQS::Queue").values()
        if queue.get("RedrivePolicy", {}).get("deadLetterTargetArn") == f"{{{failed}.Arn}}"
    }
    assert behind == {"gazette-prod-resend-dead": 1000}


def test_queue_alarm_describes_the_remedy_and_links_to_the_runbook(prod: Synthesis) -> None:
    told = {
        alarm["AlarmName"]: alarm["AlarmDescription"]
        for alarm in prod.service.of_type("AWS::CloudWatch::Alarm").values()
        if str(alarm.get("AlarmName")).endswith("-not-empty")
    }
    assert len(told) == 13
    for name, text in told.items():
        assert " What to do: " in text, name
        assert " See docs/runbook/" in text, name
        assert len(text) <= 1024, name


def test_failed_runs_alarm_names_the_command_and_the_target_queue(
    prod: Synthesis,
) -> None:
    (told,) = (
        alarm["AlarmDescription"]
        for alarm in prod.service.of_type("AWS::CloudWatch::Alarm").values()
        if alarm.get("AlarmName") == "gazette-prod-failed-not-empty"
    )
    assert "gazette dlq redrive failed --stage prod" in told
    assert "redrive to a custom destination, the ARN of gazette-prod-resend." in told
    prod.queue("resend")


def test_gazette_dlq_knows_every_dead_letter_queue_and_redrive_target(
    asking: Synthesis,
) -> None:
    named = [queue["QueueName"] for queue in asking.service.of_type("AWS::SQS::Queue").values()]
    dead = {name for name in named if name.endswith(("-dead", "undelivered", "-failed"))}
    assert {f"gazette-prod-{each.name}" for each in KNOWN} == dead
    assert {each.name: each.source for each in KNOWN if each.is_policy} == {
        f"{queue}-dead": queue for queue in (*(fed for _, fed in _FED), CONTENT.name)
    }
    assert {CONTENT.name + "-dead"} == OPTIONAL


def test_attack_queue_of_another_stage_cannot_use_a_dead_letter_queue(
    prod: Synthesis,
) -> None:
    """Whoever could would send their dead letters there, or move away what lies in it.

    Only the queue whose dead letters it takes may name it; most take those of none.
    """
    queues = prod.service.of_type("AWS::SQS::Queue").values()
    dead_letters_of = {
        queue["RedrivePolicy"]["deadLetterTargetArn"]: queue["QueueName"]
        for queue in queues
        if "RedrivePolicy" in queue
    }
    assert len(dead_letters_of) > len(_FED)
    for name, queue in prod.service.of_type("AWS::SQS::Queue").items():
        allowed = queue["RedriveAllowPolicy"]
        if source := dead_letters_of.pop(f"{{{name}.Arn}}", None):
            assert allowed["redrivePermission"] == "byQueue"
            (arn,) = allowed["sourceQueueArns"]
            assert arn == f"arn:{{AWS::Partition}}:sqs:{{AWS::Region}}:{{AWS::AccountId}}:{source}"
        else:
            assert allowed == {"redrivePermission": "denyAll"}, name
    assert not dead_letters_of


def test_visibility_timeout_is_six_times_the_function_timeout(
    prod: Synthesis,
) -> None:
    for step, fed in _FED:
        _, queue = prod.queue(fed)
        _, function = prod.function(step.name)
        assert queue["VisibilityTimeout"] >= 6 * function["Timeout"], step.name


def test_visibility_timeout_includes_the_batching_window(varied: Synthesis) -> None:
    """By the seconds that a batch may wait until its invocation begins."""
    windows = {
        mapping["FunctionName"]: mapping["MaximumBatchingWindowInSeconds"]
        for mapping in varied.service.of_type("AWS::Lambda::EventSourceMapping").values()
        if "MaximumBatchingWindowInSeconds" in mapping
    }
    assert windows == {varied.mapped("ingest"): 7, varied.mapped("generate"): 20}
    for step, window in ((INGEST, 7), (FEEDBACK, 0), (GENERATE, 20)):
        _, queue = varied.queue(str(step.queue))
        assert queue["VisibilityTimeout"] == 6 * step.timeout + window


def test_ingest_has_no_batching_window(prod: Synthesis) -> None:
    """An immediate email is promised within a minute; any window may take a third of it."""
    ingest = prod.mapped("ingest")
    (mapping,) = (
        each
        for each in prod.service.of_type("AWS::Lambda::EventSourceMapping").values()
        if each["FunctionName"] == ingest
    )
    assert "MaximumBatchingWindowInSeconds" not in mapping


def test_queue_functions_report_partial_failures_with_limited_concurrency(
    prod: Synthesis,
) -> None:
    mappings = list(prod.service.of_type("AWS::Lambda::EventSourceMapping").values())
    collecting = {"feedback", "generate"}  # immediate emails do not wait
    assert sorted(mappings, key=_source) == sorted(
        (
            {
                "BatchSize": step.batch_size,
                "EventSourceArn": f"{{{prod.queue(queue)[0]}.Arn}}",
                "FunctionName": prod.mapped(step.name),
                "FunctionResponseTypes": ["ReportBatchItemFailures"],
                "ScalingConfig": {"MaximumConcurrency": AT_FOURTEEN[queue]},
                **({"MaximumBatchingWindowInSeconds": 20} if queue in collecting else {}),
            }
            for step, queue in _FED
        ),
        key=_source,
    )


def _source(mapping: Properties) -> str:
    return str(mapping["EventSourceArn"])


def test_every_queue_without_a_consumer_has_an_alarm_with_an_action(prod: Synthesis) -> None:
    queues = prod.service.of_type("AWS::SQS::Queue")
    emptied = {
        mapping["EventSourceArn"].removeprefix("{").removesuffix(".Arn}")
        for mapping in prod.service.of_type("AWS::Lambda::EventSourceMapping").values()
    }
    alarms = {
        alarm["Dimensions"][0]["Value"]: alarm
        for alarm in prod.service.of_type("AWS::CloudWatch::Alarm").values()
        if alarm.get("MetricName") == "ApproximateNumberOfMessagesVisible"
    }
    assert {queue["QueueName"] for name, queue in queues.items() if name not in emptied} == {
        *(f"gazette-prod-{queue}-dead" for _, queue in _FED),
        "gazette-prod-quarantine",
        "gazette-prod-undelivered",
        "gazette-prod-failed",
        "gazette-prod-feedback-undelivered",
        "gazette-prod-ticks-undelivered",
    }
    for name in queues.keys() - emptied:
        alarm = alarms[f"{{{name}.QueueName}}"]
        assert alarm["AlarmActions"] == ["{Alarms}"], name
        assert 0 < len(alarm["AlarmDescription"]) <= 1024, name
        assert (alarm["ComparisonOperator"], alarm["Threshold"], alarm["EvaluationPeriods"]) == (
            "GreaterThanThreshold",
            0,
            1,
        ), name
        assert (alarm["Statistic"], alarm["Period"]) == ("Maximum", 60), name


def test_attack_queues_reject_unencrypted_requests(prod: Synthesis) -> None:
    refusing = {
        statement["Resource"]
        for policy in prod.service.of_type("AWS::SQS::QueuePolicy").values()
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
        and statement["Action"] == "sqs:*"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    }
    assert refusing == {f"{{{name}.Arn}}" for name in prod.service.of_type("AWS::SQS::Queue")}
