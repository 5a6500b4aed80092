"""Whether tables and queues are as the stacks made them, queues drained and templates readable."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gazette.adapters.templates.bundle import BundleError, checksum_of, unpack
from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.ports.templates import BundleStore, TemplateVersions
from gazette.domain.templates.versions import Version

from cli.doctor.findings import Finding, Unseen, ok, problem, unseen
from cli.doctor.stage_facts import DEAD, QUEUE, TABLE, Deployed, StageFacts, queue_name
from cli.shared.next_commands import PUT_BACK, PUT_BACK_PAGE, to_run

_CHANGED = f"Somebody changed it: `{PUT_BACK}` changes it back; another deployment does not."
_RESTORE = (
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery.html"
)
_QUEUES = "https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html"

_TEMPLATES = "docs/runbook/templates-unusable.md"
_TEMPLATES_TODO = "Roll the templates back, or push them again."

_PAGES = {"failed": "failed-not-empty", "quarantine": "quarantine-not-empty"}

Settings = Mapping[str, Any]


def check_data(facts: StageFacts) -> Iterator[Finding]:
    """Each table and queue, then each dead letter that waits."""
    for each in facts.of(TABLE):
        yield _as_made(f"table {each.name}", each, made_of_table, now_of_table, _RESTORE)
    for each in facts.of(QUEUE):
        name = queue_name(each.physical, facts.stage)
        yield _as_made(f"queue {name}", each, made_of_queue, now_of_queue, _QUEUES)
        if name in DEAD and isinstance(each.now, dict):
            yield check_dead_letters(name, each.now, stage=facts.stage)


def check_templates(versions: TemplateVersions, bundles: BundleStore) -> Iterator[Finding]:
    """Each version of the templates that is in force, read and verified as functions do it."""
    try:
        in_force = versions.in_force()
    except UnreadableRow as err:
        yield problem("templates in force", str(err), _TEMPLATES_TODO, _TEMPLATES)
        return
    except Unavailable as err:
        yield unseen("templates in force", Unseen(str(err)))
        return
    candidate = in_force.candidate
    if in_force.current.is_deployed and candidate is None:
        yield ok("templates in force", "what was deployed")
    elif not in_force.current.is_deployed:
        yield _readable(in_force.current, "for everybody", bundles)
    if candidate:
        share = f"for {candidate.percent} % of the readers"
        yield _readable(candidate.version, share, bundles)


def _readable(version: Version, share: str, bundles: BundleStore) -> Finding:
    check = f"templates version {version.number}"
    try:
        content = bundles.get(version)
    except Unavailable as err:
        return unseen(check, Unseen(str(err)))
    if content is None:
        return problem(check, "its bundle does not exist", _TEMPLATES_TODO, _TEMPLATES)
    if checksum_of(content) != version.checksum:
        return problem(check, "its bundle is not what was pushed", _TEMPLATES_TODO, _TEMPLATES)
    try:
        unpack(content)
    except BundleError as err:
        return problem(check, str(err), _TEMPLATES_TODO, _TEMPLATES)
    return ok(check, f"{share}, {len(content):,} bytes")


def check_dead_letters(name: str, now: Settings, *, stage: str) -> Finding:
    """Messages that nobody works off: each is an event or a run that waits for a person."""
    waiting = int(now.get("ApproximateNumberOfMessages", 0))
    if not waiting:
        return ok(f"dead letters {name}", "none")
    command = "quarantine list" if name == "quarantine" else f"dlq show {name}"
    todo = f"`{to_run(command, stage=stage)}` says why."
    return problem(f"dead letters {name}", f"{waiting}", todo, page_of_queue(name))


def page_of_queue(name: str) -> str:
    """The page of the runbook on messages in a queue that nobody works off."""
    page = "undelivered" if name.endswith("undelivered") else _PAGES.get(name, "dead-letters")
    return f"docs/runbook/{page}.md"


def made_of_table(made: Settings) -> Settings:
    """What the template says, as `now_of_table` has it."""
    ttl = made.get("TimeToLiveSpecification", {})
    pitr = made.get("PointInTimeRecoverySpecification", {})
    return {
        "point-in-time recovery": bool(pitr.get("PointInTimeRecoveryEnabled")),
        "expiry": ttl.get("AttributeName") if ttl.get("Enabled") else None,
        "deletion protection": bool(made.get("DeletionProtectionEnabled")),
        "keys": _keys(made),
        "indexes": _indexes(made),
    }


def now_of_table(now: Settings) -> Settings:
    """What DynamoDB says, in the answers of DescribeTable and of what it leaves out."""
    table, ttl = now["Table"], now["TimeToLiveDescription"]
    pitr = now["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
    is_on = ttl.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
    return {
        "point-in-time recovery": pitr.get("PointInTimeRecoveryStatus") == "ENABLED",
        "expiry": ttl.get("AttributeName") if is_on else None,
        "deletion protection": bool(table.get("DeletionProtectionEnabled")),
        "keys": _keys(table),
        "indexes": _indexes(table),
    }


def made_of_queue(made: Settings) -> Settings:
    """What the template says, as `now_of_queue` has it; SQS's defaults where it says nothing."""
    redrive = made.get("RedrivePolicy", {})
    return {
        "visibility time-out": int(made.get("VisibilityTimeout", 30)),
        "retention": int(made.get("MessageRetentionPeriod", 345_600)),
        "receives": int(redrive["maxReceiveCount"]) if redrive else None,
    }


def now_of_queue(now: Settings) -> Settings:
    """What SQS says. A redrive policy comes as JSON."""
    redrive = json.loads(now.get("RedrivePolicy", "null"))
    return {
        "visibility time-out": int(now.get("VisibilityTimeout", 30)),
        "retention": int(now.get("MessageRetentionPeriod", 345_600)),
        "receives": int(redrive["maxReceiveCount"]) if redrive else None,
    }


def _as_made(check: str, each: Deployed, made_of: Any, now_of: Any, page: str) -> Finding:
    if isinstance(each.now, Unseen):
        return unseen(check, each.now)
    if each.now is None:
        todo = f"Restore it; if nothing was in it, `{PUT_BACK}` makes it again."
        where = page if each.kind == TABLE else PUT_BACK_PAGE
        return problem(check, f"{each.physical} is not there", todo, where)
    made, now = made_of(each.made), now_of(each.now)
    changed = [
        f"{name} is {now[name]}, not {made[name]}" for name in made if made[name] != now[name]
    ]
    if changed:
        return problem(check, "; ".join(changed), _CHANGED, page)
    return ok(check, "as the template made it")


def _keys(table: Settings) -> tuple[str, ...]:
    schema = {each["KeyType"]: each["AttributeName"] for each in table["KeySchema"]}
    return tuple(schema[kind] for kind in ("HASH", "RANGE") if kind in schema)


def _indexes(table: Settings) -> dict[str, tuple[Any, ...]]:
    both = (table.get("GlobalSecondaryIndexes"), table.get("LocalSecondaryIndexes"))
    return {
        each["IndexName"]: (*_keys(each), each["Projection"]["ProjectionType"])
        for found in both
        for each in found or ()
    }
