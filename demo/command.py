"""The command `gazette` on the stage that `make demo KEEP=1` leaves running.

It reads the demo's clock instead of the system's.
"""

import importlib
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from demo.client import as_client_of
from demo.engine import EngineError
from demo.kept import running


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
    with as_client_of(engine):
        os.environ["AWS_ENDPOINT_URL_SESV2"] = inbox
        importlib.import_module("gazette_cli.main").main()


if __name__ == "__main__":
    main()
