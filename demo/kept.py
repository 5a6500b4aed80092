"""The stage that `make demo KEEP=1` leaves running, and the commands to use it.

The commands are scripts in `build/demo`. They need no variables, and use the stage's clock.
"""

import argparse
import fcntl
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from gazette.adapters.contract.decoding import read_detail
from gazette.domain.scheduling.calendar import slot_of

from demo import campus
from demo.engine import ROOT, Engine, EngineError
from demo.replay import let_pass
from demo.service import Service
from demo.ses import StandIn
from demo.ses_events import default_bus
from demo.watched import with_faults

_RUNNING = "running.json"
_EVENTS = "events.json"
_TEMPLATES = "templates"
_VARIABLES = "environment.sh"
_SUBJECT = Path("digest", "subject.txt")
_RATE = 500.0
"""The `emails_per_second` of the stage `local`, which the account then permits."""
_SOURCE = "campus.messages"
_FIELDS = {"Source", "DetailType", "Detail"}
"""The fields of an entry in a file of events. The bus is that of the demo."""

_SCRIPT = """#!/bin/sh
PYTHONPATH='{root}' PYTHONTZPATH= exec '{python}' -m {module} "$(dirname "$0")" "$@"
"""
_MODULES = {
    "gazette": "demo.command",
    "next-day": f"{__name__} next-day",
    "publish": f"{__name__} publish",
}
"""The modules and arguments that run the commands."""


def commands(folder: Path, reader: str) -> list[tuple[str, str]]:
    """Return the commands to try, each with its effect. `reader` is the id of a reader."""
    return [
        (f"{folder}/gazette explain {reader} --stage local", "why a reader got an email"),
        (f"{folder}/publish {folder}/{_EVENTS}", "your own events, from a file that you can edit"),
        (
            f"{folder}/gazette templates push {folder}/{_TEMPLATES} --yes --stage local",
            "your own templates, from a folder that you can edit",
        ),
        (f"{folder}/next-day", "the digests of the next 24 hours"),
    ]


@contextmanager
def kept(engine: Engine, service: Service, ses: StandIn, *, folder: Path) -> Iterator[None]:
    """Report the deliveries of all emails, and write the commands and their files to `folder`.

    At the end, the commands stop working.
    """
    ses.clock = service.clock
    ses.behind = engine.url  # which has the stage's configuration sets
    ses.max_send_rate = _RATE
    ses.publish = with_faults(default_bus(service.events))
    for mail in list(ses.accepted):
        ses.report(mail)
    ses.postman.wait_until_carried()
    service.wait_until_drained("feedback")
    (folder / _EVENTS).write_text(json.dumps(example(service.clock()), indent=2) + "\n")
    subject = folder / _TEMPLATES / _SUBJECT
    subject.parent.mkdir(parents=True, exist_ok=True)
    if not subject.exists():  # it may have been edited
        subject.write_text("My digest: " + (ROOT / "templates" / _SUBJECT).read_text())
    for name, module in _MODULES.items():
        script = folder / name
        script.write_text(_SCRIPT.format(root=ROOT, python=sys.executable, module=module))
        script.chmod(0o755)
    exports = (f"export {name}={value}\n" for name, value in engine.environment.items())
    (folder / _VARIABLES).write_text("".join(exports))
    state = {
        "url": engine.url,
        "environment": dict(engine.environment),
        "bus": service.bus,
        "inbox": ses.url,
    }
    (folder / _RUNNING).write_text(json.dumps(state))
    try:
        yield
    finally:
        (folder / _RUNNING).unlink(missing_ok=True)


