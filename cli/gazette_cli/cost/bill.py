"""The line items of the estimated bill."""

from collections.abc import Iterator
from dataclasses import dataclass

from gazette.domain.ports.queues import MESSAGES_A_CALL

from gazette_cli.cost import actions
from gazette_cli.cost.assumptions import (
    A_FETCH,
    A_POLL,
    A_REPORT,
    A_VCPU,
    ALARMS,
    AN_INDEX_ENTRY,
    AROUND_AN_INVOCATION,
    BY_SMTP,
    CALL,
    CALLS,
    CPU,
    EVENT_DAYS,
    FETCH_CALLS,
    LINE,
    MARK_DAYS,
    MEMORY,
    MONTH,
    POLLERS,
    QUEUES,
    ROWS,
    SECRET_CALLS,
    SECRETS,
    SHARDS,
    SLOWER,
    SWEEPS,
    TICKS,
)
from gazette_cli.cost.dashboards import dashboards
from gazette_cli.cost.item import Item
from gazette_cli.cost.metrics import metric_months
from gazette_cli.cost.prices import Prices
from gazette_cli.cost.routes import ROUTES, consumed
from gazette_cli.cost.usage import Usage, chunks
from gazette_cli.cost.visits import visits_and_mutes

_DAY = 86_400
_GB = 1e9


@dataclass(frozen=True, slots=True)
class Line:
    """A line item with its cost in dollars."""

    item: Item
    unit: str
    dollars: float


def bill(usage: Usage, prices: Prices) -> list[Line]:
    """Return the lines of the bill. The lines for SES are last."""
    lines = [
        Line(each, prices.of[each.price].unit, prices.of[each.price].of(each.quantity))
        for each in items(usage)
    ]
    if usage.by_ses:
        lines += _emails(usage, prices)
    return lines


def items(usage: Usage) -> Iterator[Item]:
    """Yield all items except SES emails, whose price depends on the plan."""
    yield from _bus(usage)
    yield from _queues(usage)
    yield from _functions(usage)
    yield from _units(usage)
    yield from _requests(usage)
    yield from _stored(usage)
    yield from _watched(usage)


def _emails(usage: Usage, prices: Prices) -> Iterator[Line]:
    plan = prices.plans[usage.plan]
    month = usage.days / MONTH
    name = f"emails, plan {usage.plan}"
    dollars = plan.of(usage.emails / month) * month
    yield Line(Item("SES", name, "ses", usage.emails), "email", dollars)
    if plan.month:
        yield Line(Item("SES", "plan fee", "ses", month, fixed=True), "month", plan.month * month)


def _bus(usage: Usage) -> Iterator[Item]:
    yield Item("EventBridge", "events", "eventbridge.events", usage.entries * chunks(usage.entry))
    yield Item("EventBridge", "reader activity", "eventbridge.events", _signs(usage))
    if number := usage.signals - _signs(usage):
        yield Item("EventBridge", "visits and mutes", "eventbridge.events", number)
    if usage.published:
        yield Item("EventBridge", "events out", "eventbridge.events", usage.published)
    fired = (TICKS + SWEEPS) * usage.days
    yield Item("EventBridge", "ticks and sweeps", "eventbridge.schedules", fired, fixed=True)


def _queues(usage: Usage) -> Iterator[Item]:
    ten = usage.together
    sent = usage.entries * chunks(usage.entry)
    received = usage.entries / ten * (chunks(ten * usage.entry) + 1)
    yield Item("SQS", "ingest", "sqs.requests", sent + received + usage.signals * (1 + 2 / ten))
    runs = usage.sent_digests / 10 + usage.at_once + 2 * usage.sending
    yield Item("SQS", "generate", "sqs.requests", runs)
    yield Item("SQS", "generate, requeued", "sqs.requests", 3 * usage.requeued)
    a_receive = min(MESSAGES_A_CALL, usage.reports_together)
    reports = usage.reports * (1 + (chunks(a_receive * A_REPORT) + 1) / a_receive)
    yield Item("SQS", "feedback", "sqs.requests", reports)
    if usage.quiet_waits:
        yield Item("SQS", "generate, quiet hours", "sqs.requests", 3 * usage.quiet_waits)
    if usage.fetches:
        yield Item("SQS", "content", "sqs.requests", 0.3 * usage.fetches)
    polls = QUEUES * POLLERS * _DAY / A_POLL * usage.days
    clock = (TICKS + SWEEPS) * usage.days * (2 + SHARDS * 2)
    yield Item("SQS", "polling", "sqs.requests", polls + clock, fixed=True)


