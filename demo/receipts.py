"""The receipt of each event of the week, compared with the emails that arrived.

The rows are scanned once, and the production code reads them from memory, because three calls for
each of 11,353 events would take minutes. The receipts of a few events are also read by the command
`gazette receipt`, with calls to the engine.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gazette.adapters.dynamodb.feedback.event_traces import found_in
from gazette.adapters.dynamodb.runs import run_of
from gazette.adapters.dynamodb.tables import EventRow, RunRow
from gazette.domain.model import Retracted
from gazette.domain.receipts.receipt import Receipt, State
from gazette.steps.support.receipt import ReceiptContext, receipt
from typer.testing import CliRunner

from demo import campus
from demo.audit import Counts, Seen, kind_of, read
from demo.client import as_client_of
from demo.engine import Engine
from demo.invented import Happened
from demo.ses import Accepted
from gazette_cli.main import app
from tests.builders import RETENTION, SettableClock
from tests.fake_stores import (
    FakeEngagements,
    FakeEvents,
    FakeFollows,
    FakeSchedules,
    FakeSubscribers,
)
from tests.indexed import IndexedEvents, IndexedRuns

_BY_COMMAND = 5
"""The number of receipts that are also read by the command."""

Item = Mapping[str, Any]


@dataclass(slots=True)
class Compared:
    """The result: the number of agreeing events, and a description of each disagreement."""

    agreeing: int = 0
    problems: list[str] = field(default_factory=list)


def receipts_of(
    events: Iterable[Happened], items: Mapping[str, Sequence[Item]], now: datetime
) -> list[tuple[Happened, Receipt]]:
    """Return the receipt of each event, from the scanned rows of the tables."""
    context = _context(items, now)
    return [
        (each, receipt(campus.user_id(each.message.target), _id_of(each), context=context))
        for each in events
    ]


def compare_with_emails(
    receipts: Iterable[tuple[Happened, Receipt]], accepted: Sequence[Accepted]
) -> Compared:
    """Compare the receipts with the lines of the emails.

    The events whose receipts name an email must be exactly those that the email counts, by entity
    and category, and in total.
    """
    result = Compared()
    named: dict[str, list[Happened]] = defaultdict(list)
    for event, told in receipts:
        if told.state is State.EMAILED and len(told.emails) == 1:
            named[told.emails[0].email].append(event)
            if told.emails[0].events is None:
                result.problems.append(f"receipt: {told.emails[0].email} has no number of events")
        else:
            result.problems.append(
                f"receipt: {told.id} of {told.user_id} is {told.state} in {len(told.emails)} emails"
            )
    arrived = {seen.run: seen for seen in map(read, accepted)}
    for run in named.keys() | arrived.keys():
        wrong = _difference(named.get(run, []), arrived.get(run))
        if wrong:
            result.problems.append(f"receipt: {run} {wrong}")
        else:
            result.agreeing += len(named[run])
    return result


def _difference(events: Sequence[Happened], seen: Seen | None) -> str:
    """Return the difference between the receipts and the lines of an email; empty if there is
    none.
    """
    if seen is None:
        return f"never arrived, but {len(events)} receipts name it"
    counts: Counts = Counter((each.thing.url, kind_of(each)) for each in events)
    shown = Counter({key: counts[key] for key in seen.counts})
    if shown != seen.counts or (counts - shown).total() != seen.more_events:
        return f"shows {dict(seen.counts - shown)} more than the receipts that name it"
    if seen.total != len(events):
        return f"counts {seen.total} events, and {len(events)} receipts name it"
    return ""


def compare_with_command(
    receipts: Sequence[tuple[Happened, Receipt]], engine: Engine
) -> Iterable[str]:
    """Yield the differences between a few receipts and the output of `gazette receipt`."""
    step = max(1, len(receipts) // _BY_COMMAND)
    for _, expected in receipts[::step][:_BY_COMMAND]:
        command = ["receipt", expected.id, "--user", expected.user_id, "--stage", "local", "--json"]
        with as_client_of(engine):  # in this process, which takes a tenth of the time
            done = CliRunner().invoke(app, command)
        told: dict[str, Any] = {"state": done.output}
        if done.stdout:
            (told,) = json.loads(done.stdout)["receipts"]
        emails = [each["email"] for each in told.get("emails", ())]
        if (told["state"], emails) != (expected.state, [each.email for each in expected.emails]):
            yield f"gazette {' '.join(command)} states {told['state']} in {emails}"


def _id_of(event: Happened) -> str:
    return campus.event_id(event.message)


def _context(items: Mapping[str, Sequence[Item]], now: datetime) -> ReceiptContext:
    clock = SettableClock(now)
    runs = IndexedRuns()
    for item in items["runs"]:
        runs.create(run_of(RunRow.from_raw_data(dict(item))))
    return ReceiptContext(
        events=_events(items["events"], clock),
        runs=runs,
        engagements=FakeEngagements(),
        schedules=FakeSchedules(),
        subscribers=FakeSubscribers(),
        follows=FakeFollows(),
        held_categories=tuple,
        withdrawals=tuple,
        clock=clock,
        retention=RETENTION,
        defaults=(),
        critical=(),
        sunset=None,
    )


def _events(items: Sequence[Item], clock: SettableClock) -> FakeEvents:
    events = IndexedEvents(clock)
    for item in items:
        row = EventRow.from_raw_data(dict(item))
        found = found_in(row)
        key = (row.user_id, row.event_id)
        events.rows[key], events.expires_at[key] = found.row, row.expires_at
        if isinstance(found.row, Retracted):
            events.traces[key] = found
    return events
