"""`make sources`, with a recommendation service that is slow, fails, thrashes, or is down.

The real stacks run on the embedded engine, with their own workers. The service is a server on
loopback. For each behaviour some readers are due at once, half of whom had an event. Then two days
pass on which the service works, and all of them are due again. No item may repeat, and readers who
went without items get them then. The exit status is 1 if an event is lost, an item is missing at
the end, something repeats, or a second or ten seconds have more requests than the limit and one for
each worker, which may be late with one.
"""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from gazette.domain.scheduling.calendar import slot_of

from demo.engine import ROOT, EngineError, deploy, running
from demo.replay import SETTLE_SECONDS
from demo.service import Service, ServiceError
from demo.ses import StandIn
from proofs.sources.audit import Found, look
from proofs.sources.behaviours import BEHAVIOURS, item_ids, well
from proofs.sources.service import Service as Recommendations
from proofs.sources.service import most_in, serving

_FOLDER = ROOT / "build" / "sources"
_RATE, _WORKERS = 2, 4
"""Fewer requests a second than the engine makes on two processors, so that the limit is reached."""

_PATIENCE = 180
"""Seconds, longer than the circuit breaker is first open."""

_LONG = 10.0
"""Seconds, so long that single late requests of workers hardly count."""

_WITHIN = 600
"""Seconds within which all digests of a behaviour must be sent."""


@dataclass(frozen=True, slots=True)
class Row:
    """The results of one behaviour."""

    behaviour: str
    requests: int
    most: int
    most_in_long: int
    found: Found

    @property
    def problems(self) -> list[str]:
        """Return the problems in words."""
        found = self.found
        wrong = {
            "events lost": found.lost,
            "things shown twice": found.twice,
            "things shown to another reader": found.foreign,
            "requests in a second beyond the limit": _beyond(self.most, 1),
            "requests in ten seconds beyond the limit": _beyond(self.most_in_long, _LONG),
        }
        return [f"{self.behaviour}: {number} {what}" for what, number in wrong.items() if number]


class Stage:
    """The deployed stage, its service, and the seconds by which its clock is ahead."""

    def __init__(self, service: Service, ses: StandIn, recommendations: Recommendations) -> None:
        self._service = service
        self._ses = ses
        self._recommendations = recommendations
        self._ahead = timedelta(0)
        self._slots: list[datetime] = []
        self._behaviours = 0

    def run(self, name: str, readers: int) -> tuple[Row, list[str], list[str]]:
        """Let `readers` be due while the service behaves so. Return their names, too."""
        slot = slot_of(datetime.now(UTC) + self._ahead + timedelta(minutes=20))
        kind = name.replace(" ", "")
        known = [f"{kind}{number}" for number in range(readers)]
        with_event = known[::2]
        now = datetime.now(UTC).isoformat()
        self._service.put("subscriber.changed", (_profile(each, slot, now) for each in known))
        self._service.wait_until_drained("ingest")
        self._service.put("event.created", (_event(each, now) for each in with_event))
        self._service.wait_until_drained("ingest")
        time.sleep(SETTLE_SECONDS)
        self._recommendations.behaviour = BEHAVIOURS[name]()
        row = self.strike(name, slot, known, with_event)
        self._behaviours += 1
        return row, known, with_event

    def strike(
        self,
        name: str,
        slot: datetime,
        known: list[str],
        with_event: list[str],
        *,
        leaves_the_rest: bool = True,
    ) -> Row:
        """Start a tick, and let the digests go out.

        With `leaves_the_rest`, items that were not fetched in time are not fetched for the next
        behaviour.
        """
        self._set_clock(slot + timedelta(seconds=1))
        self._recommendations.requests.clear()
        before = len(self._ses.accepted)
        self._service.tick(slot)
        self._service.wait_until_drained("shard", "generate", within=_WITHIN)
        if leaves_the_rest:
            self._leave_the_rest()
        self._service.wait_until_drained("content", within=_WITHIN)
        requests = list(self._recommendations.requests)
        emails = self._ses.accepted[before:]
        self._slots.append(slot)
        return Row(
            name,
            len(requests),
            most_in(requests, 1),
            most_in(requests, _LONG),
            look(known, with_event, emails),
        )

    def later(self, days: int, known: list[str]) -> Row:
        """Let all be due again after a number of days, while the service works."""
        self._recommendations.behaviour = well
        first, last = self._slots[0], self._slots[self._behaviours - 1]
        self._service.turn_back(first + timedelta(days=days) - timedelta(minutes=10))
        slot = last + timedelta(days=days)
        return self.strike(f"{days} day(s) later", slot, known, [], leaves_the_rest=False)

    def _set_clock(self, to: datetime) -> None:
        self._service.set_clock(to)
        self._ahead = to - datetime.now(UTC)

    def _leave_the_rest(self) -> None:
        """Drop the fetches of the last behaviour, and begin the next with a closed breaker."""
        queues, tables = self._service.queues, self._service.tables
        queues.purge_queue(QueueUrl=self._service.queue_url("content"))
        self._service.wait_until_drained("content", within=_WITHIN)
        table = self._service.settings("content")["GAZETTE_PACE_TABLE"]
        tables.delete_item(TableName=table, Key={"name": {"S": "recommendations"}})