def _functions(usage: Usage) -> Iterator[Item]:
    ten = usage.together
    alone = usage.listed == 1
    event = "event alone" if alone else "event in a list"
    clock = (1 + SHARDS) * TICKS * usage.days
    sweeps = (1 + SHARDS) * SWEEPS * usage.days
    messages = usage.entries + usage.signals
    invoked = (messages + usage.fetches) / ten + usage.reports / usage.reports_together
    invoked += usage.sending + usage.requeued
    invoked += usage.quiet_waits / usage.immediate_sent.together
    yield Item("Lambda", "requests", "lambda.requests", invoked)
    yield Item(
        "Lambda", "requests of ticks and sweeps", "lambda.requests", clock + sweeps, fixed=True
    )
    for function, what, number in (
        ("ingest", event, usage.all_events),
        ("ingest", "event alone", _signs(usage)),
        ("ingest", "visit", usage.per_month(usage.visits)),
        ("ingest", "mute", usage.per_month(usage.mutes)),
        ("ingest", "limited event", usage.at_once * usage.limited),
        ("generate", "wait for quiet hours", usage.quiet_waits),
        ("fanout", "due schedule", usage.sent_digests),
        ("feedback", "delivery event", usage.reports),
    ):
        if number:
            used = _gb_seconds(function, what) * number
            yield Item("Lambda", f"{function}, {what}", "lambda.gb_seconds", used)
    if usage.fetches:
        seconds = A_FETCH + CALL / 1000 * FETCH_CALLS
        used = (
            _gb_seconds("content", "fetch") + seconds * MEMORY["content"] / 1024
        ) * usage.fetches
        yield Item("Lambda", "content, fetch", "lambda.gb_seconds", used)
    if usage.changes:
        used = _gb_seconds("outbox", "change") * usage.changes
        invoked = usage.changes / usage.together
        yield Item("Lambda", "requests of events out", "lambda.requests", invoked)
        yield Item("Lambda", "outbox, change", "lambda.gb_seconds", used)
        yield Item("DynamoDB", "streams, read by Lambda", "dynamodb.streams", usage.changes)
    if usage.emails:
        yield Item("Lambda", "generate, emails", "lambda.gb_seconds", _sending(usage))
    used = _gb_seconds("fanout", "tick of a shard") * clock
    used += _gb_seconds("sweep", "sweep of a partition") * sweeps
    yield Item("Lambda", "ticks and sweeps", "lambda.gb_seconds", used, fixed=True)


def _gb_seconds(function: str, what: str) -> float:
    """Return the GB-seconds per message, including the waiting time for AWS calls."""
    duration = CPU.get(what, 0) * SLOWER * A_VCPU / MEMORY[function] + CALL * CALLS.get(what, 0)
    return duration / 1000 * MEMORY[function] / 1024


def _sending(usage: Usage) -> float:
    """Return the GB-seconds that generate uses to send email. With SMTP, the duration of the SMTP
    exchange determines the result.
    """
    seconds = (
        usage.digests_sent.seconds * usage.sent_digests
        + usage.immediate_sent.seconds * usage.at_once
    )
    if not usage.by_ses:
        seconds = BY_SMTP * usage.sending
    return seconds * usage.generate_memory / 1024


def _units(usage: Usage) -> Iterator[Item]:
    hold = usage.categories if usage.category_hold else 0
    digest = actions.digest(
        usage.in_a_digest,
        usage.row,
        together=usage.digests_sent.together,
        share_reads=usage.digests_sent.share_reads,
    )
    at_once = actions.immediate_email(usage.row, together=usage.immediate_sent.together)
    sharing = max(1.0, usage.reports_together / (1 + usage.report_deliveries))
    delivered = usage.reports - usage.emails if usage.reports else 0
    for what, units, number in (
        ("events", actions.event(usage.row), usage.all_events - usage.at_once),
        ("events for immediate email", actions.immediate_event(usage.row), usage.at_once),
        ("limit of immediate email", actions.limited_event(), usage.at_once * usage.limited),
        ("fan-out", actions.due_schedule(quiet=usage.quiet), usage.sent_digests),
        ("digests", digest, usage.sent_digests),
        ("immediate emails", at_once, usage.at_once),
        ("waits for quiet hours", actions.quiet_wait(usage.row), usage.quiet_waits),
        (
            "sent events",
            actions.report(of_sending=True, categories=hold, sharing=sharing),
            usage.reports - delivered,
        ),
        ("other delivery events", actions.report(of_sending=False, categories=0), delivered),
        ("reader activity", actions.sign_of_life(), _signs(usage)),
        ("fetches, items", actions.fetch(usage.items, usage.row), usage.fetches),
        *visits_and_mutes(usage),
    ):
        if number:
            for price, each in (("writes", units.written), ("reads", units.read)):
                if each:
                    yield Item("DynamoDB", f"{price}: {what}", f"dynamodb.{price}", each * number)
    written = (actions.WRITES["a tick"] + SHARDS) * TICKS * usage.days
    yield Item("DynamoDB", "writes: ticks and sweeps", "dynamodb.writes", written, fixed=True)
    reads = TICKS * (3 + SHARDS * actions.SLOTS / 2) + SWEEPS * (1 + actions.PARTITIONS * 3 / 2)
    yield Item(
        "DynamoDB", "reads: ticks and sweeps", "dynamodb.reads", reads * usage.days, fixed=True
    )


