"""Starts the embedded engine, by its own interpreter, and differs from it in six things.

Its default bus takes `aws.` sources. PutEvents refuses a `source` that begins with `aws.`, on AWS
as in the engine, and the engine has no SES events of its own: so the stand-in for SES must be let
in where SES itself is on AWS.
https://docs.aws.amazon.com/eventbridge/latest/ref/events-structure.html

It unpacks a layer once. The engine does so for each worker of each function, which takes longer
than all else of a cold start; on a busy machine so long that invocations time out.

Functions can be ahead of time: by the seconds in DEMO_CLOCK_AHEAD, a variable of theirs.

Their workers run the file that DEMO_WORKERS_RUN_FIRST names, if the engine has that variable.

It counts the write units of each table, by its own reckoning, which it otherwise only tells who
asks for them, and those of refused writes; whoever lists the tables has them written to the file
that DEMO_WRITE_UNITS names.

Where it enforces IAM, with AUTH=true, every call counts as one by TLS, which policies of queues
demand: loopback has none.
"""

import hashlib
import importlib
import json
import os
import runpy
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import BadZipFile, LargeZipFile, ZipFile

_LAYER = "layer_"
_CLOCK = """
import os
if "DEMO_CLOCK_AHEAD" in os.environ:
    from datetime import UTC, datetime, timedelta
    import time_machine
    ahead = timedelta(seconds=int(os.environ["DEMO_CLOCK_AHEAD"]))
    time_machine.travel(datetime.now(UTC) + ahead).start()
"""


class _Archive(ZipFile):
    """A zip that is unpacked for a worker: a layer is a link to where it was unpacked first."""

    _unpacking = threading.Lock()

    def extractall(self, path: Any = None, members: Any = None, pwd: Any = None) -> None:
        if not Path(path).name.startswith(_LAYER):
            super().extractall(path, members, pwd)
            return
        digest = hashlib.sha256(Path(str(self.filename)).read_bytes()).hexdigest()
        kept = Path(tempfile.gettempdir()) / f"layers-{digest}"
        with self._unpacking:
            if not kept.exists():
                super().extractall(kept, members, pwd)
        Path(path).rmdir()
        Path(path).symlink_to(kept)


def _count_write_units(tables: Any, told: Path) -> None:
    """Count what each write of a table takes; of transactions, how many there are."""
    counted: Counter[str] = Counter()
    refused, listed, transact = (
        tables._conditional_check_failed,
        tables._list_tables,
        tables._transact_write_items,
    )
    added = tables._add_consumed_capacity

    def add(result: Any, data: Any, name: str, *further: Any, **more: Any) -> None:
        added(result, data, name, *further, **more)
        if more.get("write"):
            taken: dict[str, Any] = {}
            added(taken, {"ReturnConsumedCapacity": "TOTAL"}, name, *further, **more)
            counted[name] += int(taken["ConsumedCapacity"]["CapacityUnits"])

    def refuse(data: Any, item: Any, *further: Any) -> Any:
        counted[data["TableName"]] += 1
        return refused(data, item, *further)

    def write_together(data: Any) -> Any:
        counted["transactions"] += 1
        return transact(data)

    def list_tables(data: Any) -> Any:
        told.write_text(json.dumps(counted))
        return listed(data)

    tables._add_consumed_capacity = add
    tables._conditional_check_failed = refuse
    tables._transact_write_items = write_together
    tables._list_tables = list_tables


def main() -> None:
    """Runs until it is ended. Raises SystemExit where the engine is not the one that we know."""
    put_events = importlib.import_module("ministack.services.eventbridge")._put_events
    if put_events.__defaults__ != (False,):
        raise SystemExit("PutEvents of this engine has changed: see demo/engine_start.py")
    put_events.__defaults__ = (True,)  # allow_aws_source
    workers: Any = importlib.import_module("ministack.core.lambda_runtime")
    if not (hasattr(workers, "zipfile") and hasattr(workers, "_PYTHON_WORKER_SCRIPT")):
        raise SystemExit("Workers of this engine have changed: see demo/engine_start.py")
    workers.zipfile = SimpleNamespace(
        ZipFile=_Archive, BadZipFile=BadZipFile, LargeFileError=LargeZipFile
    )
    first = os.environ.get("DEMO_WORKERS_RUN_FIRST")
    before = _CLOCK + (Path(first).read_text() if first else "")
    workers._PYTHON_WORKER_SCRIPT = f"{before}\n{workers._PYTHON_WORKER_SCRIPT}"
    if told := os.environ.get("DEMO_WRITE_UNITS"):
        _count_write_units(importlib.import_module("ministack.services.dynamodb"), Path(told))
    if os.environ.get("AUTH") == "true":
        requests: Any = importlib.import_module("ministack.app")
        pin = requests.pin_request_origin
        requests.pin_request_origin = lambda address, _: pin(address, True)
    runpy.run_module("ministack", run_name="__main__")


if __name__ == "__main__":
    main()
