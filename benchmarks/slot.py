"""The command `make slot`, which sends digests to 5,000 readers in one slot. Each reader must get
one run and one email.

With a rate, email is paced, so that the rate is the limit and not the processor. The emails of
each full minute must then agree with the simulation within a tenth.

As in the demo, the real stacks run on the embedded engine with the stand-in for SES, and readers
and events are published to the bus. Then one tick starts the slot. The memory of fan-out is the
peak (VmHWM) of its worker process, minus the peak of an idle worker.
"""

import argparse
import signal
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from gazette.domain.scheduling.calendar import slot_of

from benchmarks.paced import differences, forecast
from benchmarks.readers import Progress, fill
from benchmarks.reckoning import reckon
from benchmarks.stored import (
    batch_problems,
    due_by_invocation,
    look,
    queue_problems,
)
from benchmarks.workers import NoMemory, Workers
from demo.client import as_client_of
from demo.engine import ROOT, EngineError, deploy, running
from demo.service import Service, ServiceError
from demo.ses import StandIn

_FOLDER = ROOT / "build" / "slot"
_AHEAD = timedelta(hours=2)
"""The time until the slot.

A tick contains its own time, so the benchmark does not wait for the slot.
"""

_WITHIN = 1800
"""The time limit for sending all emails, in seconds."""


def main() -> int:
    """Run the benchmark. Return 0 only if every reader has exactly one sent run and one email."""
    parser = argparse.ArgumentParser(prog="make slot", description=__doc__)
    parser.add_argument("--readers", type=int, default=5000)
    parser.add_argument("--rate", type=int, default=0, help="emails per second; 0 for no limit")
    given = parser.parse_args()
    readers, rate = given.readers, given.rate
    if readers < 1:
        parser.error("readers must be 1 or more.")
    if rate and rate not in range(4, 51):
        parser.error("rate must be from 4 to 50.")
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    try:
        return _slot(readers, rate)
    except (EngineError, ServiceError, NoMemory) as err:
        print(f"slot: {err}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("slot: stopped", file=sys.stderr)
        return 130


def _slot(readers: int, rate: int) -> int:
    began = time.monotonic()

    def progress(text: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {text}", flush=True)

    with StandIn() as ses, running(ses_url=ses.url, folder=_FOLDER) as engine:
        progress(f"engine at {engine.url}")
        paced: dict[str, Any] = {"emails_per_second": rate, "concurrency": {}} if rate else {}
        outputs = deploy(engine, _FOLDER, base_url=ses.url, **paced)
        ses.forward = partial(engine.request, outputs["PreferencesUrl"])
        service = Service.at(engine, outputs)
        workers = Workers(engine.process_id, "gazette-local-fanout")
        progress("stage `local` deployed by the CDK command line")
        idle_mb = _idle(service, workers)
        progress(f"an idle worker of fanout: {idle_mb:.1f} MB")
        slot = slot_of(datetime.now(UTC) + _AHEAD)
        links = fill(service, readers, slot, progress)
        minutes: Counter[int] = Counter()
        fanned_out, sent = _tick(service, slot, workers, ses, progress, minutes)
        with as_client_of(engine):
            stored, view = look(service, slot)
            progress(f"due by invocation of fanout: {[due for due in due_by_invocation() if due]}")
        found = reckon(links, stored, ses.accepted)
        problems = [*found.problems, *batch_problems(view, readers), *queue_problems(service)]
        if rate:
            problems += differences(minutes, forecast(readers, rate), progress)
        peak_mb = workers.peak_mb
    for problem in problems:
        print(f"slot: {problem}", file=sys.stderr)
    print(
        f"slot: readers={readers} runs={found.runs} sent={found.sent} emails={found.emails} "
        f"duplicates={found.duplicates} lost={found.lost} fanout_seconds={fanned_out:.1f} "
        f"seconds={sent:.1f} digests_per_second={found.emails / max(sent, 0.1):.1f} "
        f"fanout_peak_mb={peak_mb:.1f} fanout_idle_mb={idle_mb:.1f}"
    )
    return 1 if problems else 0


def _idle(service: Service, workers: Workers) -> float:
    """Run a tick without readers, which starts the functions.

    Return the memory of fan-out in MB.
    """
    service.tick(datetime.now(UTC))
    service.wait_until_drained("shard")
    workers.look()
    return workers.peak_mb


def _tick(
    service: Service,
    slot: datetime,
    workers: Workers,
    ses: StandIn,
    progress: Progress,
    minutes: Counter[int],
) -> tuple[float, float]:
    """Run one tick, and wait until every queue is empty.

    Return the seconds until fan-out ended, and until SES received the last email. `minutes` gets
    the number of emails in each minute since the first one.
    """
    began, first = time.monotonic(), 0.0
    service.tick(slot)
    fanned_out = sent = shown = 0.0
    emails = 0
    while True:
        shards, runs = service.messages_in("shard"), service.messages_in("generate")
        workers.look()
        passed = time.monotonic() - began
        if len(ses.accepted) > emails:
            first = first or passed
            minutes[int((passed - first) // 60)] += len(ses.accepted) - emails
            emails, sent = len(ses.accepted), passed
        if not shards and not fanned_out:
            fanned_out = passed
            progress(f"fanned out; {len(ses.accepted)} emails so far, {runs} messages to go")
        if fanned_out and not runs:
            service.wait_until_drained("shard", "generate")
            if len(ses.accepted) > emails:
                sent = time.monotonic() - began
            progress(f"{len(ses.accepted)} emails")
            return fanned_out, sent
        if passed > _WITHIN:
            raise ServiceError(f"Not done after {_WITHIN} s: {shards} shards and {runs} runs wait.")
        if passed > shown + 10:
            shown = passed
            progress(f"{len(ses.accepted)} emails so far, {runs} messages to go")
        time.sleep(0.3)


if __name__ == "__main__":
    sys.exit(main())
