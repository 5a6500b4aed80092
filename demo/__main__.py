"""`python -m demo`: deploy, replay a real week, count, and say what became of every event."""

import argparse
import signal
import sys
import time
from collections import Counter
from datetime import datetime, timedelta
from functools import partial
from math import ceil

import boto3
from rich.console import Console
from rich.table import Table

from demo import campus, results
from demo.audit import audit
from demo.engine import ROOT, Engine, EngineError, deploy, running
from demo.inbox import Rows, look
from demo.replay import last_slot, let_pass, register, replay, time_to_go
from demo.service import Service, ServiceError
from demo.ses import StandIn

_FOLDER = ROOT / "build" / "demo"
_PROBLEMS_SHOWN = 10
_LATE = 2 * 24 * 60 * 60
"""Seconds: the clock strikes once a day here, and what was due since then is not too late."""


def main() -> int:
    """Run the demo. Exit status 0 only if nothing was lost, sent twice or said twice."""
    arguments = _arguments()
    console = Console(highlight=False)
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    try:
        return _demo(console, port=arguments.port, keep=arguments.keep)
    except (EngineError, ServiceError) as err:
        console.print(f"demo: {err}", style="bold red", soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print("demo: stopped")
        return 130


def _demo(console: Console, *, port: int, keep: bool) -> int:
    began = time.monotonic()

    def progress(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - began:6.1f} s[/dim]  {text}", soft_wrap=True)

    messages = campus.messages()
    with StandIn() as ses, running(ses_url=ses.url, folder=_FOLDER, port=port) as engine:
        progress(f"engine at {engine.url}")
        outputs = deploy(engine, _FOLDER, base_url=ses.url, max_lateness=_LATE)
        ses.forward = partial(engine.request, outputs["PreferencesUrl"])
        service = Service.at(engine, outputs)
        progress("stage `local` deployed by the CDK command line")
        registered = register(service, messages)
        progress(f"{campus.STUDENTS} students registered, and what they follow")
        registered_at = time.monotonic()

        def show_the_first() -> None:
            left = ceil(time_to_go(time.monotonic() - registered_at, messages) / 60)
            progress(f"the first email is there: {ses.url}/ is the inbox; {left} minutes to go")

        ses.on_first = show_the_first
        put = replay(
            service,
            messages,
            registered=registered,
            wait=time.sleep,
            progress=lambda text: progress(f"{text}; {len(ses.accepted)} emails so far"),
        )
        findings = audit(messages, ses.accepted)
        seen = look(ses.accepted)
        rows = _rows(engine)
        report = {
            "subscribers": rows["subscribers"],
            "follows": rows["follows"],
            "events_put": put,
            "activities": rows["activities"],
            "events_stored": rows["events"],
            "runs_sent": rows["sent"],
            "emails_accepted": len(ses.accepted),
            "events_in_emails": findings.events_in_emails,
            "duplicate_emails": findings.duplicate_emails,
            "repeated_events": findings.repeated_events,
            "lost_events": findings.lost_events,
            "repeated_subjects": seen.repeated_subjects,
            "repeated_preheaders": seen.repeated_preheaders,
            "things_twice": seen.things_twice,
            "quarantined": service.messages_in("quarantine"),
            "wall_s": round(time.monotonic() - began, 1),
        }
        results.write(_FOLDER, ses.accepted, report)
        _show(console, report, findings.problems)
        if keep:
            _keep(console, engine, ses, service, last_slot(messages[-1].day, registered))
    is_right = findings.clean and put == len(messages) and seen == Rows(0, 0, 0)
    return 0 if is_right else 1


def _rows(engine: Engine) -> Counter[str]:
    """Counted in the tables: the system's own view, to hold against the emails."""
    client = boto3.client(
        "dynamodb",
        endpoint_url=engine.url,
        region_name=engine.environment["AWS_REGION"],
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106 -- the engine's fixed account
    )
    counted: Counter[str] = Counter()
    for table in client.list_tables()["TableNames"]:
        kind = table.split("-")[1].rstrip("0123456789ABCDEF").lower()
        for page in client.get_paginator("scan").paginate(TableName=table):
            counted[kind] += page["Count"]
            if kind == "runs":
                counted.update(item["status"]["S"] for item in page["Items"])
    return counted


def _show(console: Console, report: dict[str, float], problems: list[str]) -> None:
    table = Table(title="One real week, counted from the emails that arrived")
    table.add_column("figure")
    table.add_column("value", justify="right")
    for name, value in report.items():
        table.add_row(name, f"{value}")
    console.print(table)
    if not problems:
        console.print("Every event is in exactly one email.", style="bold green")
    for problem in problems[:_PROBLEMS_SHOWN]:
        console.print(f"problem: {problem}", style="bold red")
    if len(problems) > _PROBLEMS_SHOWN:
        console.print(f"and {len(problems) - _PROBLEMS_SHOWN} more problems", style="bold red")
    index = (_FOLDER / "index.html").relative_to(ROOT)
    console.print(f"every email: {index}   figures: {index.with_name('report.json')}")


def _keep(console: Console, engine: Engine, ses: StandIn, service: Service, slot: datetime) -> None:
    """Leave everything running. The clock struck at `slot`; each line on stdin is a day later."""
    console.print(f"inbox: {ses.url}/    The engine, for your own shell:")
    for name, value in engine.environment.items():
        console.print(f"  export {name}={value}", soft_wrap=True)
    console.print(
        f"It is {slot:%d %B %H:%M} UTC here. "
        "The clock strikes when you press Enter: 24 hours later. Ctrl-C ends all."
    )
    for _ in sys.stdin:
        slot += timedelta(days=1)
        service.wait_until_drained("ingest", "followers")
        let_pass(service, slot)
        console.print(f"it is {slot:%d %B %H:%M} UTC; {len(ses.accepted)} emails so far")
    signal.pause()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port of the engine (default: free)")
    parser.add_argument("--keep", action="store_true", help="leave everything running at the end")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
