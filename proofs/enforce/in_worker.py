"""A script that runs first in each worker of the embedded engine, and records all botocore calls.

None of our modules is available, and botocore may come later with a layer. It is then changed when
it is imported. The file is in the folder that ENFORCE_WORKERS names. Each line has the
function, its settings, and the call.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any


class _Recorder(importlib.abc.MetaPathFinder):
    """A finder that finds botocore.client as usual, and records the calls of its clients."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "botocore.client":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader: Any = spec.loader if spec else None
        real = loader.exec_module

        def loaded(module: Any) -> None:
            real(module)
            _record(module.BaseClient)

        loader.exec_module = loaded
        return spec


def _record(clients: Any) -> None:
    folder = Path(os.environ["ENFORCE_WORKERS"])
    real = clients._make_api_call
    one_at_a_time = threading.Lock()

    def recorded(client: Any, operation: str, request: dict[str, Any]) -> Any:
        line = {
            "function": os.environ["AWS_LAMBDA_FUNCTION_NAME"],
            "told": {key: each for key, each in os.environ.items() if key.startswith("GAZETTE_")},
            "service": client.meta.service_model.service_name,
            "operation": operation,
            "request": request,
        }
        with one_at_a_time, (folder / f"{os.getpid()}.calls").open("a") as file:
            file.write(json.dumps(line, default=str) + "\n")
        return real(client, operation, request)

    clients._make_api_call = recorded


if os.environ.get("ENFORCE_WORKERS"):
    if "botocore.client" in sys.modules:  # in a forked worker
        _record(sys.modules["botocore.client"].BaseClient)
    else:
        sys.meta_path.insert(0, _Recorder())
