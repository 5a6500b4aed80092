"""Checks that the deployed resources exist, are enabled, and match the template."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from gazette_cli.doctor.findings import Finding, Unseen, ok, problem, unseen, warning
from gazette_cli.doctor.stage_facts import (
    ALIAS,
    MAPPING,
    RULE,
    SCHEDULE,
    SUBSCRIPTION,
    SWEEP_TICK,
    TOPIC,
    Answer,
    Deployed,
    Looked,
    StageFacts,
)
from gazette_cli.overview.alarms import page_of
from gazette_cli.shared.next_commands import PUT_BACK, PUT_BACK_PAGE

Check = Callable[[str, Deployed, Answer], Finding]
"""A function that checks a resource. Its arguments are the check's name, the resource and its
state.
"""

_DELETED = f"The resource was deleted. Run `{PUT_BACK}` to create it again."
_UNREAD = (
    "The mapping was deleted. A deployment does not create it again, because CloudFormation "
    "does not read mappings. To create it, run `aws lambda create-event-source-mapping`."
)
_LAMBDA = "https://docs.aws.amazon.com/lambda/latest/dg"


def check_stage(facts: StageFacts) -> Iterator[Finding]:
    """Check the resources of the stacks, except tables and queues."""
    if isinstance(facts.resources, Unseen):
        yield unseen("stacks", facts.resources)
    yield from _each("schedule", facts.of(SCHEDULE), _schedule)
    yield from _each("rule", facts.of(RULE), _rule)
    yield from _each("mapping", facts.of(MAPPING), _mapping)
    yield from _each("alias", facts.of(ALIAS), _alias)
    by_topic = {each.template.get("TopicArn") for each in facts.of(SUBSCRIPTION)}
    for each in facts.of(TOPIC):
        expected = each.physical in by_topic
        yield from _each("subscription", [each], partial(_subscription, expected=expected))
    yield from check_alarms(facts.alarms)
    yield from _loops(facts.loops)


def _loops(loops: Looked) -> Iterator[Finding]:
    """Warn of rules that route events out to the incoming bus, where each one is quarantined."""
    check = "events out"
    if isinstance(loops, Unseen):
        yield unseen(check, loops)
    elif loops and loops["RuleNames"]:
        names = ", ".join(loops["RuleNames"])
        todo = (
            "Remove the incoming bus from the targets of these rules. Events out do not match its "
            "schemas, so each one is quarantined."
        )
        state = f"rules route events out to the incoming bus: {names}"
        yield warning(check, state, todo, "docs/runbook/quarantine-not-empty.md")
    elif loops:
        yield ok(check, "no rule routes events out to the incoming bus")


def check_alarms(alarms: Looked) -> Iterator[Finding]:
    """Report each raised alarm, with the runbook page that its description names."""
    if alarms is None or isinstance(alarms, Unseen):
        yield unseen("alarms", alarms or Unseen("CloudWatch has no alarms"))
        return
    in_alarm = alarms.get("MetricAlarms", ())
    for each in in_alarm:
        check, page = f"alarm {each['AlarmName']}", page_of(each.get("AlarmDescription", ""))
        yield problem(check, "in alarm", "Follow the steps on the runbook page.", page)
    if not in_alarm:
        yield ok("alarms", "none in alarm")


def _each(what: str, resources: Iterable[Deployed], check: Check) -> Iterator[Finding]:
    for each in resources:
        name = f"{what} {each.name}"
        if isinstance(each.now, Unseen):
            yield unseen(name, each.now)
        elif each.now is None:
            todo = _UNREAD if each.kind == MAPPING else _DELETED
            yield problem(name, f"{each.physical} does not exist", todo, PUT_BACK_PAGE)
        else:
            yield check(name, each, each.now)


def _schedule(check: str, each: Deployed, now: Answer) -> Finding:
    state = now.get("State")
    if each.template.get("State", "ENABLED") == "ENABLED" != state:
        is_sweep = each.name == SWEEP_TICK
        why = "stuck runs do not recover" if is_sweep else "digests do not start"
        page = f"docs/runbook/{'sweep' if is_sweep else 'fanout'}-silent.md"
        todo = f"Enable the schedule in EventBridge Scheduler. Until then, {why}."
        return problem(check, f"{state}", todo, page)
    return ok(check, "enabled" if state == "ENABLED" else "disabled by the `ticks` setting")


def _rule(check: str, _: Deployed, now: Answer) -> Finding:
    if now.get("State") == "ENABLED":
        return ok(check, "enabled")
    todo = "Enable the rule in EventBridge. Events that arrive while the rule is disabled are lost."
    return problem(check, f"{now.get('State')}", todo, "docs/runbook/undelivered.md")


def _mapping(check: str, each: Deployed, now: Answer) -> Finding:
    is_stream = "StartingPosition" in each.template
    page, effect = f"{_LAMBDA}/services-sqs-configure.html", "its queue grows"
    if is_stream:
        page = "docs/runbook/events-out-late.md"
        effect = "no events out are published, and changes of over 24 hours ago are lost"
    state = now.get("State")
    if state not in ("Enabled", "Creating", "Enabling", "Updating"):
        command = f"aws lambda update-event-source-mapping --uuid {each.physical} --enabled"
        todo = (
            f"To enable the mapping, run `{command}`. A deployment does not enable it. Until "
            f"then, {effect}."
        )
        return problem(check, f"{state}", todo, page)
    expected, actual = size_of_mapping(each.template), size_of_mapping(now)
    changed = [
        f"{name} is {actual[name]}, not {expected[name]}"
        for name in expected
        if expected[name] != actual[name]
    ]
    if not changed:
        return ok(check, f"{state}".lower())
    command = f"aws lambda update-event-source-mapping --uuid {each.physical}"
    most, window = expected["MaximumConcurrency"], expected["MaximumBatchingWindowInSeconds"]
    todo = (
        f"The mapping was changed manually. To revert the change, run `{command} --batch-size "
        f"{expected['BatchSize']} --maximum-batching-window-in-seconds {window} --scaling-config "
        f"{f'MaximumConcurrency={most}' if most else '{}'}`. A deployment does not revert it."
    )
    return warning(check, "; ".join(changed), todo, page)


def size_of_mapping(mapping: Answer) -> Mapping[str, int]:
    """Return the settings that determine how an event source mapping invokes its function.

    `mapping` has the properties in the template, or is the response of Lambda.
    https://docs.aws.amazon.com/lambda/latest/api/API_GetEventSourceMapping.html
    """
    scaling = mapping.get("ScalingConfig") or {}
    return {
        "BatchSize": int(mapping.get("BatchSize", 10)),
        "MaximumBatchingWindowInSeconds": int(mapping.get("MaximumBatchingWindowInSeconds", 0)),
        "MaximumConcurrency": int(scaling.get("MaximumConcurrency", 0)),
    }


def _alias(check: str, _: Deployed, now: Answer) -> Finding:
    live, newest = f"{now['FunctionVersion']}", f"{now['Newest']}"
    if live == newest:
        return ok(check, f"version {live}, the newest")
    todo = (
        "To see the live deployment, run `gazette rollback --list`. If the rollback is not "
        "intended, run `gazette rollback NAME` to make the newest deployment live. Deploying "
        "the same code again does not undo a rollback."
    )
    seen = f"version {live}; the newest is {newest}"
    return warning(check, seen, todo, "docs/runbook/bad-deployment.md")


def _subscription(check: str, _: Deployed, now: Answer, *, expected: bool) -> Finding:
    subscriptions = now.get("Subscriptions", ())
    page = "https://docs.aws.amazon.com/sns/latest/dg/sns-email-notifications.html"
    waiting = [each for each in subscriptions if not each["SubscriptionArn"].startswith("arn:")]
    if waiting:
        todo = (
            "Confirm the subscription with the link in the email that AWS sent to the address. "
            "Until then, the address receives no alarms."
        )
        return problem(check, f"{len(waiting)} not confirmed", todo, page)
    if not subscriptions and not expected:
        return ok(check, "none, because `alarm_email` is not set")
    if not subscriptions:
        todo = "The subscription was removed. Subscribe the address in `alarm_email` again."
        return warning(check, "no subscription", todo, page)
    return ok(check, f"{len(subscriptions)} confirmed")
