"""Whether what was deployed is there, runs, and is as it was made."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from cli.doctor.findings import Finding, Unseen, ok, problem, unseen, warning
from cli.doctor.stage_facts import (
    ALIAS,
    MAPPING,
    RULE,
    SCHEDULE,
    SUBSCRIPTION,
    TOPIC,
    Answer,
    Deployed,
    Looked,
    StageFacts,
)
from cli.overview.alarms import page_of
from cli.shared.next_commands import PUT_BACK, PUT_BACK_PAGE

Check = Callable[[str, Deployed, Answer], Finding]
"""Takes its own name, what was deployed, and how it is now."""

_DELETED = f"Somebody deleted it: `{PUT_BACK}` makes it again."
_UNREAD = (
    "Somebody deleted it, and no deployment makes it again, because CloudFormation does not read "
    "mappings: `aws lambda create-event-source-mapping` does."
)
_LAMBDA = "https://docs.aws.amazon.com/lambda/latest/dg"


def check_stage(facts: StageFacts) -> Iterator[Finding]:
    """Everything that the stacks made, but tables and queues."""
    if isinstance(facts.resources, Unseen):
        yield unseen("stacks", facts.resources)
    yield from _each("schedule", facts.of(SCHEDULE), _schedule)
    yield from _each("rule", facts.of(RULE), _rule)
    yield from _each("mapping", facts.of(MAPPING), _mapping)
    yield from _each("alias", facts.of(ALIAS), _alias)
    by_topic = {each.made.get("TopicArn") for each in facts.of(SUBSCRIPTION)}
    for each in facts.of(TOPIC):
        wanted = each.physical in by_topic
        yield from _each("subscription", [each], partial(_subscription, wanted=wanted))
    yield from check_alarms(facts.alarms)


def check_alarms(alarms: Looked) -> Iterator[Finding]:
    """Each alarm that has fired, with the page that its own text names."""
    if alarms is None or isinstance(alarms, Unseen):
        yield unseen("alarms", alarms or Unseen("CloudWatch has no alarms here"))
        return
    fired = alarms.get("MetricAlarms", ())
    for each in fired:
        check, page = f"alarm {each['AlarmName']}", page_of(each.get("AlarmDescription", ""))
        yield problem(check, "it has fired", "Its page says what to do.", page)
    if not fired:
        yield ok("alarms", "none has fired")


def _each(what: str, found: Iterable[Deployed], check: Check) -> Iterator[Finding]:
    for each in found:
        name = f"{what} {each.name}"
        if isinstance(each.now, Unseen):
            yield unseen(name, each.now)
        elif each.now is None:
            todo = _UNREAD if each.kind == MAPPING else _DELETED
            yield problem(name, f"{each.physical} is not there", todo, PUT_BACK_PAGE)
        else:
            yield check(name, each, each.now)


def _schedule(check: str, each: Deployed, now: Answer) -> Finding:
    state = now.get("State")
    if each.made.get("State", "ENABLED") == "ENABLED" != state:
        is_sweep = each.name == "SweepTick"
        why = "nothing recovers by itself" if is_sweep else "no digest starts by itself"
        page = f"docs/runbook/{'sweep' if is_sweep else 'fanout'}-silent.md"
        return problem(check, f"{state}", f"Enable it in EventBridge Scheduler: {why}.", page)
    return ok(check, "enabled" if state == "ENABLED" else "off, as `ticks` says")


def _rule(check: str, _: Deployed, now: Answer) -> Finding:
    if now.get("State") == "ENABLED":
        return ok(check, "enabled")
    todo = "Enable it in EventBridge: what comes meanwhile is lost."
    return problem(check, f"{now.get('State')}", todo, "docs/runbook/undelivered.md")


def _mapping(check: str, each: Deployed, now: Answer) -> Finding:
    page = f"{_LAMBDA}/services-sqs-configure.html"
    state = now.get("State")
    if state not in ("Enabled", "Creating", "Enabling", "Updating"):
        put = f"aws lambda update-event-source-mapping --uuid {each.physical} --enabled"
        todo = f"`{put}` enables it, and no deployment does: its queue grows until then."
        return problem(check, f"{state}", todo, page)
    made, found = size_of_mapping(each.made), size_of_mapping(now)
    changed = [
        f"{name} is {found[name]}, not {made[name]}" for name in made if made[name] != found[name]
    ]
    if not changed:
        return ok(check, f"{state}".lower())
    put = f"aws lambda update-event-source-mapping --uuid {each.physical}"
    most = made["MaximumConcurrency"]
    todo = (
        f"Somebody changed it: `{put} --batch-size {made['BatchSize']} "
        f"--maximum-batching-window-in-seconds {made['MaximumBatchingWindowInSeconds']} "
        f"--scaling-config {f'MaximumConcurrency={most}' if most else '{}'}` changes it back; "
        "a deployment does not."
    )
    return warning(check, "; ".join(changed), todo, page)


def size_of_mapping(said: Answer) -> Mapping[str, int]:
    """What Lambda goes by when it invokes the function of a queue, in the template or by Lambda.

    https://docs.aws.amazon.com/lambda/latest/api/API_GetEventSourceMapping.html
    """
    return {
        "BatchSize": int(said.get("BatchSize", 10)),
        "MaximumBatchingWindowInSeconds": int(said.get("MaximumBatchingWindowInSeconds", 0)),
        "MaximumConcurrency": int((said.get("ScalingConfig") or {}).get("MaximumConcurrency", 0)),
    }


def _alias(check: str, _: Deployed, now: Answer) -> Finding:
    live, newest = f"{now['FunctionVersion']}", f"{now['Newest']}"
    if live == newest:
        return ok(check, f"version {live}, the newest")
    todo = (
        "`gazette rollback --list` says which deployment works. If nobody means it, "
        "`gazette rollback NAME` goes to the newest: deploying the same does not."
    )
    seen = f"version {live}; the newest is {newest}"
    return warning(check, seen, todo, "docs/runbook/bad-deployment.md")


def _subscription(check: str, _: Deployed, now: Answer, *, wanted: bool) -> Finding:
    told = now.get("Subscriptions", ())
    page = "https://docs.aws.amazon.com/sns/latest/dg/sns-email-notifications.html"
    waiting = [each for each in told if not each["SubscriptionArn"].startswith("arn:")]
    if waiting:
        todo = "Follow the link in AWS's email to that address; until then nothing arrives."
        return problem(check, f"{len(waiting)} not confirmed", todo, page)
    if not told and not wanted:
        return ok(check, "nobody, as `alarm_email` says")
    if not told:
        todo = "Somebody removed it: subscribe the address of `alarm_email` again."
        return warning(check, "nobody is subscribed", todo, page)
    return ok(check, f"{len(told)} confirmed")