def _beyond(most: int, seconds: float) -> int:
    """Return the number of requests without a permit, even if each worker was late with one."""
    return max(most - int(_RATE * seconds) - _WORKERS, 0)


def _profile(user_id: str, slot: datetime, at: str) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "email": f"{user_id}@example.com",
        "name": user_id,
        "time_zone": "UTC",
        "changed_at": at,
        "digest": {"hour": slot.hour, "minute": slot.minute},
    }


def _event(user_id: str, at: str) -> dict[str, Any]:
    return {
        "id": f"comment-{user_id}",
        "user_id": user_id,
        "category": "comment",
        "entity": {
            "type": "post",
            "id": user_id,
            "title": "A post",
            "url": f"https://example.com/posts/{user_id}xpost",
        },
        "actor": {"id": "bo", "name": "Bo"},
        "occurred_at": at,
    }


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="make sources", description=__doc__)
    parser.add_argument("--readers", type=int, default=20)
    parser.add_argument("--only", default="", help="behaviours, between commas")
    given = parser.parse_args()
    names = [each for each in given.only.split(",") if each] or list(BEHAVIOURS)
    if given.readers < 2 or not set(names) <= set(BEHAVIOURS):
        parser.error(f"--readers must be 2 or more, --only some of {', '.join(BEHAVIOURS)}.")
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    try:
        return sources(names, given.readers, folder=_FOLDER, progress=_say)
    except (EngineError, ServiceError) as err:
        sys.stderr.write(f"sources: {err}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("sources: stopped\n")
        return 130


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def sources(
    names: list[str],
    readers: int,
    *,
    folder: Path,
    progress: Callable[[str], None],
    days_after: Sequence[int] = (1, 2),
) -> int:
    """Run these behaviours, and then a number of days. Return the exit status."""
    began = time.monotonic()
    rows: list[Row] = []
    everybody: list[str] = []
    with (
        StandIn() as ses,
        serving() as recommendations,
        running(ses_url=ses.url, folder=folder) as engine,
    ):
        outputs = deploy(engine, folder, base_url=ses.url, **_settings(recommendations.url))
        ses.forward = partial(engine.request, outputs["PreferencesUrl"])
        progress(f"{time.monotonic() - began:6.1f} s  stage deployed")
        stage = Stage(Service.at(engine, outputs), ses, recommendations)
        for name in names:
            row, known, _ = stage.run(name, readers)
            everybody += known
            rows.append(row)
            progress(f"{time.monotonic() - began:6.1f} s  {name}")
        rows += [stage.later(days, everybody) for days in days_after]
        all_found = look(everybody, (), ses.accepted)
        got = _items_of(ses, everybody)
    missing = sum(len({*item_ids(each)} - got[each]) for each in everybody)
    problems = [each for row in rows for each in row.problems]
    if all_found.twice:
        problems.append(f"over all days: {all_found.twice} things shown twice")
    if missing:
        problems.append(f"over all days: {missing} items never shown")
    progress(_table(rows))
    for problem in problems:
        sys.stderr.write(f"sources: {problem}\n")
    most, in_ten = max(row.most for row in rows), max(row.most_in_long for row in rows)
    progress(
        f"sources: behaviours={len(names)} digests={all_found.digests} "
        f"lost={sum(row.found.lost for row in rows)} twice={all_found.twice} "
        f"items_missing={missing} most_in_1_s={most} most_in_10_s={in_ten} limit={_RATE} "
        f"seconds={time.monotonic() - began:.0f}"
    )
    return 1 if problems else 0


def _settings(url: str) -> Mapping[str, Any]:
    return {
        "content_sources": ["events", "recommendations"],
        "recommendations_url": url,
        "recommendations_per_second": _RATE,
        "concurrency": {"content": _WORKERS},
        "recommendations_ramp_from": 2,
        "recommendations_timeout": 1,
        "recommendations_patience": _PATIENCE,
    }


def _items_of(ses: StandIn, readers: list[str]) -> dict[str, set[str]]:
    text: dict[str, str] = dict.fromkeys(readers, "")
    for mail in ses.accepted:
        user_id = mail.to.partition("@")[0]
        text[user_id] = text.get(user_id, "") + mail.part("plain")
    return {each: {name for name in item_ids(each) if f"/{name}" in text[each]} for each in readers}


def _table(rows: list[Row]) -> str:
    head = ("behaviour", "requests", "most in 1 s", "in 10 s", "limit", "digests", "with items")
    lines: list[tuple[str, ...]] = [(*head, "without", "lost", "twice")]
    for row in rows:
        found = row.found
        asked = (row.requests, row.most, row.most_in_long, _RATE)
        got = (found.digests, found.with_items, found.without, found.lost, found.twice)
        lines.append((row.behaviour, *map(str, (*asked, *got))))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


if __name__ == "__main__":
    sys.exit(main())