def example(now: datetime) -> list[dict[str, Any]]:
    """Return the entries of `events.json`: a reader who gets comments immediately, a comment for
    this reader, and a comment for a student, who gets it in the next digest.
    """
    comment = {
        "category": "comment",
        "entity": {
            "type": "post",
            "id": "p1",
            "title": "On digests",
            "url": "https://campus.example/posts/p1",
        },
        "actor": {"id": "bo", "name": "Bo"},
        "occurred_at": now.isoformat(timespec="seconds"),
        "excerpt": "Well said.",
    }
    profile = campus.subscriber_changed(1, now) | {
        "user_id": "ann",
        "email": "ann@campus.example",
        "name": "Ann",
        "frequencies": {"comment": "immediate"},
    }
    return [
        {"Source": _SOURCE, "DetailType": detail_type, "Detail": detail}
        for detail_type, detail in (
            ("subscriber.changed", profile),
            ("event.created", {"user_id": "ann", "id": "comment-1", **comment}),
            ("event.created", {"user_id": campus.user_id(1), "id": "comment-2", **comment}),
        )
    ]


def running(folder: Path) -> tuple[Engine, Service, str]:
    """Return the engine, the stage and the URL of the inbox. Raise EngineError if none runs."""
    try:
        state = json.loads((folder / _RUNNING).read_text())
    except FileNotFoundError as err:
        raise EngineError("No demo is running. Start it with `make demo KEEP=1`.") from err
    engine = Engine(state["url"], state["environment"], folder / "engine.log", 0)
    return engine, Service.at(engine, {"BusName": state["bus"]}), state["inbox"]


def next_day(service: Service, folder: Path) -> datetime:
    """Advance the clock by 24 hours, wait until all digests are sent, and return the new time.

    A command and the Enter key may do so at the same time. Each of them advances a day.
    """
    with (folder / ".next-day").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        service.wait_until_drained("ingest", "followers", "feedback")
        slot = slot_of(service.clock()) + timedelta(days=1)
        let_pass(service, slot)
        return slot


def publish(service: Service, file: Path) -> int:
    """Publish the PutEvents entries of a file, wait for immediate emails, and return the number of
    entries. Raise EngineError, before any entry is published, if the file has an invalid one.
    """
    entries = _entries(file)
    for entry in entries:
        detail = json.dumps(entry["Detail"])
        request: Any = {**entry, "EventBusName": service.bus, "Detail": detail}
        answer = service.events.put_events(Entries=[request])
        if answer["FailedEntryCount"]:
            raise EngineError(f"The bus rejected an entry: {answer['Entries']}")
    service.wait_until_drained("ingest", "followers", "immediate")
    return len(entries)


def _entries(file: Path) -> list[dict[str, Any]]:
    """Read the PutEvents entries of a file. Raise EngineError."""
    try:
        read: Any = json.loads(file.read_text())
    except OSError as err:
        raise EngineError(f"{file} is not readable: {err.strerror}.") from err
    except ValueError as err:
        raise EngineError(f"{file} is not JSON: {err}.") from err
    entries: list[Any] = read if isinstance(read, list) else [read]
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict) or not entry.keys() >= _FIELDS:
            needed = ", ".join(sorted(_FIELDS))
            raise EngineError(f"Entry {number} of {file} is not an object with {needed}.")
        if problems := read_detail(entry["DetailType"], entry["Detail"]).problems:
            raise EngineError(f"Entry {number} of {file} is invalid: {'; '.join(problems)}.")
    return entries


def main() -> int:
    """Run a command on the stage that the demo left running."""
    parser = argparse.ArgumentParser(prog="demo.kept", description=__doc__)
    names = parser.add_subparsers(dest="command", required=True)
    for name, effect in (("next-day", "advance 24 hours"), ("publish", "publish events")):
        command = names.add_parser(name, help=effect)
        command.add_argument("folder", type=Path, help="the folder of the running demo")
        if name == "publish":
            command.add_argument("file", type=Path, help="a JSON list of PutEvents entries")
    arguments = parser.parse_args()
    try:
        _, service, inbox = running(arguments.folder)
        if arguments.command == "next-day":
            slot = next_day(service, arguments.folder)
            print(f"The clock shows {slot:%d %B %H:%M} UTC. Inbox: {inbox}/")
        else:
            number = publish(service, arguments.file)
            print(f"{number} entries published. Digests are sent on the next day. Inbox: {inbox}/")
    except (EngineError, OSError, ValueError, KeyError) as err:
        print(f"demo: {err}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
