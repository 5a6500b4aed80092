"""The start of the embedded engine in its own interpreter, with seven changes.

The default bus accepts `aws.` sources. On AWS and in the unchanged engine, PutEvents rejects a
`source` that begins with `aws.`. The engine does not publish SES events, so the stand-in for SES
must be able to publish them.
https://docs.aws.amazon.com/eventbridge/latest/ref/events-structure.html

It unpacks each layer once. The engine would do so for each worker of each function, and would check
the paths of the layer's thousands of files. That takes longer than the rest of a cold start, and on
a busy machine invocations would time out.

It forks workers instead of starting them (demo/forked_workers.py).

The clock of functions can be ahead by the seconds in their variable DEMO_CLOCK_AHEAD.

Their workers first run the file that the engine's variable DEMO_WORKERS_RUN_FIRST names.

It counts the write units of each table as the engine computes them, including those of rejected
writes. The engine would report them only to callers that request them. Listing the tables writes
them to the file that DEMO_WRITE_UNITS names.

With AUTH=true, where it enforces IAM, every call counts as one by TLS, which the policies of queues
require but loopback does not have.
"""

import hashlib
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import BadZipFile, LargeZipFile, ZipFile

_LAYER = "layer_"
_CHANGED = ("zipfile", "subprocess", "_PYTHON_WORKER_SCRIPT")
"""The names in the engine's module of workers that `main` replaces."""
_CLOCK = """
import os
if "DEMO_CLOCK_AHEAD" in os.environ:
    from datetime import UTC, datetime, timedelta
    import time_machine
    ahead = timedelta(seconds=int(os.environ["DEMO_CLOCK_AHEAD"]))
    time_machine.travel(datetime.now(UTC) + ahead).start()
"""


class _Layer:
    """The archive of a layer, which is unpacked once and then linked for each worker."""

    _unpacking = threading.Lock()

    def __init__(self, archive: Path) -> None:
        self._archive = archive

    def __enter__(self) -> "_Layer":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def namelist(self) -> list[str]:
        """Return no names, because the engine would check each of them for each worker."""
        return []

    def extractall(self, path: str) -> None:
        """Link the folder `path` to the unpacked layer."""
        digest = hashlib.sha256(self._archive.read_bytes()).hexdigest()
        unpacked = Path(tempfile.gettempdir()) / f"layers-{digest}"
        with self._unpacking:
            if not unpacked.exists():
                with ZipFile(self._archive) as archive:
                    archive.extractall(unpacked)
        Path(path).rmdir()
        Path(path).symlink_to(unpacked)


def _open_archive(path: str) -> ZipFile | _Layer:
    return _Layer(Path(path)) if Path(path).name.startswith(_LAYER) else ZipFile(path)


def _count_write_units(tables: Any, file: Path) -> None:
    """Count the write units of each table, and the number of transactions."""
    units: Counter[str] = Counter()
    refused, listed, transact = (
        tables._conditional_check_failed,
        tables._list_tables,
        tables._transact_write_items,
    )
    added = tables._add_consumed_capacity

    def add(result: Any, data: Any, name: str, *further: Any, **more: Any) -> None:
        added(result, data, name, *further, **more)
        if more.get("write"):
            result_of_write: dict[str, Any] = {}
            added(result_of_write, {"ReturnConsumedCapacity": "TOTAL"}, name, *further, **more)
            units[name] += int(result_of_write["ConsumedCapacity"]["CapacityUnits"])

    def refuse(data: Any, item: Any, *further: Any) -> Any:
        units[data["TableName"]] += 1
        return refused(data, item, *further)

    def write_together(data: Any) -> Any:
        units["transactions"] += 1
        return transact(data)

    def list_tables(data: Any) -> Any:
        file.write_text(json.dumps(units))
        return listed(data)

    tables._add_consumed_capacity = add
    tables._conditional_check_failed = refuse
    tables._transact_write_items = write_together
    tables._list_tables = list_tables


def main() -> None:
    """Run the engine until it is terminated.

    Raise SystemExit if the version of the engine is unknown.
    """
    put_events = importlib.import_module("ministack.services.eventbridge")._put_events
    if put_events.__defaults__ != (False,):
        raise SystemExit("PutEvents of this engine has changed. See demo/engine_start.py.")
    put_events.__defaults__ = (True,)  # allow_aws_source
    workers: Any = importlib.import_module("ministack.core.lambda_runtime")
    if not all(hasattr(workers, name) for name in _CHANGED):
        raise SystemExit("Workers of this engine have changed. See demo/engine_start.py.")
    workers.zipfile = SimpleNamespace(
        ZipFile=_open_archive, BadZipFile=BadZipFile, LargeFileError=LargeZipFile
    )
    sys.path.append(str(Path(__file__).parents[1]))
    servers = importlib.import_module("demo.forked_workers").Servers()
    workers.subprocess = SimpleNamespace(**vars(subprocess) | {"Popen": servers.popen})
    first = os.environ.get("DEMO_WORKERS_RUN_FIRST")
    before = _CLOCK + (Path(first).read_text() if first else "")
    workers._PYTHON_WORKER_SCRIPT = f"{before}\n{workers._PYTHON_WORKER_SCRIPT}"
    if file := os.environ.get("DEMO_WRITE_UNITS"):
        _count_write_units(importlib.import_module("ministack.services.dynamodb"), Path(file))
    if os.environ.get("AUTH") == "true":
        requests: Any = importlib.import_module("ministack.app")
        pin = requests.pin_request_origin
        requests.pin_request_origin = lambda address, _: pin(address, True)
    runpy.run_module("ministack", run_name="__main__")


if __name__ == "__main__":
    main()
