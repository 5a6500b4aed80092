"""Workers of the embedded engine that are forks of a process with most of their modules.

Importing the modules takes most of the CPU time of a cold start. They are imported once for each
set of layers. The engine's interpreter runs this module.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

_SERVER = Path(__file__).with_name("warm_server.py")
_MODULES = (
    *("aws_lambda_powertools", "aws_lambda_powertools.metrics"),
    *("botocore.session", "pynamodb.models", "pynamodb.transactions"),
)
"""Modules that every function imports. They keep no state and read no settings of a function."""
_PACKAGES = ("gazette.adapters", "gazette.domain", "gazette.settings", "gazette.steps")
"""Packages whose modules keep no state and read no settings either. Layers may lack them."""


class Servers:
    """The processes that fork workers, by the folders of their layers.

    They end with the engine, because they end with their standard input.
    """

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._numbers = count()
        self._running: dict[str, tuple[str, subprocess.Popen[bytes]]] = {}

    def popen(self, command: list[str], **options: Any) -> Any:
        """Start a worker that has layers as a fork, and any other process like Popen.

        On other systems than Linux, forks may not work after an import, so workers are not forked.
        """
        layers = options.get("env", {}).get("_LAMBDA_LAYERS_DIRS")
        if not layers or command[0] != sys.executable or sys.platform != "linux":
            return subprocess.Popen(command, **options)
        folders = [os.path.realpath(f"{layer}/python") for layer in layers.split(os.pathsep)]
        return Forked(
            self._address(os.pathsep.join(folders), options["env"]), command[1], **options
        )

    def _address(self, folders: str, environment: dict[str, str]) -> str:
        """Return the socket of the server for these folders, relative to the engine's folder."""
        with self._starting:
            address, server = self._running.get(folders, ("", None))
            if server is None or server.poll() is not None:
                address = f"warm-{next(self._numbers)}"
                self._running[folders] = address, _start(address, folders, environment)
            return address


def _start(address: str, folders: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    server = subprocess.Popen(
        [
            *(sys.executable, "-P", str(_SERVER), address, "__main__:run_script", *_MODULES),
            *(f"{package}.*" for package in _PACKAGES),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment | {"PYTHONPATH": folders},
    )
    if server.stdout is None or server.stdout.readline() != b"ready\n":
        server.communicate()
        raise RuntimeError("The layers lack modules of demo/forked_workers.py. See the log.")
    return server


class Forked:
    """A forked worker, with those methods of Popen that the engine calls.

    The server sends the worker's process id, and its exit status when it has ended.
    """

    def __init__(
        self, server: str, script: str, *, cwd: str, env: dict[str, str], **_: object
    ) -> None:
        (stdin, given), (output, stdout), (errors, stderr) = os.pipe(), os.pipe(), os.pipe()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(server)
            socket.send_fds(connection, [b"."], [stdin, stdout, stderr])
            connection.sendall(json.dumps([[script], cwd, env]).encode())
            connection.shutdown(socket.SHUT_WR)
            self._answers = connection.makefile("rb", buffering=0)
        for each in (stdin, stdout, stderr):
            os.close(each)
        self.stdin = os.fdopen(given, "w", buffering=1)
        self.stdout, self.stderr = os.fdopen(output), os.fdopen(errors)
        self._process_id = int(self._answers.readline())
        self._status: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, or None while the worker runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self._status

    def wait(self, timeout: float) -> int:
        """Return the exit status. Raise TimeoutExpired if the worker does not end in time."""
        if self._status is None:
            ended = select.poll()
            ended.register(self._answers, select.POLLIN)
            if not ended.poll(timeout * 1000):
                raise subprocess.TimeoutExpired("worker", timeout)
            self._status = int(self._answers.readline() or -signal.SIGKILL)
            self._answers.close()
        return self._status

    def terminate(self) -> None:
        """Send SIGTERM."""
        os.kill(self._process_id, signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        os.kill(self._process_id, signal.SIGKILL)
