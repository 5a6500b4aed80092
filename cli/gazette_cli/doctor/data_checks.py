"""Checks of tables, queues, dead letters and templates."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gazette.adapters.templates.bundle import BundleError, checksum_of, unpack
from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.templates.ports import BundleStore, TemplateVersions
from gazette.domain.templates.versions import Version

from gazette_cli.doctor.findings import Finding, Unseen, ok, problem, unseen
from gazette_cli.doctor.stage_facts import DEAD, QUEUE, TABLE, Deployed, StageFacts, queue_name
from gazette_cli.shared.next_commands import PUT_BACK, PUT_BACK_PAGE, to_run

_CHANGED = (
    f"The resource was changed manually. To revert the change, run `{PUT_BACK}`. Other "
    "deployments do not revert it."
)
_RESTORE = (
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery.html"
)
_QUEUES = "https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html"

_TEMPLATES = "docs/runbook/templates-unusable.md"
_TEMPLATES_TODO = "Roll the templates back, or push them again."

_PAGES = {"failed": "failed-not-empty", "quarantine": "quarantine-not-empty"}

Settings = Mapping[str, Any]


def check_data(facts: StageFacts) -> Iterator[Finding]:
    """Check the settings of tables and queues, and the number of messages in dead-letter queues."""
    for each in facts.of(TABLE):
        yield _compared(f"table {each.name}", each, expected_table, actual_table, _RESTORE)
    for each in facts.of(QUEUE):
        name = queue_name(each.physical, facts.stage)
        yield _compared(f"queue {name}", each, expected_queue, actual_queue, _QUEUES)
        if name in DEAD and isinstance(each.now, dict):
            yield check_dead_letters(name, each.now, stage=facts.stage)


def check_templates(versions: TemplateVersions, bundles: BundleStore) -> Iterator[Finding]:
    """Check that the bundle of each version in force exists and is unchanged."""
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
        yield ok("templates in force", "the deployed templates")
    elif not in_force.current.is_deployed:
        yield _readable(in_force.current, "for all readers", bundles)
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
        return problem(check, "the bundle does not exist", _TEMPLATES_TODO, _TEMPLATES)
    if checksum_of(content) != version.checksum:
        return problem(
            check, "the stored bundle differs from the pushed bundle", _TEMPLATES_TODO, _TEMPLATES
        )
    try:
        unpack(content)
    except BundleError as err:
        return problem(check, str(err), _TEMPLATES_TODO, _TEMPLATES)
    return ok(check, f"{share}, {len(content):,} bytes")


def check_dead_letters(name: str, now: Settings, *, stage: str) -> Finding:
    """Check that a dead-letter queue is empty. An operator must handle each dead letter."""
    waiting = int(now.get("ApproximateNumberOfMessages", 0))
    if not waiting:
        return ok(f"dead letters {name}", "none")
    command = "quarantine list" if name == "quarantine" else f"dlq show {name}"
    todo = f"To see the messages and the reasons, run `{to_run(command, stage=stage)}`."
    return problem(f"dead letters {name}", f"{waiting}", todo, page_of_queue(name))


def page_of_queue(name: str) -> str:
    """Return the runbook page of a dead-letter queue."""
    page = "undelivered" if name.endswith("undelivered") else _PAGES.get(name, "dead-letters")
    return f"docs/runbook/{page}.md"


def expected_table(template: Settings) -> Settings:
    """Return a table's settings from the template, in the format of `actual_table`."""
    ttl = template.get("TimeToLiveSpecification", {})
    pitr = template.get("PointInTimeRecoverySpecification", {})
    return {
        "point-in-time recovery": bool(pitr.get("PointInTimeRecoveryEnabled")),
        "expiry": ttl.get("AttributeName") if ttl.get("Enabled") else None,
        "deletion protection": bool(template.get("DeletionProtectionEnabled")),
        "keys": _keys(template),
        "indexes": _indexes(template),
    }


def actual_table(now: Settings) -> Settings:
    """Return the current settings of a table, from the responses of three Describe operations."""
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


def expected_queue(template: Settings) -> Settings:
    """Return a queue's settings from the template, including the defaults of SQS."""
    redrive = template.get("RedrivePolicy", {})
    return {
        "visibility timeout": int(template.get("VisibilityTimeout", 30)),
        "retention": int(template.get("MessageRetentionPeriod", 345_600)),
        "receives": int(redrive["maxReceiveCount"]) if redrive else None,
    }


def actual_queue(now: Settings) -> Settings:
    """Return the current settings of a queue. SQS returns the redrive policy as JSON text."""
    redrive = json.loads(now.get("RedrivePolicy", "null"))
    return {
        "visibility timeout": int(now.get("VisibilityTimeout", 30)),
        "retention": int(now.get("MessageRetentionPeriod", 345_600)),
        "receives": int(redrive["maxReceiveCount"]) if redrive else None,
    }


def _compared(check: str, each: Deployed, expected: Any, actual: Any, page: str) -> Finding:
    if isinstance(each.now, Unseen):
        return unseen(check, each.now)
    if each.now is None:
        todo = f"Restore the resource. If it was empty, run `{PUT_BACK}` to create it again."
        where = page if each.kind == TABLE else PUT_BACK_PAGE
        return problem(check, f"{each.physical} does not exist", todo, where)
    before, now = expected(each.template), actual(each.now)
    changed = [
        f"{name} is {now[name]}, not {before[name]}" for name in before if before[name] != now[name]
    ]
    if changed:
        return problem(check, "; ".join(changed), _CHANGED, page)
    return ok(check, "matches the template")


def _keys(table: Settings) -> tuple[str, ...]:
    schema = {each["KeyType"]: each["AttributeName"] for each in table["KeySchema"]}
    return tuple(schema[kind] for kind in ("HASH", "RANGE") if kind in schema)


def _indexes(table: Settings) -> dict[str, tuple[Any, ...]]:
    both = (table.get("GlobalSecondaryIndexes"), table.get("LocalSecondaryIndexes"))
    return {
        each["IndexName"]: (*_keys(each), each["Projection"]["ProjectionType"])
        for indexes in both
        for each in indexes or ()
    }
