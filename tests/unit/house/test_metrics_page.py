"""docs/metrics.md lists what the code can count and measure, and nothing else."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import gazette
from gazette.domain.delivery.redrive import RedriveResult
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.feedback.delivery_events import DeliveryEventType
from gazette.domain.outcome import Outcome
from gazette.domain.subscribers.consent import Refusal
from gazette.domain.subscribers.overview import Notice
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.content.fetch import FetchOutcome
from gazette.steps.delivery.types import EventCounts
from gazette.steps.subscribers.return_reader import Returned
from gazette.steps.sweep.unknown import Swept

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "metrics.md"
WRITES = {"count", "measure_seconds", "measure_milliseconds"}

NOT_OF_SKIPPED_RUNS = {
    Reason.DUE,
    Reason.QUIET_HOURS,
    Reason.CLAIMED,
    Reason.ACCEPTED,
    Reason.EVIDENCE,
    Reason.ASSUMED,
    Reason.REFUSED_FOR_NOW,
    Reason.REFUSED_FOR_GOOD,
    Reason.REFUSED_ACCOUNT,
    Reason.ATTEMPTS_EXHAUSTED,
    Reason.NOT_ATTEMPTED,
    Reason.UNCERTAIN,
    Reason.DEADLINE_PASSED,
    Reason.POLICY_RESEND,
    Reason.CARRIED,
    Reason.CARRIED_INTO,
    Reason.GIVEN_UP,
    Reason.SUPERSEDED,
    Reason.NOTHING_WAITED,
    Reason.BATCH_CANCELLED,
    Reason.PREFERENCES_CHANGED,
}
FAMILIES: dict[str, set[str]] = {
    "consent_": {*Refusal, Returned().outcome, Returned(has_changed=True).outcome},
    "events_": {each.name for each in fields(EventCounts)},
    "fetch_": {*FetchOutcome},
    "ingest_": {*Outcome},
    "mail_": {*DeliveryEventType},
    "preferences_": {*Notice},
    "redriven_": {*RedriveResult},
    "run_": {status for status in Status if status.is_final},
    "skipped_": {*Reason} - NOT_OF_SKIPPED_RUNS,
    "suppressed_": {Cause.BOUNCED, Cause.COMPLAINED},
    "swept_": {*Swept},
}
"""Names that are put together, by how they begin, and what may follow."""


def documented() -> set[str]:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def written() -> Iterator[str]:
    """The names that calls in the code give, those put together as `begin_{}`."""
    shared = Path(gazette.__file__).parent
    for path in [*shared.rglob("*.py"), *(ROOT / "functions").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in WRITES:
                yield from names(node.args[0])


def names(given: ast.expr) -> Iterator[str]:
    match given:
        case ast.Constant(value=str(name)):
            yield name
        case ast.JoinedStr(values=[ast.Constant(value=str(begin)), ast.FormattedValue()]):
            yield f"{begin}{{}}"
        case ast.IfExp(body=one, orelse=other):
            yield from names(one)
            yield from names(other)
        case _:
            raise AssertionError(f"a metric named by {ast.unparse(given)}: nobody knows how many")


def test_metrics_page_lists_exactly_the_available_metrics() -> None:
    found = set(written())
    begins = {name.removesuffix("{}") for name in found if name.endswith("{}")}
    assert begins == FAMILIES.keys(), "say in FAMILIES what may follow"
    plain = {name for name in found if not name.endswith("{}")}
    put_together = {begin + end for begin in begins for end in FAMILIES[begin]}
    assert documented() == plain | put_together
