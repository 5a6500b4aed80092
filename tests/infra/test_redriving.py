"""Every queue of a stage feeds a function, or can be emptied in the AWS console without a loss."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
from gazette.domain.dead_letters import KNOWN

from gazette_cdk.topology import CONTENT, STEPS
from gazette_cli.reference.permissions import IN_THE_CONSOLE
from tests.functions.redriving import CONSOLE
from tests.infra.synthesis import Properties, Synthesis

PURGED = {"ticks-undelivered"}
"""The next tick makes up for each of them: there is no queue that a redrive could bring them to."""

_DOCS = Path(__file__).parents[2] / "docs"
_STAGES = ("prod", "asking", "tracking", "by_smtp")
_STEPS = {queue: step.name for step in (*STEPS, CONTENT) for queue in step.queues}


@pytest.fixture(params=_STAGES)
def stage(request: pytest.FixtureRequest) -> Synthesis:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Synthesis)
    return found


def queues(stage: Synthesis) -> dict[str, Properties]:
    """All queues of all stacks, by their names without `gazette-prod-`."""
    templates = [stage.data, stage.service, *filter(None, [stage.front])]
    return {
        resource["Properties"]["QueueName"].removeprefix("gazette-prod-"): {
            "id": name,
            **resource["Properties"],
        }
        for template in templates
        for name, resource in template.resources.items()
        if resource["Type"] == "AWS::SQS::Queue"
    }


def fed(stage: Synthesis) -> dict[str, str]:
    """The functions that take messages from queues, by queue."""
    by_arn = {f"{{{queue['id']}.Arn}}": name for name, queue in queues(stage).items()}
    return {
        by_arn[mapping["EventSourceArn"]]: mapping["FunctionName"]
        for mapping in stage.service.of_type("AWS::Lambda::EventSourceMapping").values()
    }


def alarm_of(stage: Synthesis, name: str) -> str:
    (text,) = (
        alarm["AlarmDescription"]
        for alarm in stage.service.of_type("AWS::CloudWatch::Alarm").values()
        if alarm.get("AlarmName") == f"gazette-prod-{name}-not-empty"
    )
    return str(text)


def test_every_queue_has_a_consumer_or_can_be_purged_or_redriven(
    stage: Synthesis,
) -> None:
    """SQS moves messages only from the dead-letter queue of another queue.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
    """
    every, takers = queues(stage), fed(stage)
    must_be_empty = every.keys() - takers.keys()
    assert must_be_empty >= PURGED
    for name in must_be_empty - PURGED:
        arn = f"{{{every[name]['id']}.Arn}}"
        sources = [
            source
            for source, queue in every.items()
            if queue.get("RedrivePolicy", {}).get("deadLetterTargetArn") == arn
        ]
        assert len(sources) == 1, f"SQS redrives nothing from {name}"
        allowed = every[name]["RedriveAllowPolicy"]
        assert allowed["redrivePermission"] == "byQueue", name
        assert [each.rpartition(":")[2] for each in allowed["sourceQueueArns"]] == [
            f"gazette-prod-{sources[0]}"
        ], name
        assert CONSOLE[name].destinations, f"no test redrives what lies in {name}"


def test_dead_letters_after_a_thousand_receives_return_to_the_same_function(
    stage: Synthesis,
) -> None:
    every, takers = queues(stage), fed(stage)
    by_arn = {f"{{{queue['id']}.Arn}}": name for name, queue in every.items()}
    handed_on = {
        name: by_arn[queue["RedrivePolicy"]["deadLetterTargetArn"]]
        for name, queue in every.items()
        if "RedrivePolicy" in queue and name not in takers
    }
    assert handed_on == {
        "resend-dead": "failed",
        "ingest-dead": "undelivered",
        "undelivered": "quarantine",
        "feedback-dead": "feedback-undelivered",
    }
    for name, behind in handed_on.items():
        assert every[name]["RedrivePolicy"]["maxReceiveCount"] == 1000
        assert CONSOLE[name].destinations[0] == CONSOLE[behind].destinations[0], name


def test_default_destination_is_a_function_queue_only_for_dead_letters_of_functions(
    stage: Synthesis,
) -> None:
    """Without a custom destination, SQS moves messages back to the queue whose redrive policy moved
    them. For the other queues, this is another queue that must be empty.

    A destination must be of the same type as the queue.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
    """
    every, takers = queues(stage), fed(stage)
    by_arn = {f"{{{queue['id']}.Arn}}": name for name, queue in every.items()}
    sources = {
        by_arn[queue["RedrivePolicy"]["deadLetterTargetArn"]]: name
        for name, queue in every.items()
        if "RedrivePolicy" in queue
    }
    assert sources.keys() == every.keys() - takers.keys() - PURGED
    for dead, source in sources.items():
        if dead.endswith("-dead"):
            assert CONSOLE[dead].destinations == (source,)
        else:
            assert source not in takers, dead
    assert not any(queue.get("FifoQueue") for queue in every.values())


def test_queue_alarm_names_console_steps_and_redrive_target(
    stage: Synthesis,
) -> None:
    takers = fed(stage)
    for name in queues(stage).keys() - takers.keys():
        text = alarm_of(stage, name)
        assert "In the SQS console: " in text, name
        assert f"open gazette-prod-{name}" in text, name
        if name in PURGED:
            assert 'choose "Purge"' in text, name
            assert "redrive" not in text, name
            continue
        assert 'choose "Start DLQ redrive"' in text, name
        first, *others = CONSOLE[name].destinations
        assert f"redrive to a custom destination, the ARN of gazette-prod-{first}." in text, name
        for other in others:
            assert f"redrive them to gazette-prod-{other}." in text, name
        for each in (first, *others):
            assert takers[each] == stage.mapped(_STEPS[each]), name


def test_alarm_texts_never_suggest_a_redrive_to_the_source(stage: Synthesis) -> None:
    """Nobody has tried on AWS what it does with messages that SQS did not move there itself."""
    for alarm in stage.service.of_type("AWS::CloudWatch::Alarm").values():
        assert not re.search(r"to (the |its )?source", alarm["AlarmDescription"]), alarm


def test_every_alarm_that_requires_a_redrive_describes_the_console_steps(stage: Synthesis) -> None:
    told = 0
    takers = fed(stage)
    for alarm in stage.service.of_type("AWS::CloudWatch::Alarm").values():
        text = alarm["AlarmDescription"]
        if "redrive" not in text:
            continue
        told += 1
        named = re.findall(r"custom destination, the ARN of (gazette-prod-[a-z-]+)", text)
        elsewhere = re.search(
            r"the alarms? of .+ the steps in the SQS console", text, re.IGNORECASE
        )
        assert named or elsewhere, text
        for each in named:
            assert each.removeprefix("gazette-prod-") in takers, text
    assert told > len(KNOWN)


def test_gazette_dlq_and_console_redrive_to_the_same_queues() -> None:
    assert {dead.name: dead.source for dead in KNOWN if dead.source} == {
        name: way.destinations[0] for name, way in CONSOLE.items() if name != "quarantine"
    }
    assert CONSOLE["quarantine"].destinations == ("ingest", "feedback")


def test_console_policy_allows_exactly_the_redrives(asking: Synthesis) -> None:
    """SQS moves messages with the rights of the person who starts it.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
    """
    allowed: dict[str, set[str]] = defaultdict(set)
    for resource, action in IN_THE_CONSOLE:
        allowed[resource.removeprefix("queue/")].add(action.removeprefix("sqs:"))
    assert allowed.pop("*") == {"ListQueues"}
    assert allowed.keys() == queues(asking).keys()
    destinations = {each for way in CONSOLE.values() for each in way.destinations}
    assert destinations == fed(asking).keys()
    look = {"GetQueueAttributes", "GetQueueUrl", "ListDeadLetterSourceQueues", "ListQueueTags"}
    read = look | {"ReceiveMessage", "ChangeMessageVisibility"}
    tasks = {"StartMessageMoveTask", "ListMessageMoveTasks", "CancelMessageMoveTask"}
    for name, actions in allowed.items():
        if name in destinations:
            assert actions == {*look, "SendMessage"}, name
        elif name in PURGED:
            assert actions == {*read, "PurgeQueue"}, name
        else:
            assert actions == {*read, *tasks, "DeleteMessage"}, name


def test_runbook_lists_the_redrive_target_of_each_queue() -> None:
    page = (_DOCS / "runbook" / "dead-letters.md").read_text()
    _, _, section = page.partition("## In the SQS console\n")
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+?) \|$", section.partition("\n## ")[0], re.MULTILINE)
    told = {name: tuple(re.findall(r"`gazette-<stage>-([a-z]+)`", cell)) for name, cell in rows}
    assert told == {name: way.destinations for name, way in CONSOLE.items()} | dict.fromkeys(
        PURGED, ()
    )


def _names_destination(page: str, queue: str, destination: str) -> bool:
    """Return True if a runbook page names the custom destination of a queue."""
    text = " ".join(page.split())
    source, into = f"`gazette-<stage>-{queue}`", f"`gazette-<stage>-{destination}`"
    return (
        f"redrive {source} to the custom destination {into}" in text
        or f"The custom destination of `{queue}` is {into}" in text
        or f"| `{queue}` | {into} |" in text
    )


def test_runbook_page_of_each_queue_names_the_destination_in_its_alarm(asking: Synthesis) -> None:
    for name in queues(asking).keys() - fed(asking).keys():
        alarm = alarm_of(asking, name)
        (path,) = re.findall(r"See docs/(runbook/[a-z-]+\.md)", alarm)
        page = (_DOCS / path).read_text()
        assert f"{name}-not-empty" in page, path
        if name in PURGED:
            assert "choose **Purge**" in " ".join(page.split()), path
            assert not any(_names_destination(page, name, each) for each in fed(asking)), path
            continue
        first, *others = re.findall(r"(?:the ARN of|redrive them to) gazette-prod-([a-z]+)", alarm)
        named = [each for each in fed(asking) if _names_destination(page, name, each)]
        assert named == [first], (name, path)
        for other in others:
            sentence = f"Redrive delivery events to `gazette-<stage>-{other}`."
            assert sentence in " ".join(page.split()), (name, path)


def test_docs_never_suggest_a_redrive_to_the_source() -> None:
    for page in [*_DOCS.glob("*.md"), *(_DOCS / "runbook").glob("*.md")]:
        text = " ".join(page.read_text().split())
        assert not re.search(r"(?i)redrive to (the |its |their )?source", text), page.name
