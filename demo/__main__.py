"""The command `python -m demo`, which deploys a stage, replays a real day or week, and counts
events and emails.
"""

import argparse
import json
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from math import ceil

from rich.console import Console
from rich.table import Table

from demo import campus, invented, results
from demo.audit import audit
from demo.engine import ROOT, WRITE_UNITS, EngineError, deploy, running
from demo.forecast import Compared, compare, forecast, measured, put_times, week_of
from demo.inbox import (
    LARGEST_HTML,
    LARGEST_SHARE_OF_URLS,
    MOST_FOOTER_LINKS,
    Repeated,
    links_of,
    look,
    row,
    share_of_urls,
)
from demo.kept import commands, kept, next_day
from demo.receipts import compare_with_command, compare_with_emails, receipts_of
from demo.replay import last_slot, register, replay, time_to_begin, time_to_go
from demo.service import Service, ServiceError
from demo.ses import StandIn
from demo.stored import stored
from gazette_cli.simulate.exact import written

_FOLDER = ROOT / "build" / "demo"
_PROBLEMS_SHOWN = 10
_LATE = 2 * 24 * 60 * 60
"""The allowed delay of a digest in seconds.

The demo's clock ticks once a day, so a delay of a day is acceptable.
"""


def main() -> int:
    """Run the demo. Return 0 only if no event was lost, sent twice or shown twice."""
    arguments = _arguments()
    console = Console(highlight=False)
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    try:
        return _demo(console, port=arguments.port, keep=arguments.keep, days=arguments.days)
    except (EngineError, ServiceError) as err:
        console.print(f"demo: {err}", style="bold red", soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print("demo: stopped")
        return 130


def _demo(console: Console, *, port: int, keep: bool, days: int) -> int:
    began = time.monotonic()

    def progress(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - began:6.1f} s[/dim]  {text}", soft_wrap=True)

    students = campus.registered(days)
    messages = [each for each in campus.messages() if each.day < days]
    thread = [each for each in invented.thread() if each.message.day < days]
    events = [*thread, *invented.happened(messages)]
    with StandIn() as ses, running(ses_url=ses.url, folder=_FOLDER, port=port) as engine:
        progress(f"engine at {engine.url}")
        outputs = deploy(engine, _FOLDER, base_url=ses.url, max_lateness=_LATE, progress=progress)
        ses.forward = partial(engine.request, outputs["PreferencesUrl"])
        service = Service.at(engine, outputs)
        now = datetime.now(UTC)
        if (begin := time_to_begin(now)) > now:
            service.set_clock(begin)
            progress(
                f"a digest is due now, so the clock of the functions shows {begin:%H:%M:%S} UTC"
            )
        registered = register(service, students, messages)
        progress(f"{len(students):,} students and their follows are registered")
        registered_at = time.monotonic()

        def show_the_first() -> None:
            left = ceil(time_to_go(time.monotonic() - registered_at, messages) / 60)
            remain = f" ({left} minutes remain)" if days > 1 else ""
            progress(f"the first email arrived. Inbox: {ses.url}/{remain}")

        ses.on_first = show_the_first
        publish_times = put_times(
            events[-1].message.day + 1, began=service.clock(), registered=registered
        )
        published = replay(
            service,
            events,
            registered=registered,
            progress=lambda text: progress(f"{text}; {len(ses.accepted)} emails so far"),
        )
        findings = audit(events, ses.accepted)
        progress(f"{len(ses.accepted):,} emails audited")
        inbox_rows = [row(mail) for mail in ses.accepted]
        repeated, links = look(inbox_rows), links_of(inbox_rows)
        sizes = sorted(each.html_bytes for each in inbox_rows) or [0]
        tables = stored(engine)
        rows = tables.rows
        receipts = receipts_of(events, tables.items, last_slot(events[-1].message.day, registered))
        compared = compare_with_emails(receipts, ses.accepted)
        compared.problems += compare_with_command(receipts, engine)
        progress("receipts compared with the emails")
        measurement = measured(
            tables.due, (mail.tags["run"] for mail in ses.accepted), _FOLDER / WRITE_UNITS
        )
        week = week_of(
            events,
            students=students,
            put_at=publish_times,
            registered=registered,
            follows=rows["follows"],
            activities=rows["activities"],
            at_once=sum(not each.is_digest for each in inbox_rows),
        )
        (_FOLDER / "week.json").write_text(written(week))
        (_FOLDER / "measured.json").write_text(json.dumps(asdict(measurement), indent=1) + "\n")
        comparison = compare(forecast(week), measurement)
        progress("emails compared with the forecast of `gazette simulate`")
        report = {
            "days": days,
            "subscribers": rows["subscribers"],
            "follows": rows["follows"],
            "events_put": published,
            "activities": rows["activities"],
            "events_stored": rows["events"],
            "runs_sent": rows["sent"],
            "emails_accepted": len(ses.accepted),
            "digests": sum(each.is_digest for each in inbox_rows),
            "immediate_emails": sum(not each.is_digest for each in inbox_rows),
            "events_in_emails": findings.events_in_emails,
            "duplicate_emails": findings.duplicate_emails,
            "repeated_events": findings.repeated_events,
            "lost_events": findings.lost_events,
            "repeated_subjects": repeated.subjects,
            "repeated_preheaders": repeated.preheaders,
            "things_twice": repeated.things,
            "wrong_names": findings.wrong_names,
            "links_to_content": links.content,
            "links_in_blocks": links.blocks,
            "links_in_notices": links.notices,
            "links_in_footers": links.footer,
            "footer_links_most": max((each.links.footer for each in inbox_rows), default=0),
            "share_of_urls": round(share_of_urls(inbox_rows), 3),
            "html_bytes_median": sizes[len(sizes) // 2],
            "html_bytes_largest": sizes[-1],
            "receipts_agreeing": compared.agreeing,
            "quarantined": service.messages_in("quarantine"),
            "write_units": comparison.measured_units,
            "write_units_forecast": comparison.forecast_units,
            "slots": comparison.slots,
            "slots_forecast_otherwise": len(comparison.other_slots),
            "wall_s": round(time.monotonic() - began, 1),
        }
        results.write(_FOLDER, ses.accepted, inbox_rows, tables.due, report)
        _show(console, report, [*findings.problems, *compared.problems])
        _say(console, report, repeated)
        _say_forecast(console, comparison)
        if keep:
            reader, _, _ = ses.accepted[0].to.partition("@")
            with kept(engine, service, ses, folder=_FOLDER):
                progress("delivery events reported, with a few bounces and complaints")
                _wait_for_commands(console, ses, service, reader)
    is_right = findings.clean and published == len(events) and repeated == Repeated()
    is_right = is_right and comparison.agrees and not compared.problems
    is_right = is_right and not links.blocks and report["footer_links_most"] <= MOST_FOOTER_LINKS
    is_right = is_right and report["share_of_urls"] <= LARGEST_SHARE_OF_URLS
    return 0 if is_right else 1


def _show(console: Console, report: dict[str, float], problems: list[str]) -> None:
    title = f"{results.real(report['days'])}, counted from the emails that arrived"
    table = Table(title=title)
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
    """Print the last lines of the report, which describe the contents of the inbox."""
    for number, what in (
        (repeated.subjects, "digests with the subject of the last one but other contents"),
        (repeated.preheaders, "preheaders that repeat their subject"),
        (repeated.things, "entities in two blocks of an email"),
        (report["wrong_names"], "names of people who did not act"),
        (report["links_in_blocks"], "links to settings inside a block"),
        (repeated.too_large, f"emails of {LARGEST_HTML / 1000:.0f} KB of HTML or more"),
    ):
        console.print(f"{number} {what}", style="bold red" if number else "green")
    most, share = report["footer_links_most"], report["share_of_urls"]
    console.print(
        f"links: {report['links_to_content']:,} to content, {report['links_in_footers']:,} in "
        f"footers (at most {most} in one; the limit is {MOST_FOOTER_LINKS}), "
        f"{report['links_in_notices']:,} in notices",
        style="green" if most <= MOST_FOOTER_LINKS else "bold red",
    )
    console.print(
        f"URLs in the text of an email: {share:.0%} (median; the limit is "
        f"{LARGEST_SHARE_OF_URLS:.0%})",
        style="green" if share <= LARGEST_SHARE_OF_URLS else "bold red",
    )
    median, largest = report["html_bytes_median"], report["html_bytes_largest"]
    console.print(f"HTML of an email: {median:,} bytes (median), {largest:,} bytes (largest)")
    index = (_FOLDER / "index.html").relative_to(ROOT)
    console.print(f"every email: {index}   figures: {index.with_name('report.json')}")


def _say_forecast(console: Console, comparison: Compared) -> None:
    """Print the difference between the forecast of `gazette simulate` and the measurement."""
    console.print(
        f"forecast: {comparison.slots - len(comparison.other_slots)} of {comparison.slots} slots "
        f"have the forecast number of digests; {comparison.forecast_units:,} write units forecast, "
        f"{comparison.measured_units:,} measured ({comparison.apart:+.1%})",
        style="green" if comparison.agrees else "bold red",
    )


def _wait_for_commands(console: Console, ses: StandIn, service: Service, reader: str) -> None:
    """Keep everything running. Each line on standard input advances the clock by a day."""
    console.print(f"inbox: {ses.url}/    Try these commands in another terminal:")
    for command, effect in commands(_FOLDER.relative_to(ROOT), reader):
        console.print(f"  {command}  [dim]# {effect}[/dim]", soft_wrap=True)
    console.print(
        f"The clock shows {service.clock():%d %B %H:%M} UTC. "
        "Press Enter to advance 24 hours. Press Ctrl-C to end."
    )
    for _ in sys.stdin:
        slot = next_day(service, _FOLDER)
        console.print(f"now {slot:%d %B %H:%M} UTC; {len(ses.accepted)} emails so far")
    signal.pause()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port of the engine (default: free)")
    parser.add_argument("--keep", action="store_true", help="leave everything running at the end")
    parser.add_argument(
        "--days",
        type=int,
        default=1,
        choices=range(1, campus.DAYS + 1),
        help="replay the first days of the week (default: 1)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
