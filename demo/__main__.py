"""`python -m demo`: deploy, replay a real week, count, and say what became of every event."""

import argparse
import json
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import partial
from math import ceil

from rich.console import Console
from rich.table import Table

from cli.simulate.exact import written
from demo import campus, invented, results
from demo.audit import audit
from demo.engine import ROOT, WRITE_UNITS, Engine, EngineError, deploy, running
from demo.forecast import Compared, compare, forecast, measured, put_times, week_of
from demo.inbox import LARGEST_HTML, Repeated, look, row
from demo.replay import last_slot, let_pass, register, replay, time_to_begin, time_to_go
from demo.service import Service, ServiceError
from demo.ses import StandIn
from demo.stored import stored

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
    events = [*invented.thread(), *invented.happened(messages)]
    with StandIn() as ses, running(ses_url=ses.url, folder=_FOLDER, port=port) as engine:
        progress(f"engine at {engine.url}")
        outputs = deploy(engine, _FOLDER, base_url=ses.url, max_lateness=_LATE)
        ses.forward = partial(engine.request, outputs["PreferencesUrl"])
        service = Service.at(engine, outputs)
        progress("stage `local` deployed by the CDK command line")
        now = datetime.now(UTC)
        if (wait := (time_to_begin(now) - now).total_seconds()) > 0:
            progress(f"a digest is due right now: the week begins in {wait:.0f} s")
            time.sleep(wait)
        registered = register(service, messages)
        progress(f"{campus.STUDENTS} students registered, and what they follow")
        registered_at = time.monotonic()

        def show_the_first() -> None:
            left = ceil(time_to_go(time.monotonic() - registered_at, messages) / 60)
            progress(f"the first email is there: {ses.url}/ is the inbox; {left} minutes to go")

        ses.on_first = show_the_first
        put_at = put_times(
            events[-1].message.day + 1, began=datetime.now(UTC), registered=registered
        )
        put = replay(
            service,
            events,
            registered=registered,
            wait=time.sleep,
            progress=lambda text: progress(f"{text}; {len(ses.accepted)} emails so far"),
        )
        findings = audit(events, ses.accepted)
        arrived = [row(mail) for mail in ses.accepted]
        repeated = look(arrived)
        sizes = sorted(each.html_bytes for each in arrived) or [0]
        found = stored(engine)
        rows = found.rows
        seen = measured(
            found.due, (mail.tags["run"] for mail in ses.accepted), _FOLDER / WRITE_UNITS
        )
        week = week_of(
            events,
            put_at=put_at,
            registered=registered,
            follows=rows["follows"],
            activities=rows["activities"],
            at_once=sum(not each.is_digest for each in arrived),
        )
        (_FOLDER / "week.json").write_text(written(week))
        (_FOLDER / "measured.json").write_text(json.dumps(asdict(seen), indent=1) + "\n")
        compared = compare(forecast(week), seen)
        report = {
            "subscribers": rows["subscribers"],
            "follows": rows["follows"],
            "events_put": put,
            "activities": rows["activities"],
            "events_stored": rows["events"],
            "runs_sent": rows["sent"],
            "emails_accepted": len(ses.accepted),
            "digests": sum(each.is_digest for each in arrived),
            "immediate_emails": sum(not each.is_digest for each in arrived),
            "events_in_emails": findings.events_in_emails,
            "duplicate_emails": findings.duplicate_emails,
            "repeated_events": findings.repeated_events,
            "lost_events": findings.lost_events,
            "repeated_subjects": repeated.subjects,
            "repeated_preheaders": repeated.preheaders,
            "things_twice": repeated.things,
            "html_bytes_median": sizes[len(sizes) // 2],
            "html_bytes_largest": sizes[-1],
            "quarantined": service.messages_in("quarantine"),
            "write_units": compared.measured_units,
            "write_units_forecast": compared.forecast_units,
            "slots": compared.slots,
            "slots_forecast_otherwise": len(compared.other_slots),
            "wall_s": round(time.monotonic() - began, 1),
        }
        results.write(_FOLDER, ses.accepted, arrived, found.due, report)
        _show(console, report, findings.problems)
        _say(console, report, repeated)
        _say_forecast(console, compared)
        if keep:
            _keep(console, engine, ses, service, last_slot(messages[-1].day, registered))
    is_right = findings.clean and put == len(events) and repeated == Repeated()
    is_right = is_right and compared.agrees
    return 0 if is_right else 1


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


def _say(console: Console, report: Mapping[str, float], repeated: Repeated) -> None:
    """What the inbox shows, in the last lines."""
    for number, what in (
        (repeated.subjects, "digests with the subject of the one before, and something else in it"),
        (repeated.preheaders, "preheaders that begin with their subject"),
        (repeated.things, "things in two blocks of an email"),
        (repeated.too_large, f"emails of {LARGEST_HTML / 1000:.0f} KB of HTML or more"),
    ):
        console.print(f"{number} {what}", style="bold red" if number else "green")
    median, largest = report["html_bytes_median"], report["html_bytes_largest"]
    console.print(f"HTML of an email: {median:,} bytes (median), {largest:,} bytes (largest)")
    index = (_FOLDER / "index.html").relative_to(ROOT)
    console.print(f"every email: {index}   figures: {index.with_name('report.json')}")


def _say_forecast(console: Console, compared: Compared) -> None:
    """How near `gazette simulate` comes to what was measured."""
    console.print(
        f"forecast: {compared.slots - len(compared.other_slots)} of {compared.slots} slots with as "
        f"many digests as were measured; write units {compared.forecast_units:,} where "
        f"{compared.measured_units:,} were counted ({compared.apart:+.1%})",
        style="green" if compared.agrees else "bold red",
    )


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
