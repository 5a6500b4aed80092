"""The command `gazette` on the stage that `make demo KEEP=1` leaves running.

It reads the demo's clock instead of the system's. `gazette doctor` marks what an emulator cannot
show as not checked.
"""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from demo.client import as_client_of
from demo.engine import EngineError
from demo.kept import running

_NO_DOMAIN = "the demo's domain does not exist"
_NOT_SHOWN = (
    ("table ", "expiry is None", "it does not keep the expiry of tables"),
    ("account concurrency", "", "its limit depends on this machine"),
    ("identity ", "", _NO_DOMAIN),
    ("dkim ", "", _NO_DOMAIN),
    ("mail from ", "", _NO_DOMAIN),
    ("dmarc ", "", _NO_DOMAIN),
)
"""The starts of a check and of its state, and the reason why an emulator cannot show the check."""


def main() -> None:
    """Run `gazette` on the demo in the folder of the first argument, with the other arguments."""
    try:
        engine, service, inbox = running(Path(sys.argv.pop(1)))
    except EngineError as err:
        sys.exit(f"demo: {err}")
    ahead = service.clock() - datetime.now(UTC)
    clock: Any = importlib.import_module("gazette.bootstrap.parts.clock")
    clock.now = lambda: datetime.now(UTC) + ahead
    # Modules copy the clock when they are imported, so the command is imported after the change.
    doctor: Any = importlib.import_module("gazette_cli.doctor.command")
    doctor._findings = _marked(doctor._findings)
    with as_client_of(engine):
        os.environ["AWS_ENDPOINT_URL_SESV2"] = inbox
        importlib.import_module("gazette_cli.main").main()


def _marked(findings: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    """Return the function with findings that an emulator cannot show as not checked."""
    results: Any = importlib.import_module("gazette_cli.doctor.findings")

    def marked(*arguments: Any, **options: Any) -> Iterator[Any]:
        for each in findings(*arguments, **options):
            reason = not_shown(each.check, each.seen) if each.level.value != "ok" else ""
            if reason:
                why = results.Unseen(f"not shown by the emulator: {reason}")
                yield results.unseen(each.check, why)
            else:
                yield each

    return marked


def not_shown(check: str, seen: str) -> str:
    """Return the reason why an emulator cannot show a check, or "" if it can."""
    return next(
        (
            reason
            for check_start, seen_start, reason in _NOT_SHOWN
            if check.startswith(check_start) and seen.startswith(seen_start)
        ),
        "",
    )


if __name__ == "__main__":
    main()