_SERVICES = {
    "apigateway": "API Gateway",
    "lambda": "Lambda",
    "dynamodb": "DynamoDB",
    "eventbridge": "EventBridge",
    "sqs": "SQS",
    "cloudwatch": "CloudWatch",
}


def _requests(usage: Usage) -> Iterator[Item]:
    """Yield the items of the requests of services, by route."""
    for operation, each in usage.requests:
        number = usage.per_month(each)
        memory = MEMORY[ROUTES[operation].function]
        for part in consumed(operation, number, memory=memory):
            service, _, what = part.price.partition(".")
            name = f"{operation}: {what.replace('_', '-')}"
            yield Item(_SERVICES[service], name, part.price, part.quantity)


def _stored(usage: Usage) -> Iterator[Item]:
    """Yield the storage items of the bill. Subscribers are stored for the whole period of the bill,
    and other rows until they expire.
    """
    event = usage.row + AN_INDEX_ENTRY
    retention = usage.run_retention_days
    stored = {name: size + AN_INDEX_ENTRY for name, size in ROWS.items()}
    run, engagement, mark = stored["runs"], stored["engagement"], stored["mark"]
    reader = stored["subscribers"] + stored["schedules"]
    reported = usage.emails if usage.by_ses else 0
    items_stored = usage.fetches * usage.items
    for table, size, backed_up, number, days in (
        ("events", 2 * event, 2 * event, usage.all_events + items_stored, EVENT_DAYS),
        ("runs", run + stored["batch"], run, usage.emails, retention),
        ("engagement", engagement, engagement, reported, retention),
        ("visits", mark, mark, usage.per_month(usage.visits), MARK_DAYS),
        ("subscribers, schedules", reader + stored["due"], reader, usage.readers, usage.days),
    ):
        months = number * days / MONTH / _GB
        if months:
            yield Item("DynamoDB", f"storage: {table}", "dynamodb.storage", size * months)
        if months and (table in usage.restorable or table.startswith("subscribers")):
            what = f"recovery: {table}"
            yield Item("DynamoDB", what, "dynamodb.recovery", backed_up * months)


def _watched(usage: Usage) -> Iterator[Item]:
    months = usage.days / MONTH
    logged = 0.0
    for function, messages, together in (
        ("ingest", usage.entries + usage.signals, usage.together),
        ("feedback", usage.reports, usage.reports_together),
    ):
        logged += messages * (LINE[function] + AROUND_AN_INVOCATION[function] / together)
    logged += (usage.emails + usage.requeued + usage.quiet_waits) * LINE["generate"]
    invoked = usage.sending + usage.requeued + usage.quiet_waits / usage.immediate_sent.together
    logged += invoked * AROUND_AN_INVOCATION["generate"]
    yield Item("CloudWatch", "logs", "cloudwatch.logs", logged / _GB)
    clock = TICKS * (1 + SHARDS) * (LINE["fanout"] + AROUND_AN_INVOCATION["fanout"])
    clock += SWEEPS * (1 + SHARDS) * AROUND_AN_INVOCATION["sweep"]
    clock_logs = clock * usage.days / _GB
    yield Item("CloudWatch", "logs of ticks and sweeps", "cloudwatch.logs", clock_logs, fixed=True)
    for cause, number in metric_months(usage):
        if number:
            what = f"metrics: {cause}"
            yield Item("CloudWatch", what, "cloudwatch.metrics", number, fixed=True)
    yield Item("CloudWatch", "alarms", "cloudwatch.alarms", ALARMS * months, fixed=True)
    yield from dashboards(usage)
    secrets = SECRETS * months
    yield Item("Secrets Manager", "secrets", "secretsmanager.secrets", secrets, fixed=True)
    calls = SECRET_CALLS * months
    yield Item("Secrets Manager", "calls", "secretsmanager.calls", calls, fixed=True)
    yield Item("Data transfer", "within the region", "transfer", 0)


def _signs(usage: Usage) -> float:
    return usage.per_month(usage.signs)
